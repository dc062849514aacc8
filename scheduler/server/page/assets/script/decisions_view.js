// The latest decisions, as they fall.

import { el, fill, keep } from "./dom.js";
import { clock, count, seconds } from "./format.js";
import { badge, heading, meter, nodeLink, notice, podLink } from "./parts.js";
import { href, remember } from "./route.js";
import { apiPath } from "./source.js";

const FILTERS = ["pod", "namespace", "node"];
const NOTHING = "No decision matches. A part of a pod's name is enough; namespaces and nodes are to be given in full.";
const RESULTS_ASKED = ["", "Scheduled", "Unschedulable", "Error", "Gated"];
const PAGE = 100;
/** The most that the API gives at once: a part of a pod's name is looked for among so many. */
export const MOST = 1000;

/** The view of #/decisions. */
export function decisionsView(root, { parts, query }, app) {
  const wanted = { ...query };
  const body = el("tbody");
  const older = el("tbody");
  const more = el("button.quiet", { type: "button", hidden: true }, "Older decisions");
  const nothing = notice("No decisions yet.");
  const path = (before) => {
    const { pod = "", namespace, node, result } = wanted;
    const query = { namespace, node, result, before, limit: String(partial() ? MOST : PAGE) };
    return apiPath(["decisions"], pod.includes("/") ? { ...query, pod } : query);
  };
  // The API knows pods by their whole names only.
  const partial = () => Boolean(wanted.pod) && !wanted.pod.includes("/");
  const matching = (items) => (partial() ? items.filter(({ pod }) => pod.includes(wanted.pod)) : items);
  let next = null;
  let reached = false;
  const take = (page) => {
    const items = matching(page.items);
    nothing.hidden = items.length > 0;
    nothing.textContent = Object.values(wanted).some(Boolean) ? NOTHING : "No decisions yet.";
    keep(body, items, ({ id }) => id, ({ result, node }) => `${result} ${node}`, row);
    if (!reached) next = page.before ?? null;
    more.hidden = next === null;
  };
  const poll = app.poll(path(), take, (problem) => {
    nothing.hidden = false;
    nothing.textContent = problem.message;
  });
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const { data } = await app.source.get(path(String(next)));
      reached = true;
      older.append(...matching(data.items).map(row));
      next = data.before ?? null;
      more.hidden = next === null;
    } catch (problem) {
      app.say(problem.message);
    }
    more.disabled = false;
  });
  const changed = () => {
    remember(parts, wanted);
    older.replaceChildren();
    reached = false;
    poll.at(path());
  };
  fill(root, el("div.title", {}, heading("", "Decisions"), pause(poll, app)), filters(wanted, changed), list(body, older), nothing, more);
  app.arrived();
  return () => poll.end();
}

function pause(poll, app) {
  if (!app.source.live) return null;
  const button = el("button.quiet", { type: "button", "aria-pressed": "false", "data-key": "p" }, "Pause");
  button.addEventListener("click", () => {
    const paused = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? "Go on" : "Pause";
    poll.pause(paused);
  });
  return button;
}

function filters(wanted, changed) {
  let timer = 0;
  const inputs = FILTERS.map((name) => {
    const input = el("input", { type: "search", name, placeholder: name, "aria-label": `Only this ${name}`, spellcheck: "false" });
    input.value = wanted[name] ?? "";
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        wanted[name] = input.value.trim();
        changed();
      }, 250);
    });
    return input;
  });
  const results = RESULTS_ASKED.map((value) => {
    const input = el("input", { type: "radio", name: "result", value });
    input.checked = (wanted.result ?? "") === value;
    input.addEventListener("change", () => {
      wanted.result = value;
      changed();
    });
    return el("label.segment", {}, input, el("span", {}, value || "All"));
  });
  const segments = el("fieldset.segments", {}, el("legend.unseen", {}, "Result"), results);
  return el("form.filters", { role: "search", on: { submit: (event) => event.preventDefault() } }, inputs, segments);
}

/** A table of attempts. */
export function list(...bodies) {
  const heads = ["Time", "Pod", "Result", "Node", "Nodes that fit", "Took"].map((text) => el("th", { scope: "col" }, text));
  return el("table.decisions", {}, el("thead", {}, el("tr", {}, heads)), bodies);
}

/** An attempt as a row of such a table. */
export function row(item) {
  const when = el("a", { href: href(["decision", item.id]), title: item.time }, item.time ? clock(item.time) : `#${item.id}`);
  const evaluated = item.evaluated ?? 0;
  const feasible = item.feasible ?? 0;
  const fit = `${count(feasible)} of ${count(evaluated)}`;
  const why = item.node ? nodeLink(item.node) : el("span.clip", { title: item.message }, item.message ?? "");
  const attempt = (item.attempt ?? 0) > 1 ? el("span.dim.small", {}, ` attempt ${count(item.attempt)}`) : null;
  return el(
    "tr",
    {},
    el("td.when", {}, when),
    el("td", {}, podLink(item.pod), attempt),
    el("td", {}, badge(item.result)),
    el("td.where", {}, why),
    el("td.fit", {}, evaluated > 0 ? [meter(feasible / evaluated, `${fit} nodes fit`), el("span.number", {}, fit)] : null),
    el("td.took.number", {}, item.seconds ? seconds(item.seconds) : ""),
  );
}
