// All instances: filters and columns in the address, selection, and actions for many.

import { api } from "./session.js";
import { action, again, duration, few, h, instanceLink, link, moment, pill, say, table, whole } from "./dom.js";
import { confirmed } from "./dialog.js";
import { retry } from "./data.js";
import { bulk } from "./bulk.js";

const SIZE = 25;
const MATCHING_MAX = 10_000;
const STATES = ["Executing", "Suspended", "Faulted", "Finished", "Cancelled"];
const FILTERS = ["status", "definition", "name", "correlation", "attribute", "from", "until", "search"];

const length = (one) => (one.finishedAt ? duration(new Date(one.finishedAt) - new Date(one.createdAt)) : "");

/** Columns by their names in the address. */
const COLUMNS = {
  workflow: ["Workflow", (one) => whole(instanceLink(one.id, one.name || one.definitionId))],
  state: ["State", (one) => few(pill(one.subStatus), one.incidentCount ? h("span", { class: "bad" }, ` ${one.incidentCount} ${one.incidentCount === 1 ? "incident" : "incidents"}`) : "")],
  changed: ["Changed", (one) => few(moment(one.updatedAt))],
  started: ["Started", (one) => few(moment(one.createdAt))],
  ended: ["Ended", (one) => few(moment(one.finishedAt))],
  duration: ["Duration", (one) => few(length(one))],
  correlation: ["Correlation", (one) => one.correlationId ?? ""],
  attributes: ["Attributes", (one) => Object.entries(one.searchAttributes ?? {}).map(([name, value]) => h("div", { class: "soft" }, link(`instances?attribute=${encodeURIComponent(`${name}=${value}`)}`, `${name}: ${value}`)))],
  version: ["Version", (one) => few(`${one.definitionId} v${one.version}`)],
  parent: ["Parent", (one) => (one.parentWorkflowInstanceId ? instanceLink(one.parentWorkflowInstanceId, one.parentWorkflowInstanceId) : "")],
  id: ["Id", (one) => h("code", { class: "soft" }, one.id)],
};
const USUAL = "workflow,state,changed,correlation,id";

/** A short list of instances, with the usual columns. */
export const list = (items) => table(USUAL.split(",").map((name) => COLUMNS[name][0]), items.map((one) => USUAL.split(",").map((name) => COLUMNS[name][1](one))), "");

const selected = new Map();
let selectedFor = "";

/** Search attributes of `Customer=ACME; Region=EU`. What has no `=` is an attribute without a value, which the server rejects. */
function attributesOf(text) {
  const pairs = text.split(";").map((pair) => pair.trim()).filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => { const at = pair.indexOf("="); return at < 0 ? [pair, ""] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]; }));
}

/** The API's filter for the address's parameters. */
function filterOf(query) {
  const bound = (name, operator) => {
    const at = new Date(query.get(name) ?? "");
    return query.get(name) && !Number.isNaN(at.getTime()) ? [{ column: "CreatedAt", operator, timestamp: at.toISOString() }] : [];
  };
  const times = [...bound("from", "GreaterThanOrEqual"), ...bound("until", "LessThan")];
  const text = (name) => query.get(name)?.trim() || undefined;
  return {
    subStatuses: text("status") ? [text("status")] : [],
    definitionIds: text("definition") ? [text("definition")] : [],
    name: text("name"), correlationId: text("correlation"), searchTerm: text("search"),
    ...(text("attribute") ? { searchAttributes: attributesOf(text("attribute")) } : {}),
    ...(times.length ? { timestampFilters: times } : {}),
  };
}

/** Ids of all instances that match, by the dry run of alterations. */
async function matching(query) {
  const { name, correlationId, ...rest } = filterOf(query);
  const { workflowInstanceIds, hasMore } = await api("POST", "/alterations/dry-run", {
    ...rest, emptyFilterSelectsAll: true, ...(name ? { names: [name] } : {}), ...(correlationId ? { correlationIds: [correlationId] } : {}),
  });
  if (hasMore) say(`Only the newest ${MATCHING_MAX.toLocaleString("en")} were selected. Repeat the action for the rest.`);
  return workflowInstanceIds;
}

const path = (id) => `/workflow-instances/${encodeURIComponent(id)}`;

const ACTIONS = {
  cancel: {
    verb: "Cancel", doing: "Cancelling", text: "Instances that are cancelled never continue. Those that have ended stay as they are.",
    work: async (id) => {
      const before = await api("GET", `${path(id)}/execution-state`);
      if (before.status === "Finished") return `has ended already: ${before.subStatus}`;
      await api("POST", `/cancel/workflow-instances/${encodeURIComponent(id)}`);
      return "cancelled";
    },
  },
  retry: {
    verb: "Retry", doing: "Retrying", text: "Failed activities run again. Instances without an incident stay as they are.", isSafe: true,
    work: async (id) => { await retry(id); return "retried"; },
  },
  delete: {
    verb: "Delete", doing: "Deleting", text: "The instances are deleted with their journals. This cannot be undone.",
    work: async (id) => { await api("DELETE", path(id)); return "deleted"; },
  },
};

const count = (number) => `${number.toLocaleString("en")} ${number === 1 ? "instance" : "instances"}`;

async function act(kind) {
  const { verb, doing, text, work, isSafe } = ACTIONS[kind];
  const items = [...selected.keys()];
  if (!(await confirmed(`${verb} ${count(items.length)}?`, text, `${verb} ${items.length.toLocaleString("en")}`, !isSafe))) return;
  const names = new Map(selected);
  await bulk({ title: `${doing} ${count(items.length)}`, items, name: (id) => (kind === "delete" ? h("code", {}, names.get(id) ?? id) : instanceLink(id, names.get(id) ?? id)), work });
  selected.clear();
  again();
}

/** The bar that says what is selected and what can be done with it. */
function selection(query, total) {
  const buttons = Object.entries(ACTIONS).map(([kind, { verb, isSafe }]) => action(`${verb}…`, () => act(kind), { class: isSafe ? "" : "danger" }));
  return h("div", { class: "tools selection", role: "group", "aria-label": "Selected instances" },
    h("b", {}, `${count(selected.size)} selected`), buttons,
    total > selected.size ? action(`Select all ${total.toLocaleString("en")} that match`, async () => { for (const id of await matching(query)) selected.set(id, selected.get(id) ?? id); again(); }) : "",
    action("Clear selection", () => { selected.clear(); again(); }));
}

function filterForm(query, definitions, go) {
  const value = (name) => query.get(name) ?? "";
  const change = (event) => go({ [event.target.name]: event.target.value });
  const text = (name, label, more = {}) => h("label", { class: "field" }, h("span", {}, label), h("input", { name, value: value(name), onchange: change, autocomplete: "off", ...more }));
  const isSet = FILTERS.filter((name) => !["search", "status"].includes(name) && value(name));
  return h("div", {},
    h("div", { class: "tools" },
      h("input", { type: "search", name: "search", placeholder: "Search  /", "aria-label": "Search", value: value("search"), onchange: change }),
      h("select", { name: "status", "aria-label": "State", onchange: change },
        h("option", { value: "" }, "every state"), STATES.map((state) => h("option", { value: state, selected: state === value("status") }, state))),
      FILTERS.some((name) => value(name)) ? link("instances", "Clear filters") : ""),
    h("details", { class: "filters", open: isSet.length > 0 },
      h("summary", {}, isSet.length ? `Filters (${isSet.length} set)` : "More filters"),
      h("div", { class: "fields" },
        text("definition", "Workflow", { list: "definitions", placeholder: "definition id" }), text("name", "Instance name"), text("correlation", "Correlation id"), text("attribute", "Search attributes", { placeholder: "Customer=ACME; Region=EU" }),
        text("from", "Started from (local time)", { type: "datetime-local" }), text("until", "Started before (local time)", { type: "datetime-local" })),
      h("datalist", { id: "definitions" }, definitions.map((one) => h("option", { value: one.definitionId }, one.name)))));
}

function columnsForm(shown, number, go) {
  return h("details", { class: "filters" }, h("summary", {}, "Columns"), h("div", { class: "tools" },
    Object.entries(COLUMNS).map(([key, [name]]) => h("label", {}, h("input", { type: "checkbox", checked: shown.includes(key), onchange: (event) => {
      const chosen = Object.keys(COLUMNS).filter((one) => (one === key ? event.target.checked : shown.includes(one)));
      go({ columns: chosen.join(","), page: number });
    } }), ` ${name}`))));
}

export async function page(query) {
  const number = Math.max(0, Number(query.get("page")) || 0);
  const filter = filterOf(query);
  const key = JSON.stringify(filter);
  if (key !== selectedFor) selected.clear();
  selectedFor = key;
  const [found, definitions] = await Promise.all([
    api("POST", "/workflow-instances", { page: number, pageSize: SIZE, ...filter }),
    api("GET", "/workflow-definitions?versionOptions=Latest&page=0&pageSize=200").then((all) => all.items, () => []),
  ]);
  const shown = (query.get("columns") || USUAL).split(",").filter((name) => name in COLUMNS);
  const go = (more) => {
    const next = new URLSearchParams({ ...Object.fromEntries(query), page: 0, ...more });
    for (const [name, value] of [...next]) if (!value || (name === "page" && value === "0") || (name === "columns" && value === USUAL)) next.delete(name);
    location.hash = `/instances${next.size ? `?${next}` : ""}`;
  };
  const total = found.totalCount.toLocaleString("en") + (found.isTotalExact === false ? " or more" : "");
  const first = number * SIZE;
  const tools = h("div", {});
  const showTools = () => tools.replaceChildren(...(selected.size ? [selection(query, found.totalCount)] : []));
  const tick = (one) => h("input", { type: "checkbox", "aria-label": `Select ${one.name || one.definitionId} ${one.id}`, "data-id": one.id, checked: selected.has(one.id), onchange: (event) => {
    if (event.target.checked) selected.set(one.id, one.correlationId || one.name || one.id); else selected.delete(one.id);
    showTools();
  } });
  const all = h("input", { type: "checkbox", "aria-label": "Select this page", checked: found.items.length > 0 && found.items.every((one) => selected.has(one.id)), onchange: (event) => {
    for (const one of found.items) if (event.target.checked) selected.set(one.id, one.correlationId || one.name || one.id); else selected.delete(one.id);
    for (const box of rows.querySelectorAll("[data-id]")) box.checked = event.target.checked;
    showTools();
  } });
  const isFiltered = FILTERS.some((name) => query.get(name));
  const rows = table([found.items.length ? all : "", ...shown.map((name) => COLUMNS[name][0])],
    found.items.map((one) => [few(tick(one)), ...shown.map((name) => COLUMNS[name][1](one))]),
    isFiltered ? [h("b", {}, "No instance matches these filters."), h("p", {}, link("instances", "Show all instances"))] : [h("b", {}, "Nothing has run yet."), h("p", {}, "Publish a workflow, then start it from ", link("definitions", "Workflows"), ".")]);
  showTools();
  return [
    h("h1", {}, "Instances"),
    filterForm(query, definitions, go),
    columnsForm(shown, number, go),
    tools,
    rows,
    h("div", { class: "tools pages" },
      h("span", { class: "soft" }, found.items.length ? `${first + 1}–${first + found.items.length} of ${total}` : ""),
      h("span", { class: "end" },
        h("button", { type: "button", disabled: number === 0, onclick: () => go({ page: number - 1 }) }, "Newer"), " ",
        h("button", { type: "button", disabled: first + found.items.length >= found.totalCount, onclick: () => go({ page: number + 1 }) }, "Older"))),
  ];
}
