// How many instances run, wait and failed, the latest ones, and the cost.

import { about, api, may, onToken } from "./session.js";
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

// The last figures, which stand there until the next ones have come.
const known = new Map();
onToken((token) => { if (!token) known.clear(); });

/** An element that is filled when its figure has come. Figures are not waited for: counting takes a while in a large table. */
function later(element, name, figure, draw) {
  const show = () => element.replaceChildren(...[draw(known.get(name))].flat());
  if (known.has(name)) show();
  figure.then((found) => { known.set(name, found); show(); }, (error) => { if (!error.isUnreachable && !known.has(name)) element.replaceChildren(h("span", { class: "bad", title: error.message }, "not known")); });
  return element;
}

const nothingYet = () => [h("b", {}, "Nothing has run yet."), h("p", {}, "Publish a workflow, then start it from ", link("definitions", "Workflows"), ".")];

const latest = (found) => table(["Workflow", "State", "Changed", "Correlation"], found.items.map((one) => [
  whole(instanceLink(one.id, one.name || one.definitionId)),
  few(pill(one.subStatus)), few(moment(one.updatedAt)), one.correlationId ?? "",
]), nothingYet());

export async function page() {
  const [pausing, mayLetters] = await Promise.all([pauseState(), may("read:bookmark-queue:dead-letters")]);
  const card = (href, name, figure, colour) => h("a", { class: "card", href: `/#/${href}` },
    later(h("b", {}, "…"), name, figure, (number) => h("span", { class: colour(number) }, number)), h("span", {}, name));
  const always = (colour) => () => colour;
  const unlessNone = (number) => (number === "0" ? "none" : "bad");
  return [
    h("h1", {}, "Overview"),
    pausing?.pausedAt ? h("p", { class: "notice", role: "status" }, pauseWords(pausing), ". No workflow starts or resumes until the pause ends: ", link("cluster", "Cluster")) : "",
    h("div", { class: "cards" },
      card("instances?status=Executing", "running now", count({ subStatuses: ["Executing", "Pending"] }), always("good")),
      card("instances?status=Suspended", "waiting", count({ subStatuses: ["Suspended"] }), always("wait")),
      card("incidents", "failed", count({ subStatuses: ["Faulted"] }), unlessNone),
      mayLetters && card("dead-letters", "dead letters", api("GET", "/bookmark-queue/dead-letters?pageSize=1").then((all) => all.totalCount.toLocaleString("en")), unlessNone),
      card("instances?status=Finished", "finished", count({ subStatuses: ["Finished"] }), always("none"))),
    h("h2", {}, "Latest instances"),
    later(h("div", {}, h("p", { class: "soft" }, "…")), "latest", api("POST", "/workflow-instances", { page: 0, pageSize: 10 }), latest),
    later(h("div", {}), "cost", Promise.all([about(), metrics()]), ([server, numbers]) => cost(server.prices, numbers) ?? []),
  ];
}
