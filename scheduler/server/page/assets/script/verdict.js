// The winner beside the runner-up and any node asked for, plugin by plugin.

import { runnerUp } from "./decision_model.js";
import { breakable, el, fill, freshId } from "./dom.js";
import { count, signed } from "./format.js";
import { nodeLink } from "./parts.js";

/** The comparison of a decision's nodes. `asked` is the node that the reader asked for, `chosen` told of another. */
export function verdict(decision, scores, asked, chosen) {
  const winner = Math.max(0, scores.rows.get(decision.summary.node) ?? 0);
  const rest = runnerUp(scores, winner, decision.ties ?? []);
  const body = el("div");
  const note = el("p.small.dim", { role: "status" });
  const show = (name) => fill(body, comparison(scores, winner, rest, scores.rows.get(name) ?? null));
  const list = freshId("nodes");
  const input = el("input", { type: "search", list, placeholder: "any node", "aria-label": "Compare with node", spellcheck: "false" });
  input.value = asked ?? "";
  const options = el("datalist", { id: list }, scores.names.slice(0, 200).map((name) => el("option", { value: name })));
  input.addEventListener("change", () => {
    const name = input.value.trim();
    chosen(name);
    note.textContent = name === "" ? "" : verdictOn(decision, scores, name);
    show(name);
  });
  note.textContent = asked ? verdictOn(decision, scores, asked) : "";
  show(asked ?? "");
  return el("div.verdict", {}, el("label.inline", {}, "Compare with ", input), options, note, body);
}

/** What is to be said of a node that was asked for. */
function verdictOn(decision, scores, name) {
  if (scores.rows.has(name)) return "";
  const group = (decision.rejected ?? []).find(({ nodes }) => nodes.includes(name));
  if (group) return `${name} was turned down by ${group.plugin}: ${group.reasons.join(", ")}`;
  return `${name} is not among the nodes of this decision.`;
}

function comparison(scores, winner, rest, asked) {
  const shown = [winner];
  for (const row of [rest, asked]) if (row !== null && !shown.includes(row)) shown.push(row);
  const against = shown.length > 1 ? shown[shown.length - 1] : null;
  const largest = Math.max(1, ...scores.plugins.map(({ weighted }) => (against === null ? 0 : Math.abs(weighted[winner] - weighted[against]))));
  const heads = shown.map((row, index) => {
    const role = index === 0 ? "winner" : row === rest ? "runner-up" : "asked for";
    return el("th.number", { scope: "col" }, nodeLink(scores.names[row]), el("div.dim.small", {}, role));
  });
  const rows = scores.plugins.map(({ plugin, weight, raw, normalized, weighted }) => {
    const cells = shown.map((row) => {
      const title = `raw ${count(raw[row])} → normalized ${count(normalized[row])} × ${weight} = ${count(weighted[row])}`;
      return el("td.number", { title }, count(weighted[row]));
    });
    const name = el("th", { scope: "row" }, breakable(plugin), el("span.dim.small", {}, ` ×\u00a0${weight}`));
    return el("tr", {}, name, cells, against === null ? null : difference(weighted[winner] - weighted[against], largest));
  });
  const totals = shown.map((row) => el("td.number", {}, count(scores.totals[row])));
  const sum = against === null ? null : el("td.number.diff", {}, signed(scores.totals[winner] - scores.totals[against]));
  const over = against === null ? null : el("th", { scope: "col" }, el("span.over", {}, `Winner over ${scores.names[against]}`));
  return el(
    "div.scroll",
    { role: "region", tabindex: 0, "aria-label": "Winner compared" },
    el(
      "table.comparison",
      {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Plugin"), heads, over)),
      el("tbody", {}, rows),
      el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "Total"), totals, sum)),
    ),
  );
}

function difference(points, largest) {
  const side = points < 0 ? "minus" : "plus";
  const bar = el(`span.diff-bar.${side}`, { style: { width: `${(Math.abs(points) / largest) * 50}%` } });
  return el("td.diff", {}, el("span.diff-track", { "aria-hidden": "true" }, points === 0 ? null : bar), el("span.number", {}, signed(points)));
}
