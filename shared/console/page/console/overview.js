// What runs, waits and failed, what needs somebody, and what it costs.

import { api, about } from "./session.js";
import { h, link, moment, pill, table, few, whole } from "./dom.js";
import { count, metrics, pauseState, pauseWords, rows } from "./data.js";

/** What a burst on AWS is, at the prices of the build: an invocation, a lease, a commit, a read. */
function cost(prices, numbers) {
  if (!prices) return null;
  const bursts = numbers.dormouse_burst_seconds_count ?? 0;
  const told = (bursts / 1e6) * prices.perMillionBursts;
  return [
    h("h2", {}, "What it costs"),
    h("p", {}, `Since this node began: ${bursts.toLocaleString("en")} ${bursts === 1 ? "burst" : "bursts"}. On AWS that would have cost ${told < 0.01 ? "less than a cent" : `about $${told.toFixed(2)}`} `,
      h("span", { class: "soft" }, `($${prices.perMillionBursts.toFixed(2)} a million, prices of ${prices.date}); what waits costs nothing. `),
      "For one workflow: ", h("code", {}, "dormouse cost FILE"), "."),
  ];
}

export async function overview() {
  const [running, waiting, faulted, finished, letters, recent, numbers, server, pausing] = await Promise.all([
    count({ subStatuses: ["Executing", "Pending"] }),
    count({ subStatuses: ["Suspended"] }),
    count({ subStatuses: ["Faulted"] }),
    count({ subStatuses: ["Finished"] }),
    api("GET", "/bookmark-queue/dead-letters?pageSize=1").catch(() => null),
    api("POST", "/workflow-instances", { page: 0, pageSize: 10 }),
    metrics(),
    about(),
    pauseState(),
  ]);
  const card = (href, number, name, colour) => h("a", { class: "card", href: `/#/${href}` }, h("b", { class: colour }, number), h("span", {}, name));
  const isQuiet = recent.items.length === 0;
  return [
    h("h1", {}, "Overview"),
    server?.guide ? h("p", {}, h("a", { href: server.guide }, "Guide"), h("span", { class: "soft" }, ": concepts, tutorials, operations and reference")) : "",
    pausing?.pausedAt ? h("p", { class: "notice", role: "status" }, pauseWords(pausing), ". Nothing starts or goes on until it is ended: ", link("cluster", "Cluster")) : "",
    h("div", { class: "cards" },
      card("instances?status=Executing", running, "running now", "good"),
      card("instances?status=Suspended", waiting, "waiting", "wait"),
      card("incidents", faulted, "failed", faulted === "0" ? "" : "bad"),
      letters && card("dead-letters", String(letters.totalCount), "dead letters", letters.totalCount ? "bad" : ""),
      card("instances?status=Finished", finished, "finished", "")),
    h("h2", {}, "Lately"),
    table(["Workflow", "State", "Changed", "Correlation"], rows(recent.items, (one) => [
      whole(link(`instances/${encodeURIComponent(one.id)}`, one.name || one.definitionId)),
      few(pill(one.subStatus)), few(moment(one.updatedAt)), one.correlationId ?? "",
    ]), isQuiet && h("span", {}, "Nothing has run yet. Publish a workflow, then start it from ", link("definitions", "Workflows"), ".")),
    cost(server.prices, numbers) ?? "",
  ].flat();
}
