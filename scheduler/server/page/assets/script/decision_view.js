// One decision: what became of the pod, and why.

import { Scores, sentence } from "./decision_model.js";
import { el, fill } from "./dom.js";
import { clock, count, plural, podParts, seconds } from "./format.js";
import { HeatMap } from "./heat.js";
import { ago, badge, facts, heading, names, nodeLink, notice, podLink, section, table } from "./parts.js";
import { href, remember } from "./route.js";
import { apiPath } from "./source.js";
import { steps } from "./timeline.js";
import { verdict } from "./verdict.js";
import { helpButton } from "./why_not.js";

/** The view of #/decision/ID. */
export function decisionView(root, { parts, query }, app) {
  const ending = [];
  const asking = new AbortController();
  fill(root, notice("Reading the decision…"));
  app.source
    .get(apiPath(["decisions", parts[1]]), { signal: asking.signal })
    .then(({ data }) => {
      app.title(`${data.summary.pod} (decision ${data.summary.id})`);
      fill(root, head(data), decisionParts(data, query, app, ending, (node) => remember(parts, { ...query, node })));
      app.arrived();
    })
    .catch((problem) => {
      if (!asking.signal.aborted) fill(root, heading("Decision", parts[1]), notice(problem.message, "warn"));
    });
  return () => {
    asking.abort();
    for (const end of ending) end();
  };
}

function head({ summary }) {
  const to = summary.node ? [el("span.arrow", { "aria-label": "to" }, " → "), nodeLink(summary.node)] : null;
  return el("div.title", {}, heading(`Decision ${summary.id}`, podLink(summary.pod), to), badge(summary.result));
}

/** All that is known of a decision, for its own view and for a pod's. */
export function decisionParts(decision, query, app, ending, chosen, { asksAnew = true } = {}) {
  const { summary } = decision;
  const scores = new Scores(decision);
  return [
    el("p.sentence", {}, sentence(decision)),
    summary.message && summary.result !== "Scheduled" ? el("p.message", {}, summary.message) : null,
    decision.incomplete ? notice(`Not all is known any more: ${decision.incomplete}`, "warn") : null,
    about(decision),
    noPart(decision),
    asksAnew && summary.result === "Unschedulable" ? help(summary, app) : null,
    el(
      "div.beside",
      {},
      scores.scored ? section("Winner and runner-up", verdict(decision, scores, query.node, chosen)) : null,
      rejectedSection(decision),
    ),
    scores.scored ? heatSection(decision, scores, app, ending) : null,
    preemption(decision.postFilter),
    (decision.steps ?? []).length > 0 ? section("Steps", steps(decision.steps)) : null,
  ];
}

function about({ summary, notEvaluated = 0, ties = [], reserved }) {
  const volumes = Object.entries(reserved?.volumes ?? {}).map(([claim, volume]) => `${claim}: ${volume}`);
  return facts([
    ["When", summary.time ? el("span", {}, clock(summary.time, { fine: true }), ", ", ago(summary.time, Date.now())) : ""],
    ["Attempt", summary.attempt ? count(summary.attempt) : ""],
    ["Profile", summary.profile],
    ["Took", summary.seconds ? seconds(summary.seconds) : ""],
    ["Nodes", `${count(summary.feasible ?? 0)} fit of ${count(summary.evaluated ?? 0)} looked at`],
    ["Not looked at", notEvaluated > 0 ? plural(notEvaluated, "node") : ""],
    ["Drawn from", ties.length > 1 ? names(ties, nodeLink, 4) : ""],
    ["Nominated", summary.nominatedNode ? nodeLink(summary.nominatedNode) : ""],
    ["Volumes", volumes.join(", ")],
  ]);
}

/** The plugins that had nothing to look at in this pod. */
function noPart({ skippedFilters = [], skippedScores = [] }) {
  const parts = [
    skippedFilters.length > 0 ? `filters: ${skippedFilters.join(", ")}` : "",
    skippedScores.length > 0 ? `scores: ${skippedScores.join(", ")}` : "",
  ].filter(Boolean);
  const many = new Set([...skippedFilters, ...skippedScores]).size;
  if (many === 0) return null;
  return el("details", {}, el("summary", {}, `${plural(many, "plugin")} had nothing to say`), parts.join("; "));
}

function help(summary, app) {
  const [namespace, name] = podParts(summary.pod);
  return section("Now", helpButton(app.source, apiPath(["pods", namespace, name, "evaluation"]), app.say));
}

function rejectedSection({ rejected = [], summary }) {
  if (rejected.length === 0) return null;
  const largest = [...rejected].sort((a, b) => b.nodes.length - a.nodes.length);
  const rows = largest.map(({ plugin, reasons, nodes, leftOut }) => [
    count(nodes.length),
    plugin,
    el("span", {}, reasons.join("; "), leftOut ? el("span.dim", {}, " (not looked at)") : null),
    names(nodes, nodeLink, 3),
  ]);
  const total = rejected.reduce((sum, { nodes }) => sum + nodes.length, 0);
  const title = `Turned down: ${count(total)} of ${plural(summary.nodes ?? total, "node")}`;
  return section(title, table("Nodes that were turned down", [">Nodes", "By", "Reason", "Which"], rows));
}

function heatSection(decision, scores, app, ending) {
  const open = (node) => app.go(href(["node", node]));
  const map = new HeatMap(scores, { open, marked: decision.summary.node, say: app.say });
  ending.push(() => map.end());
  const find = el("input", { type: "search", placeholder: "find a node", "aria-label": "Find a node in the heat map", spellcheck: "false" });
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const wanted = find.value.trim();
    const node = scores.rows.has(wanted) ? wanted : scores.names.find((name) => name.includes(wanted));
    if (node === undefined || !map.find(node)) app.say(`${wanted} is not among the nodes that fit`);
  });
  const card = section(`Points of ${plural(scores.names.length, "node")} by plugin`, map.element);
  card.querySelector(".tools").prepend(find);
  return card;
}

function preemption(record) {
  if (!record) return null;
  const rows = (record.candidates ?? []).map(({ node, victims, pdbViolations }) => [
    nodeLink(node),
    names(victims, podLink, 4),
    count(pdbViolations ?? 0),
  ]);
  const gone = record.victims ?? [];
  return section(
    "Making room",
    record.message ? el("p", {}, record.message) : null,
    record.nominatedNode ? el("p", {}, "Chosen: ", nodeLink(record.nominatedNode)) : null,
    gone.length > 0 ? el("p", {}, `${plural(gone.length, "victim")}: `, names(gone, podLink)) : null,
    rows.length > 0 ? table("Candidates", ["Node", "Would cost", ">Budgets broken"], rows) : null,
  );
}
