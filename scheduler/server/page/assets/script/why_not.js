// Why a pod fits nowhere, and what would help.

import { el } from "./dom.js";
import { count, plural, relative } from "./format.js";
import { names, nodeLink, notice, podLink, table } from "./parts.js";

/** All of a WhyNot. */
export function whyNot(view) {
  return [
    el("p.sentence", {}, view.sentence),
    (view.facts ?? []).map((fact) => el("p", {}, fact)),
    helps(view),
    nearest(view.nearest),
    (view.spread ?? []).map(spread),
    (view.affinity ?? []).map(affinity),
    turnedDownBy(view.rejected ?? []),
    (view.notTried ?? []).map((text) => el("p.dim.small", {}, `Not tried: ${text}`)),
  ];
}

/** A button that asks for a fresh evaluation of a pod and shows what comes of it in its place. */
export function helpButton(source, path, say) {
  const label = source.live ? "What would help?" : "Why, and what would help?";
  const place = el("div.help");
  const button = el("button.quiet", { type: "button" }, label);
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.textContent = "Trying changes…";
    try {
      const { data } = await source.get(path);
      place.replaceChildren(el("div.fresh", {}, fresh(data, source)));
      say(data.whyNot?.sentence ?? "It would be placed now.");
    } catch (problem) {
      button.disabled = false;
      button.textContent = "Try again: what would help?";
      place.replaceChildren(button, notice(problem.message, "warn"));
    }
  });
  place.append(button);
  return place;
}

function fresh(evaluation, source) {
  const text = source.live
    ? `Evaluated anew, ${relative(evaluation.time, Date.now())}. Nothing was changed by asking.`
    : "As things are once all other pods have been tried.";
  const when = el("p.dim.small", {}, text);
  const room = preemption(evaluation.preemption);
  if (evaluation.whyNot) return [when, whyNot(evaluation.whyNot), room];
  const { node, result } = evaluation.decision.summary;
  if (result !== "Scheduled") return [when, turnedDown(evaluation.decision), room];
  return [when, el("p.sentence", {}, "It would be placed now", node ? [" on ", nodeLink(node)] : null, ".")];
}

/** Where nothing more is known than who turned the pod down. */
function turnedDown({ summary, rejected = [] }) {
  return [el("p.sentence", {}, summary.message), turnedDownBy(rejected)];
}

function turnedDownBy(rejected) {
  if (rejected.length === 0) return null;
  const rows = rejected.map(({ plugin, reasons, words, nodes }) => [
    count(nodes.length),
    plugin,
    el("span", {}, reasons.join("; "), words ? el("span.dim", {}, ` (${words})`) : null),
    names(nodes, nodeLink, 3),
  ]);
  return [el("h3", {}, "Turned down"), table("Nodes that turn it down", [">Nodes", "By", "Reason", "Which"], rows)];
}

function helps({ helps = [], tried = 0 }) {
  if (helps.length === 0) {
    return tried > 0 ? notice(`${plural(tried, "change")} tried; none of them alone would let it be placed.`) : null;
  }
  const items = helps.map((help) => {
    const opens = help.opens > 0 ? el("span.opens", {}, `opens ${plural(help.opens, "node")}`) : null;
    const where = (help.nodes ?? []).length > 0 ? el("div.small", {}, names(help.nodes, nodeLink, 4)) : null;
    return el("li", {}, el("div.help-line", {}, el("span", {}, help.sentence), opens), where);
  });
  return [el("h3", {}, "What would help"), el("ul.helps", {}, items)];
}

/** Whether evictions would make room, and what they would cost on each node that was compared. */
function preemption(view) {
  if (!view) return null;
  const { candidates = [], candidateCount = 0 } = view;
  const rows = candidates.map(({ node, victims, highestPriority, words = "" }) => [
    nodeLink(node),
    names(victims.map(({ pod }) => pod), podLink, 2),
    count(highestPriority),
    words || "–",
  ]);
  const heads = ["Node", "Would evict", ">Priority", "Worse by"];
  return [
    el("h3", {}, "Preemption"),
    el("p", {}, `${view.sentence}.`),
    rows.length > 0 ? table("Where preemption would help", heads, rows) : null,
    candidateCount > rows.length ? el("p.dim.small", {}, `and ${count(candidateCount - rows.length)} more`) : null,
    (view.notAsked ?? []).map((name) => el("p.dim.small", {}, `Not asked: ${name}, which may make room as well`)),
  ];
}

function nearest(miss) {
  if (!miss) return null;
  const lacks = (miss.lacks ?? []).map(({ resource, wanted, free, short }) => [resource, wanted, free, short]);
  return [
    el("h3", {}, "Nearest miss"),
    el("p", {}, nodeLink(miss.node), ": ", miss.sentence),
    lacks.length > 0 ? table("What the node lacks", ["Resource", ">Wanted", ">Free", ">Short by"], lacks) : null,
  ];
}

function spread(rule) {
  const rows = rule.domains.map(({ name, count: pods, nodes, fits }) => {
    const sum = `${pods} + ${rule.selfMatch} − ${rule.minimum} = ${pods + rule.selfMatch - rule.minimum}`;
    return [name, count(nodes), count(pods), `${sum} ${fits ? "≤" : ">"} ${rule.maxSkew}`, fits ? "yes" : "no"];
  });
  return [
    el("h3", {}, `Spread over ${rule.topologyKey}`),
    el("p", {}, rule.sentence),
    table(`Spread over ${rule.topologyKey}`, ["Domain", ">Nodes", ">Matching pods", "Skew with one more", "Fits"], rows),
  ];
}

function affinity(term) {
  const kinds = { affinity: "Affinity", antiAffinity: "Anti-affinity", existingAntiAffinity: "Anti-affinity of pods there" };
  const rows = (term.domains ?? []).map((domain) => [domain.name, count(domain.nodes), count(domain.count)]);
  return [
    el("h3", {}, `${kinds[term.kind] ?? term.kind} over ${term.topologyKey}`),
    el("p", {}, term.sentence),
    (term.pods ?? []).length > 0 ? el("p.small", {}, "Pods: ", names(term.pods, podLink, 6)) : null,
    rows.length > 0 ? table(`Domains of ${term.topologyKey}`, ["Domain", ">Nodes", ">Matching pods"], rows) : null,
  ];
}
