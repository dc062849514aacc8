// Building elements. Data only ever becomes text: nothing here, or on the page, parses a string as markup.

const NAMESPACE = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "path", "rect", "line", "circle", "g"]);

/**
 * An element: `el("td.number", {title: "…"}, "text", child)`.
 *
 * `on` are listeners, `style` properties by their CSS names, `null` and `false` leave a property or a child out.
 * Links lead to places within the page and nowhere else.
 */
export function el(name, props = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = SVG_TAGS.has(tag) ? document.createElementNS(NAMESPACE, tag) : document.createElement(tag);
  if (classes.length > 0) node.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(props)) setProperty(node, key, value);
  append(node, children);
  return node;
}

function setProperty(node, key, value) {
  if (value === null || value === undefined || value === false) return;
  if (key === "on") {
    for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
  } else if (key === "style") {
    for (const [name, setting] of Object.entries(value)) node.style.setProperty(name, setting);
  } else if (key === "href" && !String(value).startsWith("#")) {
    throw new Error(`a link that leaves the page: ${value}`);
  } else {
    node.setAttribute(key, value === true ? "" : String(value));
  }
}

/** Appends texts and elements, and what is in lists of them. */
export function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** Puts children in the place of what was in `node`. */
export function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/**
 * Makes the children of `node` those of `items`, keeping the elements of items that stay, and so focus and selection.
 *
 * `version` says whether an element is still right as it is; where it isn't, `create` makes it anew.
 */
export function keep(node, items, key, version, create) {
  const before = new Map([...node.children].map((child) => [child.dataset.key, child]));
  let place = node.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    const stamp = String(version(item));
    let child = before.get(name);
    before.delete(name);
    if (child === undefined || child.dataset.version !== stamp) {
      const made = create(item);
      made.dataset.key = name;
      made.dataset.version = stamp;
      if (child === undefined) node.insertBefore(made, place);
      else {
        if (child === place) place = made;
        child.replaceWith(made);
      }
      child = made;
    }
    if (child === place) place = child.nextElementSibling;
    else node.insertBefore(child, place);
  }
  for (const child of before.values()) child.remove();
}

/** A name that may break between its words: NodeResourcesFit. */
export function breakable(name) {
  return name.split(/(?<=[a-z])(?=[A-Z])/).flatMap((word, index) => (index === 0 ? [word] : [el("wbr"), word]));
}

let names = 0;

/** An id that no other element has. */
export function freshId(prefix) {
  names += 1;
  return `${prefix}-${names}`;
}
