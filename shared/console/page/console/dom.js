// Elements, and what many pages show alike. No framework: a page is a function that returns an element.

/** An element: its tag, its properties (`on…` listen, `class`, `aria-…` and others are attributes), its children. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

const COLOURS = { Finished: "good", Running: "good", Executing: "good", Suspended: "wait", Pending: "wait", Faulted: "bad", Cancelled: "soft", Completed: "good" };

/** A status as a coloured word. */
export const pill = (status) => h("span", { class: `pill ${COLOURS[status] ?? "soft"}` }, status);

/** A time, short; the whole of it when pointed at. */
export function moment(text) {
  if (!text) return "";
  const at = new Date(text);
  const ago = (Date.now() - at) / 1000;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, size]) => Math.abs(ago) >= size) ?? units[3];
  const told = new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.round(ago / size), unit);
  return h("time", { datetime: text, title: at.toLocaleString() }, told);
}

/** A table: its columns' names, its rows (lists of cells, or rows). On a phone each row becomes a block. */
export function table(columns, rows, empty) {
  if (!rows.length) return h("div", { class: "scroll empty" }, empty);
  const head = h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name))));
  const line = (row) => (row instanceof Element ? row : h("tr", {}, row.map((cell) => (cell?.tagName === "TD" ? cell : h("td", {}, cell)))));
  return h("div", { class: "scroll" }, h("table", { class: "stack" }, head, h("tbody", {}, rows.map(line))));
}

/** A cell that is no wider than it must be; one that has a line of its own on a phone. */
export const few = (...children) => h("td", { class: "few" }, children);
export const whole = (...children) => h("td", { class: "whole" }, children);

/** A button that does something once at a time, and says what went wrong. */
export function action(label, work, properties = {}) {
  const button = h("button", { type: "button", ...properties, onclick: async () => {
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      say(error.message);
    } finally {
      button.disabled = false;
    }
  } }, label);
  return button;
}

/** Says something at the bottom for a few seconds. */
export function say(text) {
  document.getElementById("said")?.remove();
  const box = h("div", { id: "said", role: "status" }, text);
  document.body.append(box);
  setTimeout(() => box.remove(), 6000);
}

/** JSON for reading. */
export const json = (value) => h("pre", {}, JSON.stringify(value, null, 2));

/** A link to a page of ours. */
export const link = (page, ...children) => h("a", { href: `/#/${page}` }, children);
