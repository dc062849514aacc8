// Puts the page together: which view is shown, and what all views share.

import { Bar } from "./bar.js";
import { clusterView } from "./cluster_view.js";
import { decisionView } from "./decision_view.js";
import { decisionsView } from "./decisions_view.js";
import { el, fill } from "./dom.js";
import { helpDialog } from "./help.js";
import { nodeView } from "./node_view.js";
import { heading, notice } from "./parts.js";
import { podView } from "./pod_view.js";
import { Poll } from "./poll.js";
import { queueView } from "./queue_view.js";
import { parsed } from "./route.js";
import { Search } from "./search.js";
import { sourceOf } from "./source.js";
import { applyTheme } from "./theme.js";
import { hideTooltip } from "./tooltip.js";

const VIEWS = { "": queueView, decisions: decisionsView, decision: decisionView, pod: podView, cluster: clusterView, node: nodeView };
const WITHIN = { decision: "decisions", pod: "", node: "cluster" };
const TITLES = { "": "Queue", decisions: "Decisions", cluster: "Cluster" };
const NEEDS = { decision: 2, pod: 3, node: 2 };

const root = document.getElementById("main");
const announcer = document.getElementById("announce");
const source = sourceOf(document.getElementById("data").textContent);
const help = helpDialog();
let leave = () => {};
let views = 0;

const app = {
  source,
  /** Keeps a view informed of an answer. */
  poll: (path, take, fail) => new Poll(source, path, take, { fail, state: (name, wait) => bar.state(name, wait) }),
  /** Tells readers who don't see. */
  say: (text) => {
    announcer.textContent = text;
  },
  go: (to) => {
    location.hash = to;
  },
  title: (text) => {
    document.title = text ? `${text} · Berth` : "Berth";
  },
  known: (overview) => bar.about(overview),
  /** A view stands: focus goes to its heading, unless the page has only just opened. */
  arrived: () => {
    if (views > 1) root.querySelector("h1")?.focus({ preventScroll: true });
  },
};
const search = new Search(app);
const bar = new Bar(document.getElementById("bar"), {
  title: source.title,
  search: () => search.open(),
  help: () => help.showModal(),
});

function show() {
  const route = parsed(location.hash);
  const [name = ""] = route.parts;
  leave();
  views += 1;
  hideTooltip();
  const view = VIEWS[name];
  const complete = route.parts.length >= (NEEDS[name] ?? 0);
  bar.at(WITHIN[name] ?? name);
  app.title(TITLES[name]);
  scrollTo(0, 0);
  if (view === undefined || !complete) {
    fill(root, heading("", "Nothing here"), notice("There is no view at this address."), el("p", {}, el("a", { href: "#/" }, "To the queue")));
    leave = () => {};
  } else leave = view(root, route, app);
}

const KEYS = {
  "/": () => search.open(),
  "?": () => help.showModal(),
  1: () => app.go("#/"),
  2: () => app.go("#/decisions"),
  3: () => app.go("#/cluster"),
  p: () => root.querySelector("[data-key=p]")?.click(),
  t: () => bar.theme(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  // A field keeps the focus until the next frame when its dialog closes: what is typed by then isn't meant for it.
  if (event.target.matches?.("input:not([type=radio], dialog *), select, textarea")) return;
  if (!Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  root.focus();
});
addEventListener("hashchange", show);
applyTheme();
bar.state(source.live ? "live" : "report");
source.get("overview").then(({ data }) => app.known(data), () => {});
show();
