// How numbers, times and names are written.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const rounded = [0, 1, 2].map((digits) => new Intl.NumberFormat("en", { maximumFractionDigits: digits }));
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

/** 12345 → "12,345". */
export function count(value) {
  return whole.format(value);
}

/** "1 node", "2 nodes". */
export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A difference with its sign; the minus as wide as the plus. */
export function signed(value) {
  if (value === 0) return "0";
  return value > 0 ? `+${count(value)}` : `−${count(-value)}`;
}

/** 0.0042 → "4.2 ms". */
export function seconds(value) {
  if (value === 0) return "0";
  if (value < 1e-3) return `${trim(value * 1e6)} µs`;
  if (value < 1) return `${trim(value * 1e3)} ms`;
  if (value < 120) return `${trim(value)} s`;
  return span(value);
}

/** 3723 → "1 h 2 min". */
export function span(value) {
  const total = Math.max(0, Math.round(value));
  const days = Math.floor(total / 86400);
  const hours = Math.floor(total / 3600) % 24;
  const minutes = Math.floor(total / 60) % 60;
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  if (minutes > 0) return total % 60 > 0 ? `${minutes} min ${total % 60} s` : `${minutes} min`;
  return `${total} s`;
}

/** "3 min ago" or "in 5 s", seen from `now` (milliseconds). */
export function relative(time, now) {
  const then = Date.parse(time);
  if (Number.isNaN(then)) return "";
  const distance = (now - then) / 1000;
  if (distance >= 0) return distance < 1 ? "just now" : `${span(distance)} ago`;
  return `in ${span(-distance)}`;
}

/** The time of day, to the millisecond where asked. */
export function clock(time, { fine = false } = {}) {
  const when = new Date(time);
  if (Number.isNaN(when.getTime())) return time;
  const text = when.toLocaleTimeString("en-GB", { hour12: false });
  return fine ? `${text}.${String(when.getMilliseconds()).padStart(3, "0")}` : text;
}

/** An amount of a resource in base units, for people. */
export function amount(resource, value) {
  if (resource === "cpu") return trim(value / 1000);
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")) return bytes(value);
  return count(value);
}

/** 1610612736 → "1.5 Gi". */
export function bytes(value) {
  let rest = value;
  let unit = 0;
  while (Math.abs(rest) >= 1024 && unit < BINARY.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return unit === 0 ? count(rest) : `${trim(rest)} ${BINARY[unit]}`;
}

/** A share as a percentage: 0.934 → "93%". */
export function percent(value) {
  return `${Math.round(value * 100)}%`;
}

/** "namespace/name" in its two parts. */
export function podParts(pod) {
  const slash = pod.indexOf("/");
  return slash < 0 ? ["", pod] : [pod.slice(0, slash), pod.slice(slash + 1)];
}

/** "a, b and c"; beyond `most`, how many more. */
export function listed(items, most = 4) {
  if (items.length === 0) return "";
  const shown = items.slice(0, most);
  if (items.length > most) return `${shown.join(", ")} and ${count(items.length - most)} more`;
  if (shown.length === 1) return shown[0];
  return `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}`;
}

function trim(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return rounded[digits].format(value);
}
