// The heat map of a decision: every node that fits × every plugin. Above, all of it at a glance on a canvas; below, the
// numbers, in a grid of which only what is in sight is drawn.

import { el } from "./dom.js";
import { count } from "./format.js";
import { Grid } from "./grid.js";
import { shade, shades } from "./scale.js";
import { onTheme } from "./theme.js";
import { hideTooltip, showTooltip, tooltipRow } from "./tooltip.js";

const BAND = 16;
const VALUES = { weighted: "points", normalized: "normalized, 0–100", raw: "raw" };

/** A heat map of `scores`. `open(node)` when a node is chosen, `marked` the node that won, `say` announces to readers. */
export class HeatMap {
  #scores;
  #options;
  #order;
  #key = "total";
  #descending = true;
  #values = "weighted";
  #grid;
  #canvas;
  #cross;
  #unsubscribe;
  #observer;
  #picture = null;

  constructor(scores, options) {
    this.#scores = scores;
    this.#options = options;
    this.#order = scores.sorted("total", true);
    this.#canvas = el("canvas.glance-canvas", { "aria-hidden": "true" });
    this.#cross = el("div.glance-cross", { hidden: true });
    this.#grid = new Grid({
      label: "Points of each node by plugin",
      rows: this.#order.length,
      columns: this.#columns(),
      draw: (cell, row, column) => this.#draw(cell, row, column),
      sort: (key) => this.#sort(key),
      open: (row) => options.open(scores.names[this.#order[row]]),
      moved: (row, column) => this.#moved(row, column),
      hover: (event, row, column) => this.#hover(event, row, column),
    });
    this.#grid.sorted("total", true);
    this.#unsubscribe = onTheme(() => this.#redraw());
    this.#canvas.addEventListener("pointermove", (event) => this.#overGlance(event));
    this.#canvas.addEventListener("pointerleave", () => hideTooltip());
    this.#canvas.addEventListener("click", (event) => this.#intoGlance(event));
    this.#observer = new ResizeObserver(() => this.#paint());
    this.#observer.observe(this.#canvas);
    this.element = el("div.heat", {}, this.#tools(), this.#glance(), this.#grid.element);
  }

  /** Brings a node into sight; whether it is there. */
  find(node) {
    const index = this.#scores.rows.get(node);
    if (index === undefined) return false;
    this.#grid.go(this.#order.indexOf(index));
    this.#grid.element.focus({ preventScroll: true });
    return true;
  }

  end() {
    this.#unsubscribe();
    this.#observer.disconnect();
    this.#grid.end();
    hideTooltip();
  }

  #columns() {
    const plugins = this.#scores.plugins.map(({ plugin, weight }) => ({
      key: plugin,
      label: plugin,
      title: `${plugin}: weight ${weight}`,
      width: [96, true],
      sortable: true,
    }));
    const total = { key: "total", label: "Total", title: "Sum of all points", width: [76, false], sortable: true };
    return [{ key: "name", label: "Node", width: [170, false], sortable: true }, total, ...plugins];
  }

  #tools() {
    const name = "heat-values";
    const choices = Object.entries(VALUES).map(([value, label]) => {
      const input = el("input", { type: "radio", name, value, on: { change: () => this.#show(value) } });
      input.checked = value === this.#values;
      return el("label.segment", {}, input, el("span", {}, label));
    });
    const legend = el("span.legend", { "aria-hidden": "true" }, "0", el("span.ramp"), "all it can give");
    return el("div.tools", {}, el("fieldset.segments", {}, el("legend.unseen", {}, "Show"), choices), legend);
  }

  #glance() {
    const labels = ["Total", ...this.#scores.plugins.map(({ plugin }) => plugin)];
    const names = el("div.glance-names", { "aria-hidden": "true" }, labels.map((label) => el("span", {}, label)));
    const frame = el("div.glance-frame", {}, this.#canvas, this.#cross);
    frame.style.setProperty("height", `${labels.length * BAND}px`);
    return el("div.glance", {}, names, frame);
  }

  #show(values) {
    this.#values = values;
    this.#grid.redraw();
  }

  #sort(key) {
    this.#descending = this.#key === key ? !this.#descending : key !== "name";
    this.#key = key;
    this.#order = this.#scores.sorted(key, this.#descending);
    this.#grid.sorted(key, this.#descending);
    this.#redraw();
    this.#options.say(`Sorted by ${key}, ${this.#descending ? "descending" : "ascending"}`);
  }

  #redraw() {
    this.#grid.redraw();
    this.#paint();
  }

  #draw(cell, row, column) {
    const index = this.#order[row];
    if (column === 0) {
      const name = this.#scores.names[index];
      cell.textContent = name;
      cell.title = name;
      cell.classList.toggle("winner", name === this.#options.marked);
      return;
    }
    const { back, text } = shade(this.#scores.share(index, column - 2));
    cell.style.setProperty("background-color", back);
    cell.style.setProperty("color", text);
    cell.textContent = count(column === 1 ? this.#scores.totals[index] : this.#scores.plugins[column - 2][this.#values][index]);
  }

  #moved(row, column) {
    if (row < 0) {
      this.#cross.hidden = true;
      return;
    }
    const index = this.#order[row];
    this.#cross.hidden = false;
    this.#cross.style.setProperty("left", `${((row + 0.5) / this.#order.length) * 100}%`);
    this.#options.say(`${this.#scores.names[index]}, ${this.#words(index, column)}`);
  }

  #words(index, column) {
    if (column < 2) return `total ${count(this.#scores.totals[index])}`;
    const { plugin, weight, raw, normalized, weighted } = this.#scores.plugins[column - 2];
    const parts = `raw ${count(raw[index])}, normalized ${count(normalized[index])}, times weight ${weight}`;
    return `${plugin}: ${count(weighted[index])} points, ${parts}`;
  }

  #hover(event, row, column) {
    if (row < 0) {
      hideTooltip();
      return;
    }
    this.#tell(event, this.#order[row], column);
  }

  #tell(event, index, column) {
    const name = el("strong", {}, this.#scores.names[index]);
    if (column < 2) {
      const rows = this.#scores.plugins.map(({ plugin, weighted }) => tooltipRow(plugin, count(weighted[index])));
      showTooltip(event.clientX, event.clientY, name, rows, tooltipRow("Total", count(this.#scores.totals[index])));
      return;
    }
    const { plugin, weight, raw, normalized, weighted } = this.#scores.plugins[column - 2];
    showTooltip(
      event.clientX,
      event.clientY,
      name,
      el("div", {}, plugin),
      tooltipRow("raw", count(raw[index])),
      tooltipRow("normalized", count(normalized[index])),
      tooltipRow(`× weight ${weight}`, count(weighted[index])),
    );
  }

  #paint() {
    const width = Math.round(this.#canvas.clientWidth * devicePixelRatio);
    if (width === 0) return;
    const bands = this.#scores.plugins.length + 1;
    this.#canvas.width = width;
    this.#canvas.height = bands;
    const context = this.#canvas.getContext("2d");
    if (this.#picture?.width !== width || this.#picture.height !== bands) this.#picture = context.createImageData(width, bands);
    const table = shades();
    const { data } = this.#picture;
    const nodes = this.#order.length;
    for (let x = 0; x < width; x += 1) {
      const index = this.#order[Math.floor((x / width) * nodes)];
      for (let band = 0; band < bands; band += 1) {
        const step = Math.max(0, Math.min(100, Math.round(this.#scores.share(index, band - 1) * 100)));
        const [red, green, blue] = table[step].rgb;
        const place = (band * width + x) * 4;
        data[place] = red;
        data[place + 1] = green;
        data[place + 2] = blue;
        data[place + 3] = 255;
      }
    }
    context.putImageData(this.#picture, 0, 0);
  }

  #glanceCell(event) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    const bands = this.#scores.plugins.length + 1;
    const row = Math.floor(((event.clientX - left) / width) * this.#order.length);
    const band = Math.floor(((event.clientY - top) / height) * bands);
    return [Math.max(0, Math.min(this.#order.length - 1, row)), Math.max(0, Math.min(bands - 1, band))];
  }

  #overGlance(event) {
    const [row, band] = this.#glanceCell(event);
    this.#tell(event, this.#order[row], band + 1);
  }

  #intoGlance(event) {
    const [row, band] = this.#glanceCell(event);
    this.#grid.go(row, band + 1);
    this.#grid.element.focus({ preventScroll: true });
  }
}
