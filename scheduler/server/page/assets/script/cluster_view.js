// The cluster: how full its nodes are, as a map and as a table.

import { Cluster } from "./cluster_model.js";
import { el, fill } from "./dom.js";
import { amount, count, percent } from "./format.js";
import { Grid } from "./grid.js";
import { PackingMap, histogram } from "./packing.js";
import { heading, meter, notice } from "./parts.js";
import { href, remember } from "./route.js";
import { shade } from "./scale.js";
import { onTheme } from "./theme.js";

const GROUPINGS = { "": "none", zone: "zone", taint: "taint" };

/** The view of #/cluster. */
export function clusterView(root, { parts, query }, app) {
  const shown = { resource: query.resource ?? "", group: query.group ?? "zone" };
  const open = (node) => app.go(href(["node", node]));
  const map = new PackingMap({ open, say: app.say });
  const totals = el("div.glance-numbers");
  const tools = el("div.tools");
  const bins = el("div");
  const body = el("div");
  const problem = notice("Reading the nodes…");
  let view = null;
  let table = null;
  const draw = () => {
    if (view === null) return;
    const model = new Cluster(view, shown.resource);
    problem.hidden = model.names.length > 0;
    problem.textContent = "There are no nodes.";
    fill(totals, summary(model));
    fill(bins, histogram(model.names.map((_, row) => model.share(row))));
    map.show(model, model.groups(shown.group));
    if (table?.fits(model)) table.show(model);
    else {
      table?.end();
      table = new NodeTable(model, open);
      fill(body, table.element);
      fill(tools, choices(model, shown, changed));
    }
  };
  const changed = () => {
    remember(parts, shown);
    draw();
  };
  const poll = app.poll("nodes", (data) => {
    view = data;
    draw();
  }, (failure) => {
    problem.hidden = false;
    problem.textContent = failure.message;
  });
  const unsubscribe = onTheme(draw);
  const legend = el("p.legend", {}, "0%", el("span.ramp", { "aria-hidden": "true" }), "100% requested", el("span.hatch", { "aria-hidden": "true" }), "unschedulable");
  fill(root, heading("", "Cluster"), problem, totals, el("div.card", {}, tools, map.element, legend), el("div.card", {}, el("h2", {}, "Nodes by fullness"), bins), el("div.card", {}, el("h2", {}, "Nodes"), body));
  app.arrived();
  return () => {
    poll.end();
    unsubscribe();
    map.end();
    table?.end();
  };
}

function summary(model) {
  const shown = model.resources.slice(0, 5).map((resource) => {
    const [used, room] = model.total(resource);
    const share = room > 0 ? used / room : 0;
    return el(
      "div.figure-box",
      {},
      el("span.figure", {}, percent(share)),
      el("span.figure-label", {}, `${resource}: ${amount(resource, used)} of ${amount(resource, room)}`),
      meter(share, `${percent(share)} of ${resource} requested`),
    );
  });
  return [el("div.figure-box", {}, el("span.figure", {}, count(model.names.length)), el("span.figure-label", {}, "nodes")), shown];
}

function choices(model, shown, changed) {
  const resources = model.resources.map((name) => radio("resource", name, name, (shown.resource || model.resource) === name));
  const groups = Object.entries(GROUPINGS).map(([value, label]) => radio("group", value, label, shown.group === value));
  const listen = (event) => {
    shown[event.target.name] = event.target.value;
    changed();
  };
  return [
    el("fieldset.segments", { on: { change: listen } }, el("legend", {}, "Colour by"), resources),
    el("fieldset.segments", { on: { change: listen } }, el("legend", {}, "Group by"), groups),
  ];
}

function radio(name, value, label, checked) {
  const input = el("input", { type: "radio", name, value });
  input.checked = checked;
  return el("label.segment", {}, input, el("span", {}, label));
}

/** All nodes as a table that can be sorted. */
class NodeTable {
  #model;
  #grid;
  #order;
  #sort = { key: "cpu", descending: true };
  #columns;

  constructor(model, open) {
    this.#model = model;
    this.#sort.key = model.resource;
    this.#columns = model.resources;
    this.#order = model.sorted(this.#sort.key, true);
    this.#grid = new Grid({
      label: "Nodes with what is requested of them",
      rows: this.#order.length,
      columns: [
        { key: "name", label: "Node", width: [170, false], sortable: true },
        { key: "zone", label: "Zone", width: [110, false], sortable: true },
        ...model.resources.map((name) => ({ key: name, label: name, width: [170, true], sortable: true })),
      ],
      draw: (cell, row, column) => this.#draw(cell, row, column),
      sort: (key) => this.#sortBy(key),
      open: (row) => open(this.#model.names[this.#order[row]]),
    });
    this.#grid.sorted(this.#sort.key, true);
  }

  get element() {
    return this.#grid.element;
  }

  /** Whether the table has the columns that a model needs. */
  fits(model) {
    return String(model.resources) === String(this.#columns);
  }

  show(model) {
    this.#model = model;
    this.#order = model.sorted(this.#sort.key, this.#sort.descending);
    this.#grid.resize(this.#order.length);
  }

  end() {
    this.#grid.end();
  }

  #sortBy(key) {
    const text = key === "name" || key === "zone";
    const descending = this.#sort.key === key ? !this.#sort.descending : !text;
    this.#sort = { key, descending };
    this.#grid.sorted(key, descending);
    this.show(this.#model);
  }

  #draw(cell, row, column) {
    const index = this.#order[row];
    const model = this.#model;
    if (column === 0) {
      cell.textContent = model.names[index];
      cell.title = model.unschedulable[index] ? `${model.names[index]}: unschedulable` : model.names[index];
      cell.classList.toggle("cordoned", Boolean(model.unschedulable[index]));
    } else if (column === 1) {
      cell.textContent = model.zones[index] ?? "";
      cell.title = model.taints[index] ?? "";
    } else {
      const resource = model.resources[column - 2];
      const share = model.share(index, resource);
      const { back } = shade(share);
      cell.textContent = `${percent(share)} · ${amount(resource, model.used(resource, index))} of ${amount(resource, model.room(resource, index))}`;
      const full = `${Math.min(100, share * 100)}%`;
      cell.style.setProperty("background-image", `linear-gradient(${back}, ${back})`);
      cell.style.setProperty("background-size", `${full} 3px`);
    }
  }
}
