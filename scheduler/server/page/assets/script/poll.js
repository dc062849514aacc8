// Asking again and again, without being a burden: only for what changed, less often while it fails, and not at all
// while nobody looks.

const INTERVAL = 2000;
const LONGEST = 30000;

/**
 * Keeps `take` informed of the answer at `path`.
 *
 * `fail` is told of errors, and `state` of what goes on: "live", "paused", "hidden", "failing", or "report" where
 * nothing can change. A report is asked once.
 */
export class Poll {
  #source;
  #path;
  #take;
  #fail;
  #state;
  #tag = "";
  #timer = 0;
  #failures = 0;
  #paused = false;
  #asking = null;
  #ended = false;
  #seen = () => this.#visibility();

  constructor(source, path, take, { fail = () => {}, state = () => {} } = {}) {
    this.#source = source;
    this.#path = path;
    this.#take = take;
    this.#fail = fail;
    this.#state = state;
    document.addEventListener("visibilitychange", this.#seen);
    this.#ask();
  }

  /** Asks for something else from now on, at once. */
  at(path) {
    if (path === this.#path) return;
    this.#path = path;
    this.#tag = "";
    this.now();
  }

  /** Asks at once. */
  now() {
    this.#asking?.abort();
    clearTimeout(this.#timer);
    this.#ask();
  }

  pause(paused) {
    if (this.#paused === paused) return;
    this.#paused = paused;
    if (paused) {
      clearTimeout(this.#timer);
      this.#state("paused");
    } else this.now();
  }

  end() {
    this.#ended = true;
    this.#asking?.abort();
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.#seen);
  }

  #visibility() {
    if (this.#paused || this.#ended) return;
    if (document.hidden) {
      clearTimeout(this.#timer);
      this.#state("hidden");
    } else this.now();
  }

  async #ask() {
    if (this.#ended) return;
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const answer = await this.#source.get(this.#path, { known: this.#tag, signal: asking.signal });
      if (asking.signal.aborted) return;
      this.#failures = 0;
      this.#tag = answer.tag;
      this.#state(this.#paused ? "paused" : this.#source.live ? "live" : "report");
      if (!answer.unchanged) this.#take(answer.data);
    } catch (problem) {
      if (asking.signal.aborted) return;
      this.#failures += 1;
      this.#state("failing", this.#wait());
      this.#fail(problem);
    }
    if (this.#source.live && !this.#paused && !document.hidden) {
      this.#timer = setTimeout(() => this.#ask(), this.#wait());
    }
  }

  /** Milliseconds until the next time; spread a little, so that many pages do not ask in step. */
  #wait() {
    if (this.#failures === 0) return INTERVAL;
    return Math.min(LONGEST, INTERVAL * 2 ** this.#failures) * (0.8 + 0.4 * Math.random());
  }
}
