// How many instances run, wait and failed, the latest ones, and the cost.

import { about, api, may } from "./session.js";
import { few, h, instanceLink, link, moment, pill, table, whole } from "./dom.js";
import { count, metrics, pauseState, pauseWords } from "./data.js";

/** The cost of a burst on AWS at the prices of the build: an invocation, a lease, a commit, a read. */
function cost(prices, numbers) {
  if (!prices) return null;
  const bursts = numbers.dormouse_burst_seconds_count ?? 0;
  const told = (bursts / 1e6) * prices.perMillionBursts;
  return [
    h("h2", {}, "Cost"),
    h("p", {}, `Since this node started: ${bursts.toLocaleString("en")} ${bursts === 1 ? "burst" : "bursts"}. On AWS that would have cost ${told < 0.01 ? "less than a cent" : `about $${told.toFixed(2)}`} `,
      h("span", { class: "soft" }, `($${prices.perMillionBursts.toFixed(2)} a million, prices of ${prices.date}); waiting instances cost nothing. `),
      "For one workflow: ", h("code", {}, "dormouse cost FILE"), "."),
  ];
}

export async function page() {
  const [running, waiting, faulted, finished, letters, recent, numbers, server, pausing] = await Promise.all([
    count({ subStatuses: ["Executing", "Pending"] }),
    count({ subStatuses: ["Suspended"] }),
    count({ subStatuses: ["Faulted"] }),
    count({ subStatuses: ["Finished"] }),
    may("read:bookmark-queue:dead-letters").then((isAllowed) => isAllowed && api("GET", "/bookmark-queue/dead-letters?pageSize=1")),
    api("POST", "/workflow-instances", { page: 0, pageSize: 10 }),
    metrics(),
    about(),
    pauseState(),
  ]);
  const card = (href, number, name, colour) => h("a", { class: "card", href: `/#/${href}` }, h("b", { class: colour }, number), h("span", {}, name));
  const isQuiet = recent.items.length === 0;
  return [
    h("h1", {}, "Overview"),
    pausing?.pausedAt ? h("p", { class: "notice", role: "status" }, pauseWords(pausing), ". No workflow starts or resumes until the pause ends: ", link("cluster", "Cluster")) : "",
    h("div", { class: "cards" },
      card("instances?status=Executing", running, "running now", "good"),
      card("instances?status=Suspended", waiting, "waiting", "wait"),
      card("incidents", faulted, "failed", faulted === "0" ? "" : "bad"),
      letters && card("dead-letters", String(letters.totalCount), "dead letters", letters.totalCount ? "bad" : ""),
      card("instances?status=Finished", finished, "finished", "")),
    h("h2", {}, "Latest instances"),
    table(["Workflow", "State", "Changed", "Correlation"], recent.items.map((one) => [
      whole(instanceLink(one.id, one.name || one.definitionId)),
      few(pill(one.subStatus)), few(moment(one.updatedAt)), one.correlationId ?? "",
    ]), isQuiet && h("span", {}, "Nothing has run yet. Publish a workflow, then start it from ", link("definitions", "Workflows"), ".")),
    cost(server.prices, numbers) ?? "",
  ].flat();
}
