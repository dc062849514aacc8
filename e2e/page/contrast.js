// The texts that stand out too little from what is behind them: WCAG 2.2, 1.4.3, level AA.
(() => {
  const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const behind = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    const style = getComputedStyle(element);
    const unseen = element.closest("[hidden], .unseen, .skip, script") || style.visibility === "hidden";
    if (!own || unseen || element.getBoundingClientRect().width < 2) continue;
    const front = light(parse(style.color));
    const back = light(behind(element));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const name = `${element.className || element.tagName} ${element.textContent.slice(0, 30)}`;
    if (ratio < (large ? 3 : 4.5)) faint.push(`${name}: ${ratio.toFixed(2)}`);
  }
  return faint;
})()
