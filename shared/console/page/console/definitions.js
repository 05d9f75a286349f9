// Workflows: what is published, to be started, exported, opened in Studio.

import { about, api, token } from "./session.js";
import { action, few, h, say, table, whole } from "./dom.js";
import { rows } from "./data.js";

const SIZE = 50;

async function start(one) {
  const text = prompt("Input as JSON", "{}");
  if (text === null) return;
  const input = JSON.parse(text || "{}");
  const started = await api("POST", `/workflow-definitions/${encodeURIComponent(one.definitionId)}/dispatch`, { input });
  location.hash = `/instances/${encodeURIComponent(started.workflowInstanceId)}`;
}

async function save(one) {
  const headers = token() ? { authorization: `Bearer ${token()}` } : {};
  const response = await fetch(`/elsa/api/workflow-definitions/${encodeURIComponent(one.definitionId)}/export`, { headers });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const url = URL.createObjectURL(await response.blob());
  h("a", { href: url, download: `${one.definitionId}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function upload(files) {
  for (const file of files) {
    const model = JSON.parse(await file.text());
    await api("POST", "/workflow-definitions", { model, publish: true });
  }
  say(`Published: ${[...files].map((file) => file.name).join(", ")}`);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export async function definitions(query) {
  const page = Number(query.get("page") ?? 0);
  const search = query.get("search") ?? "";
  const asked = new URLSearchParams({ versionOptions: "Latest", page, pageSize: SIZE, searchTerm: search });
  const [found, server] = await Promise.all([api("GET", `/workflow-definitions?${asked}`), about()]);
  const file = h("input", { type: "file", accept: ".json,application/json", multiple: true, hidden: true, onchange: () => upload(file.files).catch((error) => say(error.message)) });
  const studio = (one) => (server.studio ? h("a", { href: `/workflows/definitions/${encodeURIComponent(one.definitionId)}/edit` }, one.name || one.definitionId) : one.name || one.definitionId);
  return [
    h("h1", {}, "Workflows"),
    h("div", { class: "tools" },
      h("input", { type: "search", placeholder: "Search  /", "aria-label": "Search", value: search, onchange: (event) => { location.hash = `/definitions?search=${encodeURIComponent(event.target.value)}`; } }),
      h("span", { class: "end" }, file, h("button", { type: "button", onclick: () => file.click() }, "Publish a file…"))),
    table(["Name", "Version", "State", ""], rows(found.items, (one) => [
      whole(studio(one), one.description ? h("div", { class: "soft" }, one.description) : ""),
      few(`version ${one.version}`), few(one.isPublished ? h("span", { class: "good" }, "published") : h("span", { class: "wait" }, "draft")),
      few(one.isPublished ? action("Start…", () => start(one)) : "", " ", action("Export", () => save(one))),
    ]), search ? "No workflow is like that." : "There are none yet. Publish a file, or draw one in Studio."),
    found.totalCount > (page + 1) * SIZE ? h("p", {}, h("a", { href: `/#/definitions?search=${encodeURIComponent(search)}&page=${page + 1}` }, "More")) : "",
  ];
}
