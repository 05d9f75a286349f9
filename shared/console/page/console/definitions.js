// Workflows: what is published, to be opened, started and exported.

import { api, download, may } from "./session.js";
import { action, again, few, h, link, moment, say, table, whole } from "./dom.js";
import { startById } from "./start.js";

const SIZE = 50;

async function upload(files) {
  const names = [];
  for (const file of files) {
    let model;
    try {
      model = JSON.parse(await file.text());
    } catch (error) {
      throw new Error(`${file.name} is not valid JSON: ${error.message}. Choose an exported workflow.`);
    }
    await api("POST", "/workflow-definitions", { model, publish: true });
    names.push(file.name);
  }
  say(`Published: ${names.join(", ")}`);
  again();
}

export async function page(query) {
  const number = Math.max(0, Number(query.get("page")) || 0);
  const search = query.get("search") ?? "";
  const asked = new URLSearchParams({ versionOptions: "Latest", page: number, pageSize: SIZE, searchTerm: search });
  const [found, mayStart, mayWrite] = await Promise.all([api("GET", `/workflow-definitions?${asked}`), may("exec:workflow-definitions"), may("write:workflow-definitions")]);
  const file = h("input", { type: "file", accept: ".json,application/json", multiple: true, hidden: true, "aria-label": "Files of workflows", onchange: () => upload(file.files).catch((error) => say(error.message, true)) });
  const to = (more) => `definitions?${new URLSearchParams({ search, page: number, ...more })}`;
  return [
    h("h1", {}, "Workflows"),
    h("div", { class: "tools" },
      h("input", { type: "search", placeholder: "Search  /", "aria-label": "Search", value: search, onchange: (event) => { location.hash = `/definitions?search=${encodeURIComponent(event.target.value)}`; } }),
      mayWrite ? h("span", { class: "end" }, file, h("button", { type: "button", onclick: () => file.click() }, "Publish a file…")) : ""),
    table(["Name", "Version", "State", "Saved", ""], found.items.map((one) => [
      whole(link(`definitions/${encodeURIComponent(one.definitionId)}`, one.name || one.definitionId), one.description ? h("div", { class: "soft" }, one.description) : ""),
      few(`version ${one.version}`), few(one.isPublished ? h("span", { class: "good" }, "published") : h("span", { class: "wait" }, "draft")), few(moment(one.createdAt)),
      few(one.isPublished && mayStart ? action("Start…", () => startById(one.definitionId)) : "", " ", action("Export", () => download(`/workflow-definitions/${encodeURIComponent(one.definitionId)}/export`, `${one.definitionId}.json`))),
    ]), search ? [h("b", {}, "No workflow matches."), h("p", {}, link("definitions", "Show all workflows"))] : [h("b", {}, "There are no workflows yet."), h("p", {}, "Publish a file, or draw a workflow in ", h("a", { href: "/workflows/definitions" }, "Studio"), ".")]),
    found.totalCount > SIZE ? h("div", { class: "tools pages" }, h("span", { class: "soft" }, `${number * SIZE + 1}–${number * SIZE + found.items.length} of ${found.totalCount.toLocaleString("en")}`),
      h("span", { class: "end" }, number ? link(to({ page: number - 1 }), "Back") : "", " ", found.totalCount > (number + 1) * SIZE ? link(to({ page: number + 1 }), "More") : "")) : "",
  ];
}
