// Where one is on the page is in the address after the #, so that it can be shared: #/decisions?pod=web&result=Error.

/** The address of a view. */
export function href(parts, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const place = `#/${parts.map(encodeURIComponent).join("/")}`;
  return given.length === 0 ? place : `${place}?${new URLSearchParams(given)}`;
}

/** The view that an address names: its parts, decoded, and its query. */
export function parsed(hash) {
  const [place, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = place.split("/").filter((part) => part !== "").map(decoded);
  return { parts, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** Keeps what the reader chose in the address without adding to the history. */
export function remember(parts, query) {
  history.replaceState(null, "", href(parts, query));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
