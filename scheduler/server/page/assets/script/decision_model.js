// What is read out of a decision, before anything is drawn.

import { count, listed, plural, signed } from "./format.js";

/** A decision's nodes that fit, as columns: names, totals, and for each plugin raw, normalized and weighted scores. */
export class Scores {
  constructor(decision) {
    const feasible = decision.feasible ?? {};
    this.names = feasible.names ?? [];
    this.totals = feasible.totals ?? [];
    this.plugins = feasible.columns ?? [];
    this.ranges = this.plugins.map(({ weighted }) => range(weighted));
    this.range = range(this.totals);
    this.rows = new Map(this.names.map((name, index) => [name, index]));
  }

  /** Whether there was anything to score: where one node fits, nothing is. */
  get scored() {
    return this.plugins.length > 0 && this.names.length > 0;
  }

  /** How strongly a cell is coloured, 0 to 1: a plugin's share of all it can give, a total's place among the totals. */
  share(row, column) {
    if (column < 0) {
      const [low, high] = this.range;
      return high === low ? 1 : (this.totals[row] - low) / (high - low);
    }
    const { weight, weighted } = this.plugins[column];
    return weight === 0 ? 0 : weighted[row] / (100 * weight);
  }

  /** Rows in an order: by the total (key "total"), by a plugin's points, or by name. */
  sorted(key, descending) {
    const order = this.names.map((_, index) => index);
    const column = this.plugins.find(({ plugin }) => plugin === key);
    const values = column ? column.weighted : this.totals;
    if (key === "name") order.sort((a, b) => (this.names[a] < this.names[b] ? -1 : 1));
    else order.sort((a, b) => values[a] - values[b] || this.totals[a] - this.totals[b] || b - a);
    return descending === (key !== "name") ? (key === "name" ? order : order.reverse()) : key === "name" ? order.reverse() : order;
  }

  /** What each plugin adds to row `a` over row `b`, the largest difference first; plugins that make none are left out. */
  differences(a, b) {
    const all = this.plugins.map(({ plugin, weighted }) => ({ plugin, points: weighted[a] - weighted[b] }));
    return all.filter(({ points }) => points !== 0).sort((x, y) => Math.abs(y.points) - Math.abs(x.points));
  }
}

/** What became of a pod and why, in words. */
export function sentence(decision) {
  const { summary } = decision;
  const scores = new Scores(decision);
  if (summary.result === "Scheduled") return placed(decision, scores);
  if (summary.result === "Gated") return "Not tried: the pod is held back by a scheduling gate.";
  if (summary.result === "Error") return "The attempt failed; the pod is tried again.";
  if (summary.feasible > 0) return `${plural(summary.feasible, "node")} fit, and the pod was turned down after that.`;
  const nodes = summary.nodes ?? 0;
  const parts = [nodes === 0 ? "There are no nodes." : `None of ${plural(nodes, "node")} fits.`];
  if (summary.nominatedNode) parts.push(`Evictions are making room on ${summary.nominatedNode}.`);
  return parts.join(" ");
}

function placed(decision, scores) {
  const { summary } = decision;
  const winner = scores.rows.get(summary.node);
  const fit = `${count(summary.feasible ?? 0)} of ${plural(summary.evaluated ?? summary.nodes ?? 0, "node")} fit`;
  if (decision.nominatedPath) return "Placed on the node that evictions had made room on.";
  if (!scores.scored || winner === undefined) {
    return summary.feasible === 1 ? `The only node of ${count(summary.evaluated ?? 0)} that fits.` : `${fit}.`;
  }
  const total = plural(scores.totals[winner], "point");
  const ties = decision.ties ?? [];
  const rest = runnerUp(scores, winner, ties);
  const lead = ties.length > 1 ? `${total}, as many as ${plural(ties.length - 1, "other")}: drawn by lot` : `${total}, the most`;
  if (rest === null) return `${lead}; ${fit}.`;
  const ahead = scores.totals[winner] - scores.totals[rest];
  const why = scores.differences(winner, rest).map(({ plugin, points }) => `${plugin} ${signed(points)}`);
  const over = `${count(ahead)} ahead of ${scores.names[rest]}`;
  return `${lead}; ${fit}. ${over[0].toUpperCase()}${over.slice(1)}${why.length ? `: ${listed(why, 4)}` : ""}.`;
}

/** The best node after those that tie with the winner; the first that ties where all do; null where there is none. */
export function runnerUp(scores, winner, ties = []) {
  const tied = new Set(ties);
  const next = scores.names.findIndex((name, index) => index !== winner && !tied.has(name));
  if (next >= 0) return next;
  const other = scores.names.findIndex((_, index) => index !== winner);
  return other < 0 ? null : other;
}

function range(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return values.length === 0 ? [0, 0] : [low, high];
}
