// Failed instances by cause: the workflow, the activity and the message without its numbers and ids.

import { activityName, namesOf, reason, retry, wholeInstance } from "./data.js";
import { action, again, each, few, h, instanceLink, moment, say, table, whole } from "./dom.js";
import { confirmed } from "./dialog.js";
import { bulk } from "./bulk.js";

const NAMED_MAX = 50;

/** A message without what differs from instance to instance: ids, numbers, quoted texts that contain digits. */
export const cause = (message) => String(message ?? "").replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{12,}\b|\d+(?:[.,:]\d+)*/gi, "…").replace(/(['"`])[^'"`]*…[^'"`]*\1/g, "$1…$1");

/** The incidents of listed instances in groups, the largest first. */
export async function groups(listed) {
  const found = (await each(listed, 6, wholeInstance)).filter((one) => one?.workflowState.incidents.length);
  const byCause = new Map();
  for (const one of found) {
    for (const incident of one.workflowState.incidents) {
      const key = [one.definitionId, incident.activityId, cause(reason(incident))].join("\n");
      const group = byCause.get(key) ?? { definitionId: one.definitionId, versionId: one.definitionVersionId, workflow: one.name || one.definitionId, activityId: incident.activityId, message: reason(incident), type: incident.exception?.type, instances: new Map(), first: incident.timestamp, last: incident.timestamp };
      group.instances.set(one.id, { instance: one, incident });
      if (incident.timestamp < group.first) group.first = incident.timestamp;
      if (incident.timestamp > group.last) group.last = incident.timestamp;
      byCause.set(key, group);
    }
  }
  const all = [...byCause.values()].sort((a, b) => b.instances.size - a.instances.size);
  await each(all, 6, async (group) => { group.names = await namesOf(group.versionId); });
  return all;
}

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

async function retryAll(group) {
  const items = [...group.instances.values()].map(({ instance }) => instance);
  if (items.length > 1 && !(await confirmed(`Retry ${plural(items.length, "instance")}?`, "The failed activity runs again in each of them. Do this after you have corrected the cause.", "Retry all", false))) return;
  if (items.length === 1) {
    await retry(items[0].id, [group.activityId]);
    say("The activity runs again.");
  } else await bulk({ title: `Retrying ${plural(items.length, "instance")}`, items, name: (one) => instanceLink(one.id, one.correlationId || one.id), work: async (one) => { await retry(one.id, [group.activityId]); return "retried"; } });
  again();
}

/** A group as a block: what went wrong, where, how often, and one retry for all. */
function block(group) {
  const many = [...group.instances.values()];
  const list = table(["Instance", "Message", "When"], many.slice(0, NAMED_MAX).map(({ instance, incident }) => [
    whole(instanceLink(instance.id, instance.correlationId || instance.id)), reason(incident), few(moment(incident.timestamp)),
  ]), "");
  return h("section", { class: "cause" },
    h("div", { class: "tools" },
      h("h2", {}, group.workflow, " › ", activityName(group.names, group.activityId)),
      h("span", { class: "end" }, action(many.length === 1 ? "Retry" : `Retry all ${many.length}`, () => retryAll(group), { class: "main" }))),
    h("p", { class: "message" }, group.message),
    h("p", { class: "soft" }, plural(many.length, "instance"), ", last ", moment(group.last), many.length > 1 ? [", first ", moment(group.first)] : "", group.type ? `, ${group.type}` : ""),
    many.length === 1 ? h("p", {}, instanceLink(many[0].instance.id, "Open the instance"), many[0].instance.correlationId ? h("span", { class: "soft" }, ` ${many[0].instance.correlationId}`) : "")
      : h("details", {}, h("summary", {}, `Instances with this cause (${group.activityId})`), list, many.length > NAMED_MAX ? h("p", { class: "soft" }, `The first ${NAMED_MAX} are listed; the retry is for all ${many.length}.`) : ""));
}

export const blocks = (all) => all.map(block);
