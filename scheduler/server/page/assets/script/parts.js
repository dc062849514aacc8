// Small parts that several views are made of.

import { el } from "./dom.js";
import { count, podParts, relative } from "./format.js";
import { href } from "./route.js";

const RESULTS = {
  Scheduled: ["●", "good"],
  Unschedulable: ["▲", "warn"],
  Error: ["✕", "bad"],
  Gated: ["◌", "quiet"],
  Pending: ["▲", "warn"],
  Unknown: ["?", "quiet"],
};

/** What became of an attempt: a sign, a colour and the word. */
export function badge(result) {
  const [sign, tone] = RESULTS[result] ?? ["·", "quiet"];
  return el(`span.badge.${tone}`, {}, el("span", { "aria-hidden": "true" }, `${sign} `), result);
}

export function podLink(pod) {
  const [namespace, name] = podParts(pod);
  return el("a.name", { href: href(["pod", namespace, name]) }, el("span.dim", {}, `${namespace}/`), name);
}

export function nodeLink(node) {
  return el("a.name", { href: href(["node", node]) }, node);
}

/** When something is to happen: what is past is due. */
export function due(time, now) {
  return Date.parse(time) <= now ? el("time", { datetime: time, title: time }, "due") : ago(time, now);
}

/** A time as a distance from now, with the time itself in its title. */
export function ago(time, now) {
  if (!time) return el("span.dim", {}, "–");
  return el("time", { datetime: time, title: time }, relative(time, now));
}

/** A part of a page under a heading. */
export function section(title, ...children) {
  return el("section.card", {}, el("h2", {}, title), ...children);
}

/** Pairs of names and values; pairs without a value are left out. */
export function facts(pairs) {
  const given = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  return el("dl.facts", {}, given.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** A table: `heads` are texts (a leading > aligns right), `rows` lists of what is in the cells. */
export function table(label, heads, rows) {
  const right = heads.map((head) => head.startsWith(">"));
  const titles = heads.map((head, index) => el(right[index] ? "th.number" : "th", { scope: "col" }, head.replace(">", "")));
  const lines = rows.map((row) => {
    const cells = row.map((value, index) => {
      const props = { "data-label": heads[index].replace(">", "") };
      const tag = index === 0 ? "th" : "td";
      return el(right[index] ? `${tag}.number` : tag, index === 0 ? { scope: "row", ...props } : props, value);
    });
    return el("tr", {}, cells);
  });
  const head = el("thead", {}, el("tr", {}, titles));
  return el("div.scroll", { role: "region", tabindex: 0, "aria-label": label }, el("table", {}, head, el("tbody", {}, lines)));
}

/** Names that are many: the first, and the others when asked for. */
export function names(items, link, most = 8) {
  const first = el("span.names", {}, items.slice(0, most).map(link));
  if (items.length <= most) return first;
  const more = el("button.link", { type: "button" }, `and ${count(items.length - most)} more`);
  more.addEventListener("click", () => {
    // A thousand links are enough for anybody; more would make the page slow.
    more.replaceWith(...items.slice(most, most + 1000).map(link));
  });
  first.append(more);
  return first;
}

/** A bar of a share, with its words. */
export function meter(share, label) {
  const bar = el("span.meter-fill", { style: { width: `${Math.max(0, Math.min(1, share)) * 100}%` } });
  return el("span.meter", { role: "img", "aria-label": label }, bar);
}

/** What is shown while there is nothing to show. */
export function notice(text, tone = "") {
  return el(tone ? `p.notice.${tone}` : "p.notice", {}, text);
}

/** Focus moves to what is new, so that a reader's eyes and ears do. */
export function heading(kind, ...children) {
  return el("h1", { tabindex: -1 }, kind ? el("span.kind", {}, kind) : null, ...children);
}
