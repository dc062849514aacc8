// The nodes in columns, as the API has them, with what views ask of them.

const SORTERS = new Intl.Collator("en", { numeric: true });

/** Nodes by requested of allocatable. `resource` is what `share` is about unless told otherwise. */
export class Cluster {
  constructor(view, resource = "cpu") {
    this.names = view.names;
    this.zones = view.zones ?? [];
    this.unschedulable = view.unschedulable ?? [];
    this.taints = view.taints ?? [];
    this.resources = [...new Set([...view.resources, "pods"])].filter((name) => name === "pods" || view.allocatable[name].some((value) => value > 0));
    this.resource = this.resources.includes(resource) ? resource : this.resources[0];
    this.#allocatable = { ...view.allocatable, pods: view.allowedPods };
    this.#requested = { ...view.requested, pods: view.pods };
  }

  #allocatable;
  #requested;

  used(resource, row) {
    return this.#requested[resource]?.[row] ?? 0;
  }

  room(resource, row) {
    return this.#allocatable[resource]?.[row] ?? 0;
  }

  /** What is requested of a resource of a node, as a share of what can be allocated. */
  share(row, resource = this.resource) {
    const room = this.room(resource, row);
    return room > 0 ? this.used(resource, row) / room : 0;
  }

  /** The same of several nodes together. */
  shareOf(rows, resource = this.resource) {
    let used = 0;
    let room = 0;
    for (const row of rows) {
      used += this.used(resource, row);
      room += this.room(resource, row);
    }
    return room > 0 ? used / room : 0;
  }

  /** Sums of a resource over all nodes: [used, room]. */
  total(resource) {
    const sum = (values) => (values ?? []).reduce((left, right) => left + right, 0);
    return [sum(this.#requested[resource]), sum(this.#allocatable[resource])];
  }

  /** All rows in groups ("zone", "taint", or "" for one group), the fullest nodes first. */
  groups(by) {
    const found = new Map();
    for (let row = 0; row < this.names.length; row += 1) {
      const name = by === "zone" ? this.zones[row] || "no zone" : by === "taint" ? this.taints[row] || "no taint" : "All nodes";
      const rows = found.get(name);
      if (rows === undefined) found.set(name, [row]);
      else rows.push(row);
    }
    const shares = Float64Array.from(this.names, (_, row) => this.share(row));
    for (const rows of found.values()) rows.sort((a, b) => shares[b] - shares[a] || a - b);
    return [...found].sort(([a], [b]) => SORTERS.compare(a, b)).map(([name, rows]) => ({ name, rows }));
  }

  /** All rows by a column: "name", "zone" or a resource. */
  sorted(key, descending) {
    const rows = this.names.map((_, row) => row);
    const texts = { name: this.names, zone: this.zones }[key];
    if (texts) rows.sort((a, b) => SORTERS.compare(texts[a] ?? "", texts[b] ?? "") || a - b);
    else {
      const shares = Float64Array.from(rows, (row) => this.share(row, key));
      rows.sort((a, b) => shares[a] - shares[b] || b - a);
    }
    return descending ? rows.reverse() : rows;
  }
}
