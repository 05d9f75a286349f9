// What differs between two versions of a definition: by JSON path, and on the graph.

import { h, table } from "./dom.js";

const SHOWN_MAX = 300;
const TEXT_MAX = 300;
/** Members that differ between any two versions and say nothing about the workflow. */
const IGNORED = new Set(["id", "version", "createdAt", "isLatest", "isPublished", "links", "nodeId", "definitionVersionId"]);
/** Of the server: a digest of the whole content. */
const OWN = "Dormouse:Content";

const isObject = (value) => value !== null && typeof value === "object";
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The key under which an item of a list is found again: its id, the ends of a connection, or its name. */
function keyOf(item) {
  if (!isObject(item)) return null;
  if (item.source && item.target) return `${item.source.activity}/${item.source.port ?? ""} → ${item.target.activity}`;
  return item.id ?? item.name ?? null;
}

/** Whether all items of a list have keys of their own. */
function keyed(list) {
  const keys = list.map(keyOf);
  return keys.every((key) => key != null) && new Set(keys).size === keys.length ? keys : null;
}

function lists(path, before, after, found) {
  const [one, other] = [keyed(before), keyed(after)];
  if (!one || !other) {
    for (let place = 0; place < Math.max(before.length, after.length); place += 1) compare(`${path}[${place}]`, before[place], after[place], found);
    return;
  }
  for (const [place, key] of one.entries()) compare(`${path}[${key}]`, before[place], after[other.indexOf(key)], found);
  for (const [place, key] of other.entries()) if (!one.includes(key)) compare(`${path}[${key}]`, undefined, after[place], found);
  const stay = (keys, others) => keys.filter((key) => others.includes(key)).join("\n");
  if (stay(one, other) !== stay(other, one)) found.push({ path: `${path} (order)`, before: one, after: other });
}

function compare(path, before, after, found) {
  if (same(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) lists(path, before, after, found);
  else if (isObject(before) && isObject(after) && !Array.isArray(before) && !Array.isArray(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (path === "$" ? !IGNORED.has(name) : name !== "nodeId" && name !== OWN) compare(`${path}.${name}`, before[name], after[name], found);
    }
  } else found.push({ path, before, after });
}

/** The differences between two versions. */
export function differences(before, after) {
  const found = [];
  compare("$", before, after, found);
  return found;
}

/** Activities by id, each without those inside it and without its place on the canvas. */
function activities(value, found = new Map()) {
  if (!isObject(value)) return found;
  if (!Array.isArray(value) && typeof value.type === "string" && value.id) {
    const own = JSON.stringify(value, (name, inner) => (name === "metadata" || name === "nodeId" ? undefined : inner !== value && isObject(inner) && typeof inner.type === "string" && inner.id && "version" in inner ? inner.id : inner));
    found.set(value.id, own);
  }
  for (const inner of Object.values(value)) activities(inner, found);
  return found;
}

/** The states to draw on the graph of the later version: added and changed activities. */
export function changedStates(before, after) {
  const [old, now] = [activities(before.root), activities(after.root)];
  const states = new Map();
  for (const [id, text] of now) if (!old.has(id)) states.set(id, "added"); else if (old.get(id) !== text) states.set(id, "changed");
  return states;
}

const short = (value) => {
  if (value === undefined) return h("span", { class: "soft" }, "not there");
  const text = JSON.stringify(value);
  return h("code", {}, text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text);
};

/** The differences as a table. */
export function diffTable(found) {
  return [table(["Path", "Before", "After"], found.slice(0, SHOWN_MAX).map((one) => [
    h("td", { class: "path" }, h("code", {}, one.path.split(".").flatMap((part, place) => (place ? [h("wbr"), `.${part}`] : [part])))), h("del", {}, short(one.before)), h("ins", {}, short(one.after)),
  ]), "The versions are equal."), found.length > SHOWN_MAX ? h("p", { class: "soft" }, `The first ${SHOWN_MAX} of ${found.length.toLocaleString("en")} differences.`) : ""];
}
