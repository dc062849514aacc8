// How full the nodes are: each a cell of a canvas, in groups, coloured by what is requested of what can be allocated.

import { el, fill } from "./dom.js";
import { amount, count, percent, plural } from "./format.js";
import { shade } from "./scale.js";
import { onTheme } from "./theme.js";
import { hideTooltip, showTooltip, tooltipRow } from "./tooltip.js";

const HEAD = 30;
const BETWEEN = 14;
const AREA = 380;
/** Up to so many nodes each is a tile with its name. */
const TILES = 120;
const TILE = [112, 44];

/** The map. `open(node)` when a node is chosen, `say` announces what the cursor is on. */
export class PackingMap {
  #options;
  #canvas;
  #model = null;
  #groups = [];
  #cell = 12;
  #line = 12;
  #gap = 2;
  #columns = 1;
  #cursor = -1;
  #places = [];
  #unsubscribe;
  #observer;
  #frame = 0;

  constructor(options) {
    this.#options = options;
    this.#canvas = el("canvas.packing-canvas", {
      role: "application",
      tabindex: 0,
      "aria-label": "Map of the nodes by fullness. The arrow keys move from node to node, Enter opens one. The table below has the same.",
      on: {
        pointermove: (event) => this.#hover(event),
        pointerleave: () => hideTooltip(),
        click: (event) => this.#choose(this.#at(event)),
        keydown: (event) => this.#key(event),
        focus: () => this.#move(Math.max(0, this.#cursor)),
        blur: () => {
          hideTooltip();
          this.#schedule();
        },
      },
    });
    this.element = el("div.packing", {}, this.#canvas);
    this.#unsubscribe = onTheme(() => this.#schedule());
    this.#observer = new ResizeObserver(() => this.#schedule());
    this.#observer.observe(this.element);
  }

  /** Shows the nodes of `model` in `groups`: [{name, rows}]. */
  show(model, groups) {
    this.#model = model;
    this.#groups = groups;
    this.#schedule();
  }

  end() {
    this.#unsubscribe();
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
    hideTooltip();
  }

  #schedule() {
    if (this.#frame === 0) {
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0;
        this.#paint();
      });
    }
  }

  /** Places every node: as large cells as let all groups be seen at once, within reason. */
  #arrange(width) {
    const nodes = this.#groups.reduce((sum, { rows }) => sum + rows.length, 0);
    const tiles = nodes <= TILES;
    const wanted = tiles ? TILE[0] : Math.max(8, Math.min(46, Math.sqrt((width * AREA) / Math.max(1, nodes))));
    this.#gap = wanted < 14 ? 1 : 2;
    this.#columns = Math.max(1, Math.floor((width + this.#gap) / (wanted + this.#gap)));
    // Where a row is full it reaches from edge to edge.
    this.#cell = (width + this.#gap) / this.#columns - this.#gap;
    this.#line = tiles ? TILE[1] : this.#cell;
    this.#places = [];
    let top = 0;
    const heads = [];
    for (const group of this.#groups) {
      heads.push({ group, top });
      top += HEAD;
      group.rows.forEach((row, index) => {
        const x = (index % this.#columns) * (this.#cell + this.#gap);
        const y = top + Math.floor(index / this.#columns) * (this.#line + this.#gap);
        this.#places.push({ row, x, y, group });
      });
      top += Math.ceil(group.rows.length / this.#columns) * (this.#line + this.#gap) + BETWEEN;
    }
    return { heads, height: Math.max(1, top - BETWEEN) };
  }

  #paint() {
    if (this.#model === null) return;
    const width = this.element.clientWidth;
    if (width === 0) return;
    const { heads, height } = this.#arrange(width);
    const canvas = this.#canvas;
    const ratio = devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.setProperty("height", `${height}px`);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    const ink = style.getPropertyValue("--text").trim();
    const muted = style.getPropertyValue("--muted").trim();
    const font = style.getPropertyValue("--sans").trim();
    for (const { group, top } of heads) this.#head(context, group, top, width, { ink, muted, font });
    context.textBaseline = "middle";
    for (const { row, x, y } of this.#places) this.#node(context, row, x, y, { muted, font });
    if (document.activeElement === canvas && this.#places[this.#cursor]) {
      const { x, y } = this.#places[this.#cursor];
      context.lineWidth = 2;
      context.strokeStyle = style.getPropertyValue("--focus").trim();
      context.strokeRect(x - 1, y - 1, this.#cell + 2, this.#line + 2);
    }
  }

  #head(context, group, top, width, { ink, muted, font }) {
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.font = `600 13px ${font}`;
    context.fillStyle = ink;
    const middle = top + HEAD / 2 - 2;
    const rest = `${plural(group.rows.length, "node")}, ${percent(this.#model.shareOf(group.rows))} requested`;
    context.fillText(group.name, 0, middle, width * 0.6);
    const used = Math.min(width * 0.6, context.measureText(group.name).width);
    context.font = `400 12px ${font}`;
    context.fillStyle = muted;
    context.fillText(rest, used + 10, middle, width - used - 10);
  }

  #node(context, row, x, y, { muted, font }) {
    const share = this.#model.share(row);
    const { back, text } = shade(share);
    context.fillStyle = back;
    context.fillRect(x, y, this.#cell, this.#line);
    const tile = this.#line !== this.#cell;
    if (this.#model.unschedulable[row]) this.#hatch(context, x, y, tile ? 8 : this.#cell, muted);
    context.fillStyle = text;
    if (tile) {
      context.textAlign = "left";
      const inside = this.#model.unschedulable[row] ? x + 14 : x + 8;
      context.font = `400 11px ${font}`;
      context.fillText(shortened(context, this.#model.names[row], this.#cell - 20), inside, y + 14);
      context.font = `600 13px ${font}`;
      context.fillText(percent(share), inside, y + 30);
    } else if (this.#cell >= 26 && !this.#model.unschedulable[row]) {
      context.textAlign = "center";
      context.font = `500 ${Math.min(12, Math.floor(this.#cell / 2.6))}px ${font}`;
      context.fillText(String(Math.round(share * 100)), x + this.#cell / 2, y + this.#line / 2 + 0.5);
    }
  }

  /** The sign of a node that takes no pods. */
  #hatch(context, x, y, width, colour) {
    const height = this.#line;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    for (let offset = -height; offset < width; offset += 5) {
      context.beginPath();
      context.moveTo(x + offset, y + height);
      context.lineTo(x + offset + height, y);
      context.stroke();
    }
    context.restore();
  }

  #at(event) {
    const { left, top } = this.#canvas.getBoundingClientRect();
    const x = event.clientX - left;
    const y = event.clientY - top;
    return this.#places.findIndex((place) => {
      const [right, bottom] = [place.x + this.#cell + this.#gap, place.y + this.#line + this.#gap];
      return x >= place.x && x < right && y >= place.y && y < bottom;
    });
  }

  #hover(event) {
    const index = this.#at(event);
    this.#canvas.classList.toggle("over", index >= 0);
    if (index < 0) hideTooltip();
    else this.#tell(this.#places[index].row, event.clientX, event.clientY);
  }

  #tell(row, x, y) {
    const model = this.#model;
    const lines = model.resources.map((resource) => {
      const used = amount(resource, model.used(resource, row));
      const room = amount(resource, model.room(resource, row));
      return tooltipRow(resource, `${used} of ${room} (${percent(model.share(row, resource))})`);
    });
    const state = model.unschedulable[row] ? el("div", {}, "unschedulable") : null;
    const taints = model.taints[row] ? el("div.small", {}, model.taints[row]) : null;
    showTooltip(x, y, el("strong", {}, model.names[row]), lines, state, taints);
  }

  #choose(index) {
    if (index >= 0) this.#options.open(this.#model.names[this.#places[index].row]);
  }

  #key(event) {
    const columns = this.#columns;
    const moves = {
      ArrowLeft: this.#cursor - 1,
      ArrowRight: this.#cursor + 1,
      ArrowUp: this.#vertical(-1),
      ArrowDown: this.#vertical(1),
      PageUp: this.#cursor - columns * 5,
      PageDown: this.#cursor + columns * 5,
      Home: 0,
      End: this.#places.length - 1,
    };
    if (Object.hasOwn(moves, event.key)) this.#move(moves[event.key]);
    else if (event.key === "Enter") this.#choose(this.#cursor);
    else return;
    event.preventDefault();
  }

  /** The node above or below, across groups. */
  #vertical(direction) {
    const from = this.#places[this.#cursor];
    if (!from) return 0;
    const step = direction > 0 ? 1 : -1;
    let best = this.#cursor;
    let line = null;
    for (let index = this.#cursor + step; index >= 0 && index < this.#places.length; index += step) {
      const place = this.#places[index];
      if (place.y === from.y) continue;
      line ??= place.y;
      if (place.y !== line) break;
      if (best === this.#cursor || Math.abs(place.x - from.x) < Math.abs(this.#places[best].x - from.x)) best = index;
    }
    return best;
  }

  #move(index) {
    if (this.#places.length === 0) return;
    this.#cursor = Math.max(0, Math.min(this.#places.length - 1, index));
    this.#schedule();
    const { row, x, y, group } = this.#places[this.#cursor];
    const model = this.#model;
    const box = this.#canvas.getBoundingClientRect();
    const above = box.top + y - 80;
    const below = box.top + y + this.#line + 40 - innerHeight;
    if (above < 0) scrollBy(0, above);
    else if (below > 0) scrollBy(0, below);
    const { left, top } = this.#canvas.getBoundingClientRect();
    this.#tell(row, left + x + this.#cell, top + y + this.#line);
    const state = model.unschedulable[row] ? ", unschedulable" : "";
    this.#options.say(`${model.names[row]}, ${group.name}: ${percent(model.share(row))} requested${state}`);
  }
}

/** A text as far as it has room. */
function shortened(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return `${text.slice(0, length)}…`;
}

/** How many nodes are how full, as bars. */
export function histogram(shares) {
  const bins = new Array(10).fill(0);
  for (const share of shares) bins[Math.max(0, Math.min(9, Math.floor(share * 10)))] += 1;
  const most = Math.max(1, ...bins);
  const bars = bins.map((nodes, bin) => {
    const label = `${bin * 10} to ${bin * 10 + 10}%: ${plural(nodes, "node")}`;
    const bar = el("span.bin-bar", { style: { height: `${(nodes / most) * 100}%`, "background-color": shade((bin + 0.5) / 10).back } });
    return el("li.bin", { title: label }, el("span.bin-count", {}, nodes > 0 ? count(nodes) : ""), el("span.bin-track", {}, bar), el("span.bin-name", {}, `${bin * 10}`));
  });
  return fill(el("ol.histogram", { "aria-label": "Nodes by fullness in per cent" }), bars);
}
