// Runs in the browser: texts with less than 4.5:1 against the ground that they stand on (WCAG 2.2, 1.4.3).
function weakTexts() {
  const numbers = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const channels = (colour) => numbers(colour).map((n, i) => (i < 3 && !colour.startsWith('color(srgb') ? n / 255 : n));
  const over = ([r, g, b, a = 1], ground) => [r, g, b].map((value, i) => value * a + ground[i] * (1 - a));
  const groundOf = (element) =>
    element === null
      ? [1, 1, 1]
      : over(channels(getComputedStyle(element).backgroundColor), groundOf(element.parentElement));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    const text = node.textContent.trim();
    if (text === '' || parent.getClientRects().length === 0) continue;
    const ground = groundOf(parent);
    const one = luminance(over(channels(getComputedStyle(parent).color), ground));
    const two = luminance(ground);
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (contrast < 4.5) weak.push(`${text.slice(0, 40)}: ${contrast.toFixed(2)}`);
  }
  return weak;
}
