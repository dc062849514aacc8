// Finding a pod or a node by a part of its name.

import { el, fill, freshId } from "./dom.js";
import { count, podParts } from "./format.js";
import { href } from "./route.js";
import { apiPath } from "./source.js";

const MOST = 10;
const DELAY = 150;
const HINT = "A part of a name finds pods and nodes; namespace/ finds the pods of a namespace.";

/** The search dialog. */
export class Search {
  #app;
  #dialog;
  #input;
  #list;
  #items = [];
  #chosen = 0;
  #timer = 0;
  #asking = null;
  /** The text that what is listed was found for. */
  #shown = "";

  constructor(app) {
    this.#app = app;
    const id = freshId("found");
    this.#list = el("ul.found", { id, role: "listbox", "aria-label": "Found" });
    this.#input = el("input", {
      type: "search",
      placeholder: "Pod, namespace/pod, or node",
      "aria-label": "Search pods and nodes",
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": id,
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.#soon(), keydown: (event) => this.#key(event) },
    });
    this.#dialog = el("dialog.search", { "aria-label": "Search" }, this.#input, this.#list);
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
    // This is told later than it happens: the dialog can be open again, and asking.
    this.#dialog.addEventListener("close", () => {
      if (!this.#dialog.open) this.#stop();
    });
    document.body.append(this.#dialog);
  }

  open() {
    if (this.#dialog.open) return;
    this.#stop();
    this.#input.value = "";
    this.#show("", [], [HINT]);
    this.#dialog.showModal();
    this.#input.focus();
  }

  get #text() {
    return this.#input.value.trim();
  }

  #soon() {
    this.#stop();
    this.#timer = setTimeout(() => this.#search(), DELAY);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  async #search() {
    this.#stop();
    const text = this.#text;
    if (text === "") {
      this.#show(text, [], [HINT]);
      return;
    }
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const path = apiPath(["search"], { text, limit: MOST });
      const { data } = await this.#app.source.get(path, { signal: asking.signal });
      if (asking.signal.aborted) return;
      this.#found(text, data);
    } catch (problem) {
      if (!asking.signal.aborted) this.#show(text, [], [problem.message]);
    }
  }

  #found(text, { pods = [], podCount = 0, nodes = [], nodeCount = 0 }) {
    const foundPods = pods.map(({ pod, state, node = "" }) => ({ kind: "pod", text: pod, place: placeOf(state, node), to: toPod(pod) }));
    const foundNodes = nodes.map((node) => ({ kind: "node", text: node, place: "", to: href(["node", node]) }));
    // Pods of a node's own bear its name at their end: who types it means the node.
    const begins = (name = "") => name.toLowerCase().startsWith(text.toLowerCase());
    const nodesFirst = begins(nodes[0]) && !pods.some(({ pod }) => begins(pod) || begins(podParts(pod)[1]));
    const items = nodesFirst ? [...foundNodes, ...foundPods] : [...foundPods, ...foundNodes];
    const notes = [more(podCount - pods.length, "pod"), more(nodeCount - nodes.length, "node")].filter((note) => note !== "");
    this.#show(text, items, items.length > 0 ? notes : ["Nothing the scheduler knows is called so."]);
    const all = podCount + nodeCount;
    this.#app.say(all === 0 ? "Nothing found" : `${count(all)} found`);
  }

  #show(text, items, notes) {
    this.#shown = text;
    this.#items = items;
    this.#chosen = 0;
    const lines = items.map(({ kind, text: name, place, to }, index) =>
      el(
        "li",
        { role: "option", id: `${this.#list.id}-${index}`, "aria-selected": "false" },
        el(
          "a",
          { href: to, tabindex: -1, on: { click: () => this.#dialog.close() } },
          el("span.kind", {}, kind),
          el("span.name", {}, name),
          place === "" ? null : el("span.place", {}, place),
        ),
      ),
    );
    fill(this.#list, lines, notes.map((note) => el("li.dim", { role: "presentation" }, note)));
    this.#mark();
  }

  #mark() {
    this.#list.querySelectorAll("[role=option]").forEach((line, index) => {
      line.setAttribute("aria-selected", String(index === this.#chosen));
      if (index === this.#chosen) line.scrollIntoView({ block: "nearest" });
    });
    if (this.#items.length > 0) this.#input.setAttribute("aria-activedescendant", `${this.#list.id}-${this.#chosen}`);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (Object.hasOwn(steps, event.key) && this.#items.length > 0) {
      this.#chosen = (this.#chosen + steps[event.key] + this.#items.length) % this.#items.length;
      this.#mark();
    } else if (event.key === "Enter") this.#enter();
    else return;
    event.preventDefault();
  }

  /** Opens what is marked; where the text has changed since it was listed, what is found for it now. */
  async #enter() {
    const text = this.#text;
    if (text !== this.#shown) await this.#search();
    if (text !== this.#text || text !== this.#shown || !this.#dialog.open) return;
    // A pod that is gone can still have decisions on record.
    const to = this.#items[this.#chosen]?.to ?? (text.includes("/") ? toPod(text) : null);
    if (to === null) return;
    this.#dialog.close();
    this.#app.go(to);
  }
}

function toPod(pod) {
  return href(["pod", ...podParts(pod)]);
}

function placeOf(state, node) {
  if (state === "Scheduled") return `on ${node}`;
  return node === "" ? "pending" : `on its way to ${node}`;
}

function more(left, what) {
  return left === 0 ? "" : `and ${count(left)} more ${what}${left === 1 ? "" : "s"}: a longer part finds fewer`;
}
