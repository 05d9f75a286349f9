// One workflow: its runs with durations and causes of failures, its graph, its versions with what differs, and a start.

import { about, api, download, may } from "./session.js";
import { action, again, clock, duration, few, h, link, moment, nothing, say, table, whole } from "./dom.js";
import { graphOf } from "./data.js";
import { confirmed, dialog, field } from "./dialog.js";
import { blocks, groups } from "./causes.js";
import { drawing } from "./graph.js";
import { changedStates, differences, diffTable } from "./diff.js";
import { chart, figures } from "./runs.js";
import { startById } from "./start.js";
import { list } from "./instances.js";

const STEP = 500;
const MOST = 1_000;
const FAILED_READ_MAX = 50;

const encoded = encodeURIComponent;
const version = (id, number) => api("GET", `/workflow-definitions/by-definition-id/${encoded(id)}?versionOptions=${number}`);

async function compareVersions(id, versions) {
  const options = (chosen) => versions.map((one) => h("option", { value: one.version, selected: one.version === chosen }, `version ${one.version}${one.isPublished ? ", published" : one.isLatest ? ", latest" : ""}`));
  const place = h("div", {});
  const from = h("select", { name: "from" }, options(versions[1].version));
  const to = h("select", { name: "to" }, options(versions[0].version));
  const show = async () => {
    const [before, after] = await Promise.all([version(id, from.value), version(id, to.value)]);
    const graph = await graphOf(after.id);
    place.replaceChildren(...diffTable(differences(before, after)).filter(Boolean), h("h3", {}, `Graph of version ${after.version}`), drawing(graph, { states: changedStates(before, after) }));
  };
  for (const one of [from, to]) one.addEventListener("change", () => show().catch((error) => say(error.message, true)));
  await show();
  await dialog({ title: "Compare versions", wide: true, ok: null, close: "Close", body: [h("div", { class: "fields" }, field("Before", from), field("After", to)), place] });
}

async function rollBack(id, one) {
  if (!(await confirmed(`Roll back to version ${one.version}?`, `A new version with the content of version ${one.version} is published. New instances use it at once; running instances keep their version.`, "Roll back"))) return;
  await api("POST", `/workflow-definitions/${encoded(id)}/revert/${one.version}`);
  await api("POST", `/workflow-definitions/${encoded(id)}/publish`);
  say(`The content of version ${one.version} is published.`);
  again();
}

function versionTable(id, versions, isAllowed) {
  return table(["Version", "Saved", "State", ""], versions.map((one) => [
    few(`version ${one.version}`), whole(moment(one.createdAt)), few(one.isPublished ? h("span", { class: "good" }, "published") : one.isLatest ? h("span", { class: "wait" }, "draft") : h("span", { class: "soft" }, "earlier")),
    few(action("Export", () => download(`/workflow-definitions/${encoded(id)}/export?versionOptions=${one.version}`, `${id}-${one.version}.json`)), " ",
      isAllowed && !one.isPublished && !one.isLatest ? action("Roll back…", () => rollBack(id, one)) : ""),
  ]), "");
}

export async function page(query, id) {
  const read = Math.min(Math.max(Number(query.get("read")) || STEP, STEP), MOST);
  const [latest, versions, runs, failed, server, mayPublish, mayStart] = await Promise.all([
    api("GET", `/workflow-definitions/by-definition-id/${encoded(id)}`),
    api("GET", `/workflow-definitions/${encoded(id)}/versions`).then((all) => all.items ?? all),
    api("POST", "/workflow-instances", { page: 0, pageSize: read, definitionIds: [id] }),
    api("POST", "/workflow-instances", { page: 0, pageSize: FAILED_READ_MAX, definitionIds: [id], hasIncidents: true, subStatuses: ["Faulted", "Suspended", "Executing"] }),
    about(), may("publish:workflow-definitions"), may("exec:workflow-definitions"),
  ]);
  versions.sort((a, b) => b.version - a.version);
  const published = versions.find((one) => one.isPublished);
  const [graph, causes] = await Promise.all([graphOf((published ?? latest).id), groups(failed.items)]);
  const all = runs.items;
  const told = figures(all);
  const card = (number, name, href = null, colour = "") => h(href ? "a" : "div", { class: "card", href }, h("b", { class: colour }, number), h("span", {}, name));
  const of = (state) => `/#/instances?status=${state}&definition=${encoded(id)}`;
  const total = runs.totalCount.toLocaleString("en") + (runs.isTotalExact === false ? " or more" : "");
  const covers = all.length ? [`These figures cover the newest ${all.length.toLocaleString("en")} of ${total} runs, since `, clock(all.at(-1).createdAt), `. Durations are those of the ${told.count.toLocaleString("en")} finished runs among them. `,
    runs.totalCount > all.length && read < MOST ? link(`definitions/${encoded(id)}?read=${MOST}`, `Read ${MOST.toLocaleString("en")}`) : ""] : "";
  return [
    h("h1", {}, h("span", {}, latest.name || id)),
    latest.description ? h("p", { class: "soft" }, latest.description) : "",
    h("div", { class: "tools" },
      published && mayStart ? action("Start…", () => startById(id), { class: "main" }) : "",
      server.studio ? h("a", { class: "button", href: `/workflows/definitions/${encoded(id)}/edit` }, "Edit in Studio") : "",
      action("Export", () => download(`/workflow-definitions/${encoded(id)}/export`, `${id}.json`)),
      h("span", { class: "soft" }, published ? `version ${published.version} is published${latest.version !== published.version ? `, version ${latest.version} is a draft` : ""}` : "no version is published, so it cannot be started")),
    all.length ? [
      h("h2", {}, "Runs"),
      h("div", { class: "cards" },
        card(String(told.by.Finished ?? 0), "finished", of("Finished"), "good"), card(String(told.by.Suspended ?? 0), "waiting", of("Suspended"), "wait"),
        card(String(told.by.Faulted ?? 0), "failed", of("Faulted"), told.by.Faulted ? "bad" : ""),
        card(told.p50 == null ? "–" : duration(told.p50), "median duration (p50)"), card(told.p95 == null ? "–" : duration(told.p95), "95th percentile (p95)"), card(told.longest == null ? "–" : duration(told.longest), "longest")),
      h("p", { class: "soft" }, covers),
      chart(all)] : [h("h2", {}, "Runs"), nothing("This workflow has not run yet.", published ? "Start it to see its runs here." : "Publish a version to start it.")],
    causes.length ? [h("h2", {}, "Failures by cause"), failed.totalCount > failed.items.length ? h("p", { class: "soft" }, `Of the newest ${failed.items.length} of ${failed.totalCount.toLocaleString("en")} instances with incidents.`) : "", blocks(causes)] : "",
    h("h2", {}, "Graph"), drawing(graph),
    h("div", { class: "tools" }, h("h2", {}, "Versions"), h("span", { class: "end" }, versions.length > 1 ? action("Compare…", () => compareVersions(id, versions)) : "")),
    versionTable(id, versions, mayPublish),
    all.length ? [h("div", { class: "tools" }, h("h2", {}, "Latest runs"), h("span", { class: "end" }, link(`instances?definition=${encoded(id)}`, "All runs"))), list(all.slice(0, 10))] : "",
  ];
}
