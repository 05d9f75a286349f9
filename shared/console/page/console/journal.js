// The journal of an instance: every line with its inputs and outputs, search, and the whole of it as a file.

import { activityName } from "./data.js";
import { action, clock, duration, few, h, json, table, whole } from "./dom.js";
import { api, save } from "./session.js";

const PAGE = 200;
const SHOWN_MAX = 300;
const PAGE_MAX = 1_000;
const FILE_LINES_MAX = 100_000;
const EVENTS = { Started: "", Completed: "good", Faulted: "bad", Suspended: "wait", Resumed: "", Canceled: "soft" };

const path = (id) => `/workflow-instances/${encodeURIComponent(id)}/journal`;
const isEmpty = (value) => value == null || (typeof value === "object" && !Object.keys(value).length);

/** A journal that is read page by page and kept while the instance's page is open. */
export function journal(id) {
  let lines = [];
  let total = 0;
  let names = new Map();
  let activity = "";
  let draw = () => {};
  const started = new Map();

  async function more() {
    const answer = await api("GET", `${path(id)}?skip=${lines.length}&take=${PAGE}`);
    total = answer.totalCount;
    for (const one of answer.items) if (one.eventName === "Started") started.set(one.activityInstanceId, one.timestamp);
    lines = lines.concat(answer.items);
    draw();
  }

  /** Reads what has been added. A reader who has not reached the end keeps the place. */
  async function update(newNames) {
    names = newNames;
    const wasAtEnd = lines.length >= total;
    if (wasAtEnd) await more(); else draw();
  }

  async function file() {
    const all = [];
    for (;;) {
      const { items, totalCount } = await api("GET", `${path(id)}?skip=${all.length}&take=${PAGE_MAX}`);
      all.push(...items);
      if (!items.length || all.length >= totalCount || all.length >= FILE_LINES_MAX) break;
    }
    save(new Blob([all.map((one) => JSON.stringify(one)).join("\n"), "\n"], { type: "application/x-ndjson" }), `journal-${id}.ndjson`);
  }

  const took = (one) => {
    const from = started.get(one.activityInstanceId);
    return from && ["Completed", "Faulted", "Canceled"].includes(one.eventName) ? duration(new Date(one.timestamp) - new Date(from)) : "";
  };

  /** The workflow itself has a line, too; containers have no box in the graph. */
  const nameOf = (one) => activityName(names, one.activityId, one.activityType === "Elsa.Workflow" ? "the workflow" : one.activityName);

  function row(one) {
    const parts = [["Inputs", one.activityState], ["Details", one.payload]].filter(([, value]) => !isEmpty(value));
    return [
      few(clock(one.timestamp)),
      few(nameOf(one)),
      few(h("span", { class: EVENTS[one.eventName] ?? "" }, one.eventName)),
      few(h("span", { class: "soft" }, took(one))),
      whole(one.message ? h("span", { class: "bad" }, one.payload?.exception?.message ?? one.message) : "", parts.length ? h("details", {}, h("summary", { class: "soft" }, parts.map(([name]) => name.toLowerCase()).join(" and "), h("span", { class: "unseen" }, ` of line ${one.sequence}`)), parts.map(([name, value]) => [h("h4", {}, name), json(value)])) : ""),
    ];
  }

  function element() {
    const search = h("input", { type: "search", placeholder: "Search the journal  /", "aria-label": "Search the journal", oninput: () => draw() });
    const kind = h("select", { "aria-label": "Event", onchange: () => draw() });
    const chosen = h("span", {});
    const list = h("div", {});
    const foot = h("div", { class: "tools" });
    draw = () => {
      const events = [...new Set(lines.map((one) => one.eventName))];
      const value = kind.value;
      kind.replaceChildren(h("option", { value: "" }, "every event"), ...events.map((name) => h("option", { value: name, selected: name === value }, name)));
      const text = search.value.trim().toLowerCase();
      const found = lines.filter((one) => (!activity || one.activityId === activity) && (!kind.value || one.eventName === kind.value)
        && (!text || JSON.stringify([names.get(one.activityId), one]).toLowerCase().includes(text)));
      const open = new Set([...list.querySelectorAll("details[open] > summary")].map((one) => one.textContent));
      list.replaceChildren(table(["Time", "Activity", "Event", "Took", "What"], found.slice(0, SHOWN_MAX).map(row), lines.length ? "No line matches." : "The instance has done nothing yet."));
      for (const one of list.querySelectorAll("details > summary")) if (open.has(one.textContent)) one.parentElement.open = true;
      chosen.replaceChildren(...(activity ? [h("button", { type: "button", onclick: () => show("") }, `Only ${names.get(activity) ?? activity}  ✕`)] : []));
      foot.replaceChildren(
        h("span", { class: "soft" }, `${Math.min(found.length, SHOWN_MAX).toLocaleString("en")} lines shown; ${lines.length.toLocaleString("en")} of ${total.toLocaleString("en")} read.`),
        ...(lines.length < total ? [action("Read more", more)] : []));
    };
    draw();
    return h("section", { id: "journal" },
      h("div", { class: "tools" }, h("h2", {}, "Journal"), search, kind, chosen, h("span", { class: "end" }, action("Download", file))),
      list, foot);
  }

  /** Shows only the lines of an activity; all of them for "". */
  function show(id) {
    activity = activity === id ? "" : id;
    draw();
    if (activity) document.getElementById("journal")?.scrollIntoView({ block: "start" });
  }

  return { element, update, show, lines: () => lines };
}
