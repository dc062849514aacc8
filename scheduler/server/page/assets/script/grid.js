// A table of any length: only the rows in sight are elements. To assistive technology it is a grid of all rows, with
// one place in the order of focus and the arrow keys to move in it.

import { breakable, el, fill, freshId } from "./dom.js";

const OVERSCAN = 6;

/**
 * A grid with a fixed first column.
 *
 * `columns`: {key, label, title, width, sortable}, `width` the least in pixels, and whether it takes its share of what is
 * left: [92, true]; `rows`: how many rows there are; `draw(cell, row, column)` fills a cell;
 * `describe(row, column)` words it for the cursor's announcement; `sort(key)` when a header is chosen; `moved(row, column)`
 * when the cursor moves; `open(row)` on Enter or a click in the first column; `hover(event, row, column)`, with row -1
 * when the pointer leaves.
 */
export class Grid {
  #options;
  #columns;
  #rows;
  #height;
  #pool = new Map();
  #spare = [];
  #cursor = { row: 0, column: 0 };
  #sorted = { key: "", descending: true };
  #frame = 0;
  #id = freshId("grid");
  #scroller;
  #head;
  #body;
  #observer;

  constructor(options) {
    this.#options = options;
    this.#columns = options.columns;
    this.#rows = options.rows;
    this.#height = options.rowHeight ?? 28;
    this.#head = el("div.grid-head", { role: "row", "aria-rowindex": 1 });
    this.#body = el("div.grid-body", { role: "rowgroup" });
    this.#scroller = el(
      "div.grid",
      {
        role: "grid",
        tabindex: 0,
        "aria-label": options.label,
        "aria-colcount": this.#columns.length,
        on: {
          scroll: () => this.#schedule(),
          keydown: (event) => this.#key(event),
          click: (event) => this.#click(event),
          focus: () => this.#focus(),
          blur: () => this.#mark(),
          pointermove: (event) => this.#hover(event),
          pointerleave: (event) => options.hover?.(event, -1, -1),
        },
      },
      el("div", { role: "rowgroup" }, this.#head),
      this.#body,
    );
    // All rows are as wide as each other, whatever is in them, so that their columns are in line.
    const least = this.#columns.reduce((sum, { width: [pixels] }) => sum + pixels, 0);
    const tracks = this.#columns.map(({ width: [pixels, grows] }) => (grows ? `minmax(${pixels}px, 1fr)` : `${pixels}px`));
    this.#scroller.style.setProperty("--tracks", tracks.join(" "));
    this.#scroller.style.setProperty("--wide", `max(100%, ${least}px)`);
    this.#scroller.style.setProperty("--row", `${this.#height}px`);
    this.#drawHead();
    this.#observer = new ResizeObserver(() => this.#schedule());
    this.#observer.observe(this.#scroller);
    this.resize(this.#rows);
  }

  get element() {
    return this.#scroller;
  }

  get cursor() {
    return this.#cursor;
  }

  /** There are `rows` rows now; all are drawn anew. */
  resize(rows) {
    this.#rows = rows;
    this.#scroller.setAttribute("aria-rowcount", rows + 1);
    this.#body.style.setProperty("height", `${rows * this.#height}px`);
    this.#scroller.style.setProperty("--rows", rows);
    this.#cursor.row = Math.min(this.#cursor.row, Math.max(0, rows - 1));
    this.redraw();
  }

  /** Draws the rows in sight anew. */
  redraw() {
    for (const row of this.#pool.values()) this.#free(row);
    this.#pool.clear();
    this.#schedule();
  }

  /** Shows by what the rows are sorted. */
  sorted(key, descending) {
    this.#sorted = { key, descending };
    this.#drawHead();
  }

  /** Moves the cursor to a cell and brings it into sight. */
  go(row, column = this.#cursor.column, { quietly = false } = {}) {
    this.#cursor = {
      row: Math.max(-1, Math.min(this.#rows - 1, row)),
      column: Math.max(0, Math.min(this.#columns.length - 1, column)),
    };
    this.#reveal();
    this.#mark();
    if (!quietly) this.#options.moved?.(this.#cursor.row, this.#cursor.column);
  }

  end() {
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  #schedule() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#render());
  }

  #render() {
    this.#frame = 0;
    // Read once, then write: scrolling never makes the browser lay out twice in a frame.
    const { scrollTop, clientHeight } = this.#scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.#height) - OVERSCAN);
    const last = Math.min(this.#rows - 1, Math.ceil((scrollTop + clientHeight) / this.#height) + OVERSCAN);
    for (const [row, element] of this.#pool) {
      if (row < first || row > last) {
        this.#free(element);
        this.#pool.delete(row);
      }
    }
    const fresh = [];
    for (let row = first; row <= last; row += 1) {
      if (!this.#pool.has(row)) fresh.push(this.#row(row));
    }
    this.#body.append(...fresh.filter((element) => !element.isConnected));
    for (const element of this.#spare) element.hidden = true;
    this.#mark();
  }

  #free(element) {
    this.#spare.push(element);
  }

  #row(row) {
    const element = this.#spare.pop() ?? this.#emptyRow();
    element.hidden = false;
    element.setAttribute("aria-rowindex", row + 2);
    element.style.setProperty("transform", `translateY(${row * this.#height}px)`);
    element.classList.toggle("odd", row % 2 === 1);
    element.dataset.row = row;
    for (const [column, cell] of [...element.children].entries()) {
      cell.id = `${this.#id}-${row}-${column}`;
      this.#options.draw(cell, row, column);
    }
    this.#pool.set(row, element);
    return element;
  }

  #emptyRow() {
    const cells = this.#columns.map((column, index) => {
      const role = index === 0 ? "rowheader" : "gridcell";
      return el(`div.cell${index === 0 ? ".first" : ""}`, { role, "aria-colindex": index + 1, "data-column": index });
    });
    return el("div.grid-row", { role: "row" }, cells);
  }

  #drawHead() {
    const cells = this.#columns.map(({ key, label, title, sortable }, column) => {
      const chosen = this.#sorted.key === key;
      const direction = this.#sorted.descending ? "descending" : "ascending";
      const arrow = chosen ? (this.#sorted.descending ? " ↓" : " ↑") : "";
      return el(
        `div.cell.head${column === 0 ? ".first" : ""}${sortable ? ".sortable" : ""}`,
        {
          role: "columnheader",
          id: `${this.#id}--1-${column}`,
          title,
          "aria-colindex": column + 1,
          "aria-sort": sortable ? (chosen ? direction : "none") : null,
          "data-column": column,
        },
        el("span", {}, breakable(label)),
        el("span.arrow", { "aria-hidden": "true" }, arrow),
      );
    });
    fill(this.#head, cells);
    this.#mark();
  }

  #mark() {
    for (const element of this.#scroller.querySelectorAll(".cursor")) element.classList.remove("cursor");
    if (document.activeElement !== this.#scroller) return;
    const { row, column } = this.#cursor;
    const parent = row < 0 ? this.#head : this.#pool.get(row);
    const cell = parent?.children[column];
    if (cell === undefined) return;
    cell.classList.add("cursor");
    this.#scroller.setAttribute("aria-activedescendant", cell.id);
  }

  #reveal() {
    const { row, column } = this.#cursor;
    const scroller = this.#scroller;
    const head = this.#head.offsetHeight;
    if (row >= 0) {
      const top = row * this.#height;
      const room = scroller.clientHeight - head;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      else if (top + this.#height > scroller.scrollTop + room) scroller.scrollTop = top + this.#height - room;
    }
    const cell = this.#head.children[column];
    const fixed = this.#head.firstElementChild.offsetWidth;
    if (column === 0) scroller.scrollLeft = 0;
    else if (cell.offsetLeft < scroller.scrollLeft + fixed) scroller.scrollLeft = cell.offsetLeft - fixed;
    else if (cell.offsetLeft + cell.offsetWidth > scroller.scrollLeft + scroller.clientWidth) {
      scroller.scrollLeft = cell.offsetLeft + cell.offsetWidth - scroller.clientWidth;
    }
    this.#render();
  }

  #focus() {
    this.#mark();
    this.#options.moved?.(this.#cursor.row, this.#cursor.column);
  }

  #key(event) {
    if (event.altKey || event.metaKey) return;
    const { row, column } = this.#cursor;
    const leap = Math.max(1, Math.floor(this.#scroller.clientHeight / this.#height) - 2);
    const moves = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [Math.max(0, row - leap), column],
      PageDown: [row + leap, column],
      Home: event.ctrlKey ? [0, 0] : [row, 0],
      End: event.ctrlKey ? [this.#rows - 1, this.#columns.length - 1] : [row, this.#columns.length - 1],
    };
    if (Object.hasOwn(moves, event.key)) this.go(...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.#choose(row, column);
    else return;
    event.preventDefault();
  }

  #choose(row, column) {
    if (row >= 0) this.#options.open?.(row, column);
    else if (this.#columns[column].sortable) this.#options.sort?.(this.#columns[column].key);
  }

  #click(event) {
    const place = this.#place(event);
    if (place === null) return;
    const [row, column] = place;
    this.go(row, column);
    if (row < 0 || column === 0) this.#choose(row, column);
  }

  #hover(event) {
    const place = this.#place(event);
    if (place === null || place[0] < 0) this.#options.hover?.(event, -1, -1);
    else this.#options.hover?.(event, ...place);
  }

  #place(event) {
    const cell = event.target.closest?.("[data-column]");
    if (!cell) return null;
    const row = cell.parentElement === this.#head ? -1 : Number(cell.parentElement.dataset.row);
    return [row, Number(cell.dataset.column)];
  }
}
