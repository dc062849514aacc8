// The bar at the top: where one is, whether what is shown is live, and the tools that are always there.

import { el, fill } from "./dom.js";
import { seconds } from "./format.js";
import { switchTheme, themeChoice } from "./theme.js";

const PLACES = [
  ["", "Queue"],
  ["decisions", "Decisions"],
  ["cluster", "Cluster"],
];
const STATES = {
  live: ["live", "Live: asked again every two seconds"],
  paused: ["paused", "Paused"],
  hidden: ["paused", "Not asked while hidden"],
  failing: ["no answer", "The scheduler does not answer"],
  report: ["report", "A report: it does not change"],
};

/** Fills the bar. `search` and `help` open what they say. */
export class Bar {
  #links = new Map();
  #state = el("span.state", { role: "status" });
  #about = el("span.about");
  #theme;

  constructor(root, { title, search, help }) {
    const links = PLACES.map(([place, label]) => {
      const link = el("a", { href: `#/${place}` }, label);
      this.#links.set(place, link);
      return link;
    });
    this.#theme = el("button.icon", { type: "button", on: { click: () => this.theme() } });
    const brand = el("a.brand", { href: "#/", "aria-label": "Berth: the queue" }, mark(), el("span", {}, "Berth"));
    const find = el("button.find", { type: "button", on: { click: search } }, el("span", {}, "Search"), el("kbd", {}, "/"));
    const keys = el("button.icon", { type: "button", "aria-label": "Keys", title: "Keys (?)", on: { click: help } }, "?");
    const about = title ? el("span.about", {}, title) : this.#about;
    fill(root, el("div.bar", {}, brand, el("nav", { "aria-label": "Views" }, links), el("div.bar-end", {}, about, this.#state, find, this.#theme, keys)));
    this.#label();
  }

  /** Marks the view that is shown. */
  at(place) {
    for (const [name, link] of this.#links) {
      if (name === place) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  /** Says whether the data are live; `wait` in milliseconds until the next attempt. */
  state(name, wait = 0) {
    const [words, title] = STATES[name];
    this.#state.className = `state ${name}`;
    this.#state.title = title;
    const text = name === "failing" ? `${words}, again in ${seconds(Math.round(wait / 1000))}` : words;
    if (this.#state.textContent !== text) this.#state.textContent = text;
  }

  /** Says which scheduler this is. */
  about({ leader, kubernetesVersion }) {
    this.#about.textContent = `${leader ? "leader" : "standby"} · Kubernetes ${kubernetesVersion}`;
  }

  theme() {
    switchTheme();
    this.#label();
  }

  #label() {
    const choice = themeChoice();
    const words = { auto: "as the system has it", light: "light", dark: "dark" }[choice];
    this.#theme.setAttribute("aria-label", `Colours: ${words}. Change`);
    this.#theme.title = `Colours: ${words} (t)`;
    this.#theme.textContent = { auto: "◐", light: "☀", dark: "☾" }[choice];
  }
}

function mark() {
  return el(
    "svg",
    { viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true" },
    el("rect", { width: 20, height: 20, rx: 4.5, fill: "var(--accent)" }),
    el("path", { d: "M4 11.5h12M10 4.5v7M7 7.5l3-3 3 3M5 15h10", stroke: "var(--surface)", "stroke-width": 1.7, fill: "none", "stroke-linecap": "round", "stroke-linejoin": "round" }),
  );
}
