// Where the data come from: the scheduler's decisions API, or the answers that a report carries with it.

import { podParts } from "./format.js";

/** The API next to the page. */
export class LiveSource {
  live = true;
  title = "";
  notes = [];

  /**
   * The answer at a path under /explain/v1/, with its tag. `known` is a tag that the caller has the answer of:
   * where nothing changed there is none. Throws SourceError.
   */
  async get(path, { known = "", signal } = {}) {
    const headers = known === "" ? {} : { "If-None-Match": known };
    let answer;
    try {
      answer = await fetch(`explain/v1/${path}`, { headers, signal, cache: "no-store", credentials: "same-origin" });
    } catch (problem) {
      if (signal?.aborted) throw problem;
      throw new SourceError(0, "The scheduler can't be reached.");
    }
    if (answer.status === 304) return { unchanged: true, tag: known };
    if (!answer.ok) throw new SourceError(answer.status, await complaint(answer));
    return { unchanged: false, tag: answer.headers.get("ETag") ?? "", data: await answer.json() };
  }
}

/** What a report carries: answers by path, each compressed until it is asked for. */
export class ReportSource {
  live = false;
  #answers;

  constructor({ title, answers, notes }) {
    this.title = title;
    this.notes = notes;
    this.#answers = new Map(Object.entries(answers));
  }

  async get(path, { known = "" } = {}) {
    if (known !== "") return { unchanged: true, tag: known };
    const [quoted, query = ""] = path.split("?");
    const place = quoted.split("/").map(decodeURIComponent).join("/");
    if (place === "search") return { unchanged: false, tag: "report", data: await this.#found(new URLSearchParams(query)) };
    const data = await this.#answer(place);
    if (place === "decisions") return { unchanged: false, tag: "report", data: filtered(data, query) };
    return { unchanged: false, tag: "report", data: await this.#whole(place, data) };
  }

  async #answer(place) {
    const packed = this.#answers.get(place);
    if (packed === undefined) throw new SourceError(404, place.endsWith("/evaluation") ? "It was not worked out." : "This report does not have it.");
    return unpacked(packed);
  }

  /** What the API does to find pods and nodes, with those that the report has. */
  async #found(query) {
    const [text, limit] = [query.get("text").toLowerCase(), Number(query.get("limit"))];
    const matching = (names, start) =>
      names.filter((name) => name.toLowerCase().includes(text)).sort((a, b) => start(b) - start(a) || (a < b ? -1 : 1));
    const places = [...this.#answers.keys()].filter((place) => !place.endsWith("/evaluation"));
    const below = (folder) => places.filter((place) => place.startsWith(folder)).map((place) => place.slice(folder.length));
    const pods = matching(below("pods/"), (pod) => pod.toLowerCase().startsWith(text) || podParts(pod)[1].toLowerCase().startsWith(text));
    const nodes = matching(below("nodes/"), (name) => name.toLowerCase().startsWith(text));
    const shown = pods.slice(0, limit).map(async (pod) => ({ ...(await this.#answer(`pods/${pod}`)), pod }));
    return { pods: await Promise.all(shown), podCount: pods.length, nodes: nodes.slice(0, limit), nodeCount: nodes.length };
  }

  /** A pod comes with its latest decision, which is in the report once. */
  async #whole(place, data) {
    const [latest] = data.decisions ?? [];
    if (!place.startsWith("pods/") || latest === undefined || data.latest) return data;
    return { ...data, latest: await this.#answer(`decisions/${latest.id}`) };
  }
}

/** An answer that can't be had: the HTTP status (0 where there was none) and words for people. */
export class SourceError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The source of this document. */
export function sourceOf(text) {
  return text.trim() === "" ? new LiveSource() : new ReportSource(JSON.parse(text));
}

/** The path of something with its query; what is empty is left out. */
export function apiPath(parts, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const place = parts.map(encodeURIComponent).join("/");
  return given.length === 0 ? place : `${place}?${new URLSearchParams(given)}`;
}

async function complaint(answer) {
  const words = {
    401: "Your credentials were not accepted. Open the page anew with berth page.",
    403: "You may not read this. The right is get on the non-resource URL /explain/v1/*.",
    404: "The scheduler does not know it, or no longer.",
    429: "The scheduler is asked too often.",
    503: "The scheduler can't answer at the moment.",
  };
  let told = {};
  try {
    told = JSON.parse(await answer.text());
  } catch {
    // Not JSON: the status has to do.
  }
  return told.error || words[answer.status] || `The scheduler answered with status ${answer.status}.`;
}

async function unpacked(text) {
  const binary = atob(text);
  const packed = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) packed[index] = binary.charCodeAt(index);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** What the API does with the filters of decisions, on a list that is whole. */
function filtered(page, query) {
  const wanted = new URLSearchParams(query);
  const before = Number(wanted.get("before") ?? Infinity);
  const matching = page.items.filter(
    (item) =>
      item.id < before &&
      (!wanted.has("pod") || item.pod === wanted.get("pod")) &&
      (!wanted.has("node") || item.node === wanted.get("node")) &&
      (!wanted.has("namespace") || item.pod.startsWith(`${wanted.get("namespace")}/`)) &&
      (!wanted.has("result") || item.result === wanted.get("result")),
  );
  const items = matching.slice(0, Number(wanted.get("limit") ?? 100));
  return { items, before: items.length < matching.length ? items[items.length - 1].id : null };
}
