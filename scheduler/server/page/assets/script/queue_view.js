// The queue at a glance, and what waits in it for which cause.

import { el, fill, keep } from "./dom.js";
import { count, plural, podParts, span } from "./format.js";
import { due, heading, names, notice, podLink } from "./parts.js";
import { href } from "./route.js";
import { apiPath } from "./source.js";
import { helpButton } from "./why_not.js";

const QUEUES = {
  active: "active",
  backoff: "backing off",
  unschedulable: "unschedulable",
  gated: "gated",
  inFlight: "being tried",
  waitingOnPermit: "waiting on permit",
  binding: "binding",
};

/** The view of #/. */
export function queueView(root, _route, app) {
  const glance = el("div.glance-numbers");
  const bar = el("div.queue-bar");
  const groups = el("div.groups");
  const headline = heading("", "Queue");
  const nothing = notice("Nothing waits.");
  nothing.hidden = true;
  const failed = (problem) => {
    nothing.hidden = false;
    nothing.textContent = problem.message;
  };
  const overview = app.poll("overview", (data) => {
    app.known(data);
    fill(glance, numbers(data));
  }, failed);
  const pending = app.poll("pending", (data) => {
    nothing.textContent = "Nothing waits: every pod has a node.";
    nothing.hidden = data.groups.length > 0;
    fill(bar, queues(data.queues ?? {}));
    const stamp = ({ count: pods, cause, queues: where, attempts }) => JSON.stringify([pods, cause, where, attempts]);
    keep(groups, data.groups, (group) => `${group.shape} ${group.profile} ${group.cause}`, stamp, (group) => card(group, app));
  }, failed);
  const notes = app.source.notes.map((note) => el("li", {}, note));
  const beforehand = notes.length > 0 ? el("div.card", {}, el("h2", {}, "Changed beforehand"), el("ul.plain", {}, notes)) : null;
  fill(root, headline, beforehand, glance, bar, el("h2", {}, "Waiting, by cause"), nothing, groups);
  app.arrived();
  return () => {
    overview.end();
    pending.end();
  };
}

function numbers(data) {
  const counts = data.counts ?? {};
  const waiting = Object.values(data.queues ?? {}).reduce((sum, value) => sum + value, 0);
  return [
    number(waiting, "waiting", { strong: true }),
    number(counts.Scheduled ?? 0, "scheduled", { to: href(["decisions"], { result: "Scheduled" }) }),
    number(counts.Unschedulable ?? 0, "unschedulable attempts", { to: href(["decisions"], { result: "Unschedulable" }) }),
    number(counts.Error ?? 0, "errors", { to: href(["decisions"], { result: "Error" }) }),
    number(data.nodes, "nodes", { to: href(["cluster"]) }),
    number(data.pods, "pods"),
  ];
}

function number(value, label, { to = "", strong = false } = {}) {
  const inner = [el("span.figure", {}, count(value)), el("span.figure-label", {}, label)];
  return to ? el("a.figure-box", { href: to }, inner) : el(strong ? "div.figure-box.strong" : "div.figure-box", {}, inner);
}

function queues(sizes) {
  const given = Object.keys(QUEUES).filter((name) => (sizes[name] ?? 0) > 0);
  const total = given.reduce((sum, name) => sum + sizes[name], 0);
  if (total === 0) return null;
  const parts = given.map((name) => el(`span.queue-part.q-${name}`, { style: { "flex-grow": String(sizes[name]) } }));
  const labels = given.map((name) => el("li", {}, el(`span.dot.q-${name}`, { "aria-hidden": "true" }), `${count(sizes[name])} ${QUEUES[name]}`));
  return [el("div.queue-parts", { "aria-hidden": "true" }, parts), el("ul.queue-labels", {}, labels)];
}

function card(group, app) {
  const now = Date.now();
  const [namespace, name] = podParts(group.example);
  const where = Object.entries(group.queues ?? {}).filter(([, size]) => size > 0);
  const meta = [
    group.owner ? el("span", {}, group.owner) : null,
    group.profile ? el("span", {}, `profile ${group.profile}`) : null,
    el("span", {}, where.map(([queue, size]) => `${count(size)} ${QUEUES[queue] ?? queue}`).join(", ")),
    group.attempts ? el("span", {}, plural(group.attempts, "attempt")) : null,
    group.oldest ? el("span", {}, `oldest ${span((now - Date.parse(group.oldest)) / 1000)}`) : null,
    group.nextTry ? el("span", {}, "next try ", due(group.nextTry, now)) : null,
  ];
  const pods = (group.pods ?? []).length > 0 ? group.pods : [group.example];
  return el(
    "article.group",
    { "aria-label": `${plural(group.count, "pod")}: ${group.cause}` },
    el("div.group-count", {}, count(group.count)),
    el(
      "div.group-body",
      {},
      el("p.cause", {}, group.cause),
      el("p.meta", {}, meta),
      el("p.small", {}, (group.plugins ?? []).map((plugin) => el("span.chip", {}, plugin)), " ", names(pods, podLink, 3)),
      helpButton(app.source, apiPath(["pods", namespace, name, "evaluation"]), app.say),
    ),
  );
}
