// Elements, and what many pages show alike. There is no framework: a page is a function that returns elements.

function made(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "indeterminate") element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false && child !== ""));
  return element;
}

/** An element: its tag, its properties (`on…` listen, `class`, `aria-…` and others are attributes), its children. */
export const h = (tag, properties = {}, ...children) => made(document.createElement(tag), properties, children);

/** An element of a drawing. */
export const svg = (tag, properties = {}, ...children) => made(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

const COLOURS = { Finished: "good", Running: "good", Executing: "good", Suspended: "wait", Pending: "wait", Faulted: "bad", Cancelled: "soft", Completed: "good", Canceled: "soft" };

/** A status as a coloured word. */
export const pill = (status) => h("span", { class: `pill ${COLOURS[status] ?? "soft"}` }, status);

const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

const stamped = (text, shown) => h("time", { datetime: text, title: `${WHOLE.format(new Date(text))} local time\n${new Date(text).toISOString()} (UTC)` }, shown);

/** A time relative to now; local time and UTC in the title. */
export function moment(text) {
  if (!text) return "";
  const ago = (Date.now() - new Date(text)) / 1000;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, size]) => Math.abs(ago) >= size) ?? units[3];
  return stamped(text, new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.round(ago / size), unit));
}

/** A local time; with the day unless it is today's. */
export function clock(text) {
  if (!text) return "";
  const at = new Date(text);
  const isToday = DAY.format(at) === DAY.format(new Date());
  return stamped(text, (isToday ? CLOCK : WHOLE).format(at));
}

/** A length of time, in its two largest units. */
export function duration(ms) {
  if (ms == null || Number.isNaN(ms)) return "";
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const units = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000]];
  const first = units.findIndex(([, size]) => ms >= size);
  const whole = Math.floor(ms / units[first][1]);
  const rest = Math.floor((ms % units[first][1]) / (units[first + 1]?.[1] ?? 1));
  return `${whole} ${units[first][0]}${units[first + 1] && rest ? ` ${rest} ${units[first + 1][0]}` : ""}`;
}

/** A table: its columns' names, its rows (lists of cells, or rows). On a phone each row becomes a block. */
export function table(columns, rows, empty) {
  if (!rows.length) return h("div", { class: "scroll empty" }, empty);
  const title = (name) => (name?.tagName ? h("th", { scope: "col", class: "few" }, name) : name ? h("th", { scope: "col" }, name) : h("td", {}));
  const head = h("thead", {}, h("tr", {}, columns.map(title)));
  const line = (row) => (row instanceof Element ? row : h("tr", {}, row.map((cell) => (cell?.tagName === "TD" ? cell : h("td", {}, cell)))));
  return h("div", { class: "scroll" }, h("table", { class: "stack" }, head, h("tbody", {}, rows.map(line))));
}

/** A cell that is no wider than it must be; one that has a line of its own on a phone. */
export const few = (...children) => h("td", { class: "few" }, children);
export const whole = (...children) => h("td", { class: "whole" }, children);

/** A button that works once at a time and says what went wrong. */
export function action(label, work, properties = {}) {
  const button = h("button", { type: "button", ...properties, onclick: async () => {
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      say(error.message, true);
    } finally {
      button.disabled = false;
    }
  } }, label);
  return button;
}

/** Shows a message at the bottom for a few seconds; a problem stays longer. */
export function say(text, isProblem = false) {
  document.getElementById("said")?.remove();
  const box = h("div", { id: "said", role: isProblem ? "alert" : "status", class: isProblem ? "wrong" : null }, text);
  // What is behind an open dialog cannot be seen.
  (document.querySelector("dialog[open]") ?? document.body).append(box);
  setTimeout(() => box.remove(), isProblem ? 12_000 : 6_000);
}

/** JSON for reading. */
export const json = (value) => h("pre", { tabindex: 0 }, JSON.stringify(value, null, 2));

/** A link to a page of the console. */
export const link = (page, ...children) => h("a", { href: `/#/${page}` }, children);

/** A link to an instance. */
export const instanceLink = (id, ...children) => link(`instances/${encodeURIComponent(id)}`, ...children);

/** A note for an empty list: what it would show, and what to do. */
export const nothing = (title, ...rest) => h("div", { class: "scroll empty" }, h("b", {}, title), rest.length ? h("p", {}, rest) : "");

/** Shows the present page again. */
export const again = () => dispatchEvent(new HashChangeEvent("hashchange"));

/** Runs work over items, at most `width` at a time; results in the order of the items. */
export async function each(items, width, work) {
  const results = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const place = next++;
      results[place] = await work(items[place], place);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
