// The keys.

import { el } from "./dom.js";

const KEYS = [
  ["/", "search pods and nodes"],
  ["1, 2, 3", "queue, decisions, cluster"],
  ["p", "pause and go on, where decisions run by"],
  ["t", "colours: as the system has it, light, dark"],
  ["Arrows, Page, Home, End", "move in a heat map, a map or a table"],
  ["Ctrl + Home, Ctrl + End", "first and last node"],
  ["Arrow up from the first row", "reach the heads; Enter there sorts"],
  ["Enter", "open what is marked"],
  ["?", "this list"],
  ["Esc", "close"],
];

/** The dialog with the list of keys. */
export function helpDialog() {
  const rows = KEYS.map(([keys, words]) => el("div", {}, el("dt", {}, el("kbd", {}, keys)), el("dd", {}, words)));
  const close = el("button.quiet", { type: "submit" }, "Close");
  const dialog = el("dialog.keys", { "aria-label": "Keys" }, el("h2", {}, "Keys"), el("dl", {}, rows), el("form", { method: "dialog" }, close));
  document.body.append(dialog);
  return dialog;
}
