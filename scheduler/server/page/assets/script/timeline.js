// What happened when: the steps of an attempt, and a pod's way through the queue.

import { el } from "./dom.js";
import { clock, count, plural, seconds } from "./format.js";
import { ago } from "./parts.js";

/** The steps of an attempt, each as long as it took. */
export function steps(list) {
  const total = list.reduce((sum, step) => sum + step.seconds, 0);
  let begun = 0;
  const rows = list.map((step) => {
    const left = total > 0 ? (begun / total) * 100 : 0;
    const width = total > 0 ? (step.seconds / total) * 100 : 0;
    begun += step.seconds;
    const code = step.code ?? "Success";
    const failed = code !== "Success" && code !== "Skip";
    const bar = el(`span.step-bar${failed ? ".failed" : ""}`, { style: { left: `${left}%`, width: `${width}%` } });
    return el(
      "li",
      {},
      el("span.step-name", {}, step.point, step.plugin ? el("span.dim", {}, ` ${step.plugin}`) : null),
      el("span.step-track", { "aria-hidden": "true" }, bar),
      el("span.number", {}, seconds(step.seconds)),
      failed || step.error ? el("span.step-error", {}, [failed ? code : "", step.error ?? ""].filter(Boolean).join(": ")) : null,
    );
  });
  return [el("ol.steps", {}, rows), el("p.dim.small", {}, `${plural(list.length, "step")}, ${seconds(total)} in all`)];
}

const WORDS = {
  Added: "Came to the queue",
  Gated: "Held back by a gate",
  Activated: "Moved to the active queue",
  Popped: "Taken for an attempt",
  Failed: "Came back from an attempt",
  Woken: "Woken",
  Kept: "Left waiting: the event does not help",
  BackoffOver: "Backoff is over",
  Flushed: "Tried again after waiting long",
  Bound: "Bound",
  Deleted: "Deleted",
};

/** A pod's way through the queue, the newest first. */
export function queueHistory(events, now) {
  const items = [...events].reverse().map((event) => {
    const details = [
      event.event ? el("span", {}, "by ", el("code", {}, event.event)) : null,
      event.object ? el("span", {}, event.object) : null,
      event.plugin ? el("span", {}, `hint of ${event.plugin}`) : null,
      event.queue ? el("span", {}, `→ ${event.queue}`) : null,
    ];
    const times = (event.count ?? 1) > 1 ? el("span.times", {}, `× ${count(event.count)}`) : null;
    return el(
      `li.event.${event.what === "Kept" ? "quiet" : "loud"}`,
      {},
      el("div", {}, el("strong", {}, WORDS[event.what] ?? event.what), " ", times),
      el("div.details", {}, details),
      el("div.dim.small", { title: event.time }, clock(event.time, { fine: true }), ", ", ago(event.until || event.time, now)),
    );
  });
  return el("ol.history", {}, items);
}
