// Colours for shares from 0 to 1. One hue from faint to strong, so that order is seen without telling hues apart; every
// cell has its number as well.

import { isDark } from "./theme.js";

const LIGHT = [[241, 245, 249], [206, 223, 238], [147, 187, 220], [72, 137, 191], [24, 88, 145], [9, 47, 88]];
const DARK = [[24, 33, 44], [27, 53, 79], [31, 84, 130], [55, 128, 184], [124, 183, 226], [214, 236, 251]];
const STEPS = 100;
const tables = new Map();

/** The colour of a share and the colour of text on it, both as CSS. */
export function shade(share) {
  const table = shades();
  const index = Math.max(0, Math.min(STEPS, Math.round(share * STEPS)));
  return table[index] ?? table[0];
}

/** The colours of all shares, in a hundred steps. */
export function shades() {
  const key = isDark() ? "dark" : "light";
  if (!tables.has(key)) tables.set(key, made(isDark() ? DARK : LIGHT));
  return tables.get(key);
}

function made(stops) {
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const place = (step / STEPS) * (stops.length - 1);
    const left = Math.min(stops.length - 2, Math.floor(place));
    const rgb = stops[left].map((value, channel) => {
      return Math.round(value + (stops[left + 1][channel] - value) * (place - left));
    });
    const light = luminance(rgb);
    const white = 1.05 / (light + 0.05);
    const black = (light + 0.05) / 0.05;
    // One of the two always has a contrast of 4.5 or more.
    return { rgb, back: `rgb(${rgb.join(" ")})`, text: white > black ? "#ffffff" : "#000000" };
  });
}

function luminance(rgb) {
  const [red, green, blue] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
