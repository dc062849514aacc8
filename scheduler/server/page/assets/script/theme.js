// Light or dark: as the system has it, unless the reader chose.

const KEY = "berth-theme";
const CHOICES = ["auto", "light", "dark"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
let choice = stored();

/** What the reader chose: auto, light or dark. */
export function themeChoice() {
  return choice;
}

/** Whether dark colours are shown. */
export function isDark() {
  return choice === "auto" ? dark.matches : choice === "dark";
}

/** The next of the choices. */
export function switchTheme() {
  choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // A file, or a browser that keeps nothing: the choice lasts as long as the page.
  }
  applyTheme();
}

/** Calls back whenever the colours change; the answer ends that. */
export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Puts the theme in force. */
export function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

dark.addEventListener("change", applyTheme);

function stored() {
  try {
    const value = localStorage.getItem(KEY);
    return CHOICES.includes(value) ? value : "auto";
  } catch {
    return "auto";
  }
}
