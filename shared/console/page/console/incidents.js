// Instances that failed, by cause, with one retry for all that share it.

import { api } from "./session.js";
import { h, link, nothing } from "./dom.js";
import { blocks, groups } from "./causes.js";

const STEP = 100;
const MOST = 1_000;

export async function page(query) {
  const read = Math.min(Math.max(Number(query.get("read")) || STEP, STEP), MOST);
  const found = await api("POST", "/workflow-instances", { page: 0, pageSize: read, hasIncidents: true, subStatuses: ["Faulted", "Suspended", "Executing"] });
  const all = await groups(found.items);
  const total = found.totalCount.toLocaleString("en") + (found.isTotalExact === false ? " or more" : "");
  const more = found.totalCount > found.items.length;
  return [
    h("h1", {}, "Incidents"),
    all.length ? h("p", { class: "soft" }, "Failed activities, grouped by cause. Correct the cause, then retry.",
      more ? ` This page covers the newest ${found.items.length} of ${total} instances. ` : "",
      more && read < MOST ? link(`incidents?read=${read + STEP * 4}`, "Read more") : "") : nothing("No instance has an incident.", "When an activity fails, it is listed here with the reason and a retry."),
    ...blocks(all),
  ];
}
