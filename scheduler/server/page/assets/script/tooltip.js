// One tooltip for all canvases and grids. What it says is in labels as well: it is for those who see it.

import { el, fill } from "./dom.js";

const box = el("div.tooltip", { role: "presentation", hidden: true });

/** Shows `children` beside a point of the window. */
export function showTooltip(x, y, ...children) {
  if (!box.isConnected) document.body.append(box);
  fill(box, ...children);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > innerWidth - 8 ? Math.max(8, x - width - 14) : x + 14;
  const top = y + 16 + height > innerHeight - 8 ? Math.max(8, y - height - 12) : y + 16;
  box.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(top)}px)`);
}

export function hideTooltip() {
  box.hidden = true;
}

/** A line of a tooltip: what, and how much. */
export function tooltipRow(name, value) {
  return el("div.tooltip-row", {}, el("span", {}, name), el("span.number", {}, value));
}
