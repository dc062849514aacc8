// A node: how full it is, the pods on it, and the latest decisions for it.

import { Cluster } from "./cluster_model.js";
import { list, row } from "./decisions_view.js";
import { el, fill, keep } from "./dom.js";
import { amount, percent, plural } from "./format.js";
import { facts, heading, meter, names, notice, podLink, section } from "./parts.js";
import { href } from "./route.js";
import { apiPath } from "./source.js";

/** The view of #/node/NAME. */
export function nodeView(root, { parts }, app) {
  const name = parts[1];
  const about = el("div");
  const pods = el("div");
  const body = el("tbody");
  const none = notice("No decision on record chose this node.");
  const polls = [
    app.poll("nodes", (data) => fill(about, fullness(new Cluster(data), name)), (problem) => fill(about, notice(problem.message, "warn"))),
    app.poll(
      apiPath(["nodes", name]),
      (data) => fill(pods, section(plural(data.pods.length, "pod"), data.pods.length > 0 ? names(data.pods, podLink, 60) : notice("No pods."))),
      (problem) => fill(pods, notice(problem.message, "warn")),
    ),
    app.poll(apiPath(["decisions"], { node: name, limit: "30" }), (page) => {
      none.hidden = page.items.length > 0;
      keep(body, page.items, ({ id }) => id, ({ result }) => result, row);
    }),
  ];
  const all = el("a", { href: href(["decisions"], { node: name }) }, "All decisions for it");
  fill(root, heading("Node", name), about, pods, section("Latest decisions for it", list(body), none, el("p.small", {}, all)));
  app.title(name);
  app.arrived();
  return () => polls.forEach((poll) => poll.end());
}

function fullness(model, name) {
  const row = model.names.indexOf(name);
  if (row < 0) return notice("There is no node of this name now.", "warn");
  const boxes = model.resources.map((resource) => {
    const share = model.share(row, resource);
    const words = `${resource}: ${amount(resource, model.used(resource, row))} of ${amount(resource, model.room(resource, row))}`;
    return el(
      "div.figure-box",
      {},
      el("span.figure", {}, percent(share)),
      el("span.figure-label", {}, words),
      meter(share, `${percent(share)} of ${resource} requested`),
    );
  });
  const pairs = [
    ["Zone", model.zones[row]],
    ["Taints", model.taints[row]],
    ["State", model.unschedulable[row] ? "unschedulable" : ""],
  ];
  return [el("div.glance-numbers", {}, boxes), facts(pairs)];
}
