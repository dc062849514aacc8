// A pod and its way through the scheduler.

import { decisionParts } from "./decision_view.js";
import { list, row } from "./decisions_view.js";
import { el, fill } from "./dom.js";
import { count } from "./format.js";
import { ago, badge, due, facts, heading, nodeLink, notice, section } from "./parts.js";
import { href } from "./route.js";
import { apiPath } from "./source.js";
import { queueHistory } from "./timeline.js";
import { helpButton } from "./why_not.js";

/** The view of #/pod/NAMESPACE/NAME. */
export function podView(root, { parts, query }, app) {
  const [, namespace, name] = parts;
  const ending = [];
  const clear = () => ending.splice(0).forEach((end) => end());
  const top = el("div");
  const rest = el("div");
  let latest = -1;
  const poll = app.poll(
    apiPath(["pods", namespace, name]),
    (pod) => {
      fill(top, head(pod), about(pod), pod.state === "Pending" ? now(app, namespace, name) : null);
      const id = pod.latest?.summary.id ?? 0;
      if (id === latest) return;
      // The latest decision is drawn once: whoever reads in it is not disturbed.
      latest = id;
      clear();
      fill(rest, recorded(pod, query, app, ending), earlier(pod), events(pod));
    },
    (problem) => {
      if (latest < 0) fill(top, heading("Pod", `${namespace}/${name}`), notice(problem.message, "warn"));
    },
  );
  fill(root, top, rest);
  app.title(`${namespace}/${name}`);
  fill(top, heading("Pod", `${namespace}/${name}`), notice("Reading what is known of the pod…"));
  app.arrived();
  return () => {
    poll.end();
    clear();
  };
}

function head(pod) {
  return el("div.title", {}, heading("Pod", pod.pod), badge(pod.state));
}

function about(pod) {
  const at = Date.now();
  return facts([
    ["Node", pod.node ? nodeLink(pod.node) : ""],
    ["Queue", pod.queue],
    ["Attempts", pod.attempts ? count(pod.attempts) : ""],
    ["Next try", pod.nextTry ? due(pod.nextTry, at) : ""],
    ["Waits for events of", (pod.waitsFor ?? []).join(", ")],
    ["Priority", pod.priority ? count(pod.priority) : ""],
    ["Profile", pod.profile],
    ["Created", pod.created ? ago(pod.created, at) : ""],
    ["Came to the queue", pod.added ? ago(pod.added, at) : ""],
  ]);
}

function now(app, namespace, name) {
  return section("Now", helpButton(app.source, apiPath(["pods", namespace, name, "evaluation"]), app.say));
}

function recorded(pod, query, app, ending) {
  if (!pod.latest) return notice(pod.state === "Unknown" ? "Nothing is known of this pod." : "No attempt is on record.");
  const { id } = pod.latest.summary;
  const link = el("a", { href: href(["decision", id]) }, `decision ${id}`);
  const asked = (node) => app.go(href(["decision", id], { node }));
  const parts = decisionParts(pod.latest, query, app, ending, asked, { asksAnew: false });
  return el("div.recorded", {}, el("h2.divider", {}, "Latest attempt, as recorded: ", link), parts);
}

function earlier(pod) {
  const others = (pod.decisions ?? []).filter(({ id }) => id !== pod.latest?.summary.id);
  return others.length === 0 ? null : section("Earlier attempts", list(el("tbody", {}, others.map(row))));
}

function events(pod) {
  const known = pod.history ?? [];
  return known.length === 0 ? null : section("In the queue", queueHistory(known, Date.now()));
}
