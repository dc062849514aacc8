// Finding a pod or a node by a part of its name.

import { el, fill, freshId } from "./dom.js";
import { podParts } from "./format.js";
import { href } from "./route.js";
import { apiPath } from "./source.js";

const MOST = 8;
const DELAY = 150;

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
  #nodes = null;
  #pods = null;

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
    document.body.append(this.#dialog);
  }

  open() {
    if (this.#dialog.open) return;
    this.#input.value = "";
    this.#nodes = null;
    this.#pods = null;
    this.#show([]);
    this.#dialog.showModal();
    this.#input.focus();
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#search(), DELAY);
  }

  async #search() {
    const text = this.#input.value.trim();
    this.#asking?.abort();
    if (text === "") {
      this.#show([]);
      return;
    }
    const asking = new AbortController();
    this.#asking = asking;
    const found = text.includes("/") ? [this.#pod(text)] : [];
    try {
      const [nodes, pods] = await Promise.all([this.#nodesLike(text), this.#podsLike(text)]);
      if (asking.signal.aborted) return;
      const known = new Set(found.map(({ text: name }) => name));
      found.push(...pods.filter((pod) => !known.has(pod)).map((pod) => this.#pod(pod)));
      found.push(...nodes.map((node) => ({ kind: "node", text: node, to: href(["node", node]) })));
      this.#show(found);
      this.#app.say(found.length === 0 ? "Nothing found" : `${found.length} found`);
    } catch (problem) {
      if (!asking.signal.aborted) this.#show([], problem.message);
    }
  }

  #pod(pod) {
    return { kind: "pod", text: pod, to: href(["pod", ...podParts(pod)]) };
  }

  async #nodesLike(text) {
    // Asked once each time the dialog is open: thousands of names are searched here, not there.
    this.#nodes ??= this.#app.source.get("nodes").then(({ data }) => data.names);
    const wanted = text.toLowerCase();
    return (await this.#nodes).filter((name) => name.toLowerCase().includes(wanted)).slice(0, MOST);
  }

  /** Pods of recent decisions and pods that wait; any other is found by its whole name. */
  async #podsLike(text) {
    this.#pods ??= this.#allPods();
    const wanted = text.toLowerCase();
    return (await this.#pods).filter((pod) => pod.toLowerCase().includes(wanted)).slice(0, MOST);
  }

  async #allPods() {
    const { source } = this.#app;
    const answers = await Promise.all([source.get("pending"), source.get(apiPath(["decisions"], { limit: "1000" }))]);
    const [pending, decisions] = answers.map(({ data }) => data);
    const waiting = pending.groups.flatMap(({ pods, example }) => pods ?? [example]);
    return [...new Set([...waiting, ...decisions.items.map(({ pod }) => pod)])];
  }

  #show(items, problem = "") {
    this.#items = items;
    this.#chosen = 0;
    const lines = items.map(({ kind, text, to }, index) =>
      el(
        "li",
        { role: "option", id: `${this.#list.id}-${index}`, "aria-selected": String(index === 0) },
        el("a", { href: to, tabindex: -1, on: { click: () => this.#dialog.close() } }, el("span.kind", {}, kind), text),
      ),
    );
    const empty = problem || (this.#input.value.trim() === "" ? "Type a part of a name." : "Nothing found among nodes, waiting pods and recent decisions. Any pod is found as namespace/name.");
    fill(this.#list, lines.length > 0 ? lines : el("li.dim", { role: "presentation" }, empty));
    this.#mark();
  }

  #mark() {
    [...this.#list.children].forEach((line, index) => {
      line.setAttribute("aria-selected", String(index === this.#chosen));
    });
    if (this.#items.length > 0) this.#input.setAttribute("aria-activedescendant", `${this.#list.id}-${this.#chosen}`);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (Object.hasOwn(steps, event.key) && this.#items.length > 0) {
      this.#chosen = (this.#chosen + steps[event.key] + this.#items.length) % this.#items.length;
      this.#mark();
    } else if (event.key === "Enter") {
      const item = this.#items[this.#chosen] ?? (this.#input.value.includes("/") ? this.#pod(this.#input.value.trim()) : null);
      if (item === null) return;
      this.#dialog.close();
      this.#app.go(item.to);
    } else return;
    event.preventDefault();
  }
}
