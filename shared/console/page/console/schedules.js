// Schedules: recurring triggers with their next occurrences, and the timers that instances wait for.

import { api, may } from "./session.js";
import { action, again, few, h, instanceLink, link, moment, nothing, say, table, whole } from "./dom.js";
import { confirmed } from "./dialog.js";

const SIZE = 25;

/** When a schedule fires, in words. */
function rhythm({ kind, expression, zone }) {
  if (kind === "at") return "once";
  if (kind === "every") return `every ${expression}`;
  return [h("code", {}, expression), zone && zone !== "UTC" ? ` ${zone}` : ""];
}

const OVERLAPS = { allow: "starts beside it", skip: "is left out", bufferOne: "waits for its end", cancelPrevious: "cancels it" };

async function skip({ definitionId, activityId, nextOccurrences: [next, then] }) {
  const at = (time) => new Date(time).toLocaleString();
  const text = `${definitionId} does not start at ${at(next)}. ${then ? `It starts at ${at(then)} again.` : "There is no other occurrence."}`;
  if (!(await confirmed("Skip the next occurrence?", text, "Skip it", false))) return;
  await api("POST", "/schedules/skip", { definitionId, activityId, occurrence: next });
  say("The occurrence is skipped.");
  again();
}

const after = (query, name, cursor) => {
  const next = new URLSearchParams(query);
  if (cursor) next.set(name, cursor); else next.delete(name);
  return `schedules${next.size ? `?${next}` : ""}`;
};

/** Links to the first and to the next page of one of the two lists. */
const pages = (query, name, cursor) => h("p", {}, query.get(name) ? link(after(query, name, ""), "First") : "", " ", cursor ? link(after(query, name, cursor), "More") : "");

export async function page(query) {
  const of = (name) => `pageSize=${SIZE}${query.get(name) ? `&cursor=${encodeURIComponent(query.get(name))}` : ""}`;
  const [schedules, timers, maySkip] = await Promise.all([
    api("GET", `/schedules?${of("schedules")}`), api("GET", `/schedules/timers?${of("timers")}`), may("run:alterations"),
  ]);
  return [
    h("h1", {}, "Schedules"),
    h("p", { class: "soft" }, "Workflows that start by themselves. An occurrence is a time at which one starts."),
    schedules.items.length ? table(["Workflow", "Schedule", "Next", "Then", "While one runs, the next", ""], schedules.items.map((one) => [
      whole(link(`definitions/${encodeURIComponent(one.definitionId)}`, one.definitionId), " ", h("span", { class: "soft" }, one.activityId)),
      few(rhythm(one)), few(moment(one.nextOccurrences[0])),
      h("td", { class: "few" }, one.nextOccurrences.slice(1, 3).map((time) => h("div", { class: "soft" }, moment(time)))),
      OVERLAPS[one.overlapPolicy] ?? one.overlapPolicy,
      h("td", { class: "few buttons" }, maySkip ? action("Skip next…", () => skip(one), { "aria-label": `Skip next… of ${one.definitionId} ${one.activityId}` }) : ""),
    ])) : nothing("No workflow starts by itself.", "A published workflow with a Timer, Cron or StartAt trigger is listed here."),
    pages(query, "schedules", schedules.cursor),
    h("h2", {}, "Timers of instances"),
    !timers.areListed ? h("p", { class: "soft" }, "The timers of this server lie in a scheduler outside, which does not list them.")
      : timers.items.length ? table(["Due", "Instance", "Workflow", "Correlation"], timers.items.map((one) => [
        few(moment(one.due)), whole(instanceLink(one.workflowInstanceId, one.name || one.workflowInstanceId)),
        link(`definitions/${encodeURIComponent(one.definitionId)}`, one.definitionId), one.correlationId ?? "",
      ])) : nothing("No instance waits for a time."),
    pages(query, "timers", timers.cursor),
  ];
}
