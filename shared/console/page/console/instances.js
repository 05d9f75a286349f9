// All instances: by state, by text, page by page.

import { api } from "./session.js";
import { h, few, link, moment, pill, table, whole } from "./dom.js";
import { rows } from "./data.js";

const SIZE = 25;
const STATES = ["Executing", "Suspended", "Faulted", "Finished", "Cancelled"];

/** The rows of a list of instances. */
export const list = (items, empty) => table(["Workflow", "State", "Changed", "Correlation", "Id"], rows(items, (one) => [
  whole(link(`instances/${encodeURIComponent(one.id)}`, one.name || one.definitionId)),
  few(pill(one.subStatus)), few(moment(one.updatedAt)), one.correlationId ?? "", h("code", { class: "soft" }, one.id),
]), empty);

export async function instances(query) {
  const page = Number(query.get("page") ?? 0);
  const status = query.get("status") ?? "";
  const search = query.get("search") ?? "";
  const found = await api("POST", "/workflow-instances", { page, pageSize: SIZE, subStatuses: status ? [status] : [], searchTerm: search });
  const go = (more) => {
    const next = new URLSearchParams({ status, search, page: 0, ...more });
    location.hash = `/instances?${next}`;
  };
  const total = found.totalCount.toLocaleString("en") + (found.isTotalExact === false ? "+" : "");
  const first = page * SIZE;
  return [
    h("h1", {}, "Instances"),
    h("div", { class: "tools" },
      h("input", { type: "search", placeholder: "Search  /", "aria-label": "Search", value: search, onchange: (event) => go({ search: event.target.value }) }),
      h("select", { "aria-label": "State", onchange: (event) => go({ status: event.target.value }) },
        h("option", { value: "" }, "every state"),
        STATES.map((state) => h("option", { value: state, selected: state === status }, state))),
      h("span", { class: "end soft" }, found.items.length ? `${first + 1}–${first + found.items.length} of ${total}` : "none"),
      h("button", { type: "button", disabled: page === 0, onclick: () => go({ page: page - 1 }) }, "Newer"),
      h("button", { type: "button", disabled: first + found.items.length >= found.totalCount, onclick: () => go({ page: page + 1 }) }, "Older")),
    list(found.items, status || search ? "No instance is like that." : "Nothing has run yet."),
  ];
}
