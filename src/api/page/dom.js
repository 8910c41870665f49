/** What may stand inside of an element: a list is taken apart, nothing is left out. @typedef {Node | string | number | null | undefined | false | readonly unknown[]} Child */
/** @typedef {Readonly<Record<string, string | number | boolean | null | undefined>>} Attributes */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element. An attribute that is null, undefined or false is left out; true is an attribute without a value.
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 * @returns {HTMLElement}
 */
export const h = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  set(element, attributes);
  add(element, children);
  return element;
};

/**
 * One of the shapes of page.html; it says nothing by itself, so a word stands beside it or `label` says it.
 * @param {string} name
 * @param {string} [label]
 */
export const glyph = (name, label) => {
  const svg = document.createElementNS(SVG, 'svg');
  const use = document.createElementNS(SVG, 'use');
  set(
    svg,
    label === undefined ? { class: 'g', 'aria-hidden': 'true' } : { class: 'g', role: 'img', 'aria-label': label },
  );
  use.setAttribute('href', `#g-${name}`);
  svg.append(use);
  return svg;
};

/** @param {Element} element @param {Attributes} attributes */
const set = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
};

/** @param {Element} element @param {readonly Child[]} children */
const add = (element, children) => {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, /** @type {readonly Child[]} */ (child));
    else element.append(child instanceof Node ? child : String(child));
  }
};

/**
 * Makes what is on the page equal to what is wanted by changing only what differs, so that focus, selection and scrolling stay. Children are
 * found again by `data-key`, others by their place; what is inside of `data-own` belongs to somebody else. Values that changed light up.
 * @param {Element} shown
 * @param {Element} wanted
 */
export const become = (shown, wanted) => {
  for (const { name } of [...shown.attributes]) if (!wanted.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of wanted.attributes)
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  if (wanted.hasAttribute('data-own')) return;
  const before = shown.textContent;
  becomeChildren(shown, wanted);
  if (shown.hasAttribute('data-lights') && before !== shown.textContent) light(shown);
};

/** @param {Element} shown @param {Element} wanted */
const becomeChildren = (shown, wanted) => {
  const keyed = new Map([...shown.children].map((child) => [child.getAttribute('data-key'), child]));
  let place = shown.firstChild;
  for (const next of [...wanted.childNodes]) {
    const found = match(next, place, keyed);
    if (found === null) {
      shown.insertBefore(next, place);
      continue;
    }
    if (found === place) place = place.nextSibling;
    else shown.insertBefore(found, place);
    if (found instanceof Element && next instanceof Element) become(found, next);
    else if (found.nodeValue !== next.nodeValue) found.nodeValue = next.nodeValue;
  }
  while (place !== null) {
    const after = place.nextSibling;
    place.remove();
    place = after;
  }
};

/**
 * The node on the page that stands for `next`.
 * @param {ChildNode} next
 * @param {ChildNode | null} place
 * @param {ReadonlyMap<string | null, Element>} keyed
 * @returns {ChildNode | null}
 */
const match = (next, place, keyed) => {
  const key = next instanceof Element ? next.getAttribute('data-key') : null;
  if (key !== null) return keyed.get(key) ?? null;
  if (place === null || place.nodeName !== next.nodeName) return null;
  return place instanceof Element && place.hasAttribute('data-key') ? null : place;
};

/** @param {Element} element */
const light = (element) => {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const soft = getComputedStyle(document.documentElement).getPropertyValue('--accent-soft');
  element.animate([{ backgroundColor: soft }, { backgroundColor: 'transparent' }], 600);
};

/** Where the mouse is, and when a person last did something; touch has no place to hold still. */
const pointer = { x: -1, y: -1, at: Number.NEGATIVE_INFINITY };
const READING_MS = 10_000;

/** Call once. */
export const watchPointer = () => {
  /** @param {PointerEvent} event */
  const moved = ({ pointerType, clientX, clientY }) => {
    if (pointerType !== 'touch') Object.assign(pointer, { x: clientX, y: clientY, at: performance.now() });
  };
  addEventListener('pointermove', moved, { passive: true });
  addEventListener('pointerdown', moved, { passive: true });
  document.documentElement.addEventListener('pointerleave', () => Object.assign(pointer, { x: -1, y: -1 }));
};

const under = () => (pointer.x < 0 ? null : document.elementFromPoint(pointer.x, pointer.y));

/**
 * Is somebody reading this list: did the mouse move over it a moment ago, or is the keyboard in it?
 * @param {string} id
 */
export const isRead = (id) => {
  const list = document.getElementById(id);
  if (list === null) return false;
  const pointed = performance.now() - pointer.at < READING_MS && list.contains(under());
  return pointed || list.querySelector(':focus-visible') !== null;
};

/** What must stay where it is: what the mouse is over, else what has the focus, else the first row in view of a page that was scrolled. */
const held = () => {
  const inMain = (/** @type {Element | null} */ element) => element?.closest('main [data-key]') ?? null;
  const first = () => (scrollY > 0 ? inMain(document.elementFromPoint(innerWidth / 3, 80)) : null);
  return inMain(under()) ?? inMain(document.activeElement) ?? first();
};

/**
 * Changes the page so that nothing moves under the pointer: what grew or shrank above it is scrolled away.
 * @param {() => void} change
 */
export const keepingPlace = (change) => {
  const element = held();
  const before = element?.getBoundingClientRect().top ?? 0;
  change();
  if (element === null || !element.isConnected) return;
  const moved = element.getBoundingClientRect().top - before;
  if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: 'instant' });
};

/** @type {Map<string, readonly string[]>} */
const orders = new Map();

/**
 * The items of a list in the order in which they are shown. While somebody reads it the order stays as it was and new ones wait: `waiting`
 * says how many.
 * @template T
 * @param {string} list
 * @param {readonly T[]} items in the order wanted
 * @param {(item: T) => string} keyOf
 * @param {boolean} read
 * @returns {{ readonly shown: readonly T[], readonly waiting: number }}
 */
export const inOrder = (list, items, keyOf, read) => {
  const before = orders.get(list);
  if (!read || before === undefined) {
    orders.set(list, items.map(keyOf));
    return { shown: items, waiting: 0 };
  }
  const byKey = new Map(items.map((item) => [keyOf(item), item]));
  const shown = before.flatMap((key) => byKey.get(key) ?? []);
  return { shown, waiting: items.length - shown.length };
};

/** The next rendering takes new rows in, whoever reads. @param {string} list */
export const letIn = (list) => void orders.delete(list);
