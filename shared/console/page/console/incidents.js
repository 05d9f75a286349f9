// Instances that failed, with what went wrong and a retry.

import { api } from "./session.js";
import { h, link, moment } from "./dom.js";
import { incidentsOf } from "./instance.js";

const SHOWN = 20;

export async function incidents() {
  const found = await api("POST", "/workflow-instances", { page: 0, pageSize: SHOWN, hasIncidents: true, subStatuses: ["Faulted", "Suspended", "Executing"] });
  const details = await Promise.all(found.items.map((one) => api("GET", `/workflow-instances/${encodeURIComponent(one.id)}`).catch(() => null)));
  const again = () => dispatchEvent(new HashChangeEvent("hashchange"));
  const open = details.filter((one) => one?.workflowState.incidents.length);
  return [
    h("h1", {}, "Incidents"),
    open.length ? "" : h("div", { class: "scroll empty" }, "No instance has an incident."),
    ...open.flatMap((one) => [
      h("h2", {}, link(`instances/${encodeURIComponent(one.id)}`, one.name || one.definitionId), " ", h("span", { class: "soft" }, one.correlationId ?? "", " ", moment(one.updatedAt))),
      incidentsOf(one.id, one.workflowState.incidents, again),
    ]),
    found.totalCount > SHOWN ? h("p", { class: "soft" }, `The newest ${SHOWN} of ${found.totalCount}.`) : "",
  ];
}
