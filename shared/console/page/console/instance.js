// One instance: what it waits for, what went wrong, what it did.

import { api } from "./session.js";
import { action, few, h, json, link, moment, pill, say, table, whole } from "./dom.js";
import { retry, rows } from "./data.js";

const LINES = 200;

const again = () => dispatchEvent(new HashChangeEvent("hashchange"));

/** The incidents of an instance, each with its retry. */
export const incidentsOf = (id, incidents, then) => table(["Activity", "What went wrong", "When", ""], rows(incidents, (one) => [
  h("code", {}, one.activityId ?? ""), whole(one.message), few(moment(one.timestamp)),
  few(action("Retry", async () => { await retry(id, [one.activityId]); say("It runs again."); then(); })),
]), "");

export async function instance(id) {
  const path = `/workflow-instances/${encodeURIComponent(id)}`;
  const [found, journal, variables] = await Promise.all([
    api("GET", path),
    api("GET", `${path}/journal?skip=0&take=${LINES}`),
    api("GET", `${path}/variables`),
  ]);
  const state = found.workflowState;
  const isOver = found.status === "Finished";
  const studio = `/workflows/instances/${encodeURIComponent(id)}/view`;
  return [
    h("h1", {}, found.name || found.definitionId, " ", pill(found.subStatus)),
    h("div", { class: "tools" },
      h("a", { href: studio }, "Open in Studio"),
      !isOver && action("Cancel", async () => {
        if (!confirm("Cancel this instance? It never goes on after that.")) return;
        await api("POST", `/cancel/workflow-instances/${encodeURIComponent(id)}`);
        again();
      }, { class: "danger" }),
      isOver && action("Delete", async () => {
        if (!confirm("Delete this instance and its journal?")) return;
        await api("DELETE", path);
        location.hash = "/instances";
      }, { class: "danger" })),
    h("dl", { class: "facts" },
      [["Instance", h("code", {}, id)], ["Workflow", `${found.definitionId}, version ${found.version}`], ["Correlation", found.correlationId],
        ["Parent", found.parentWorkflowInstanceId && link(`instances/${encodeURIComponent(found.parentWorkflowInstanceId)}`, found.parentWorkflowInstanceId)],
        ["Began", moment(found.createdAt)], ["Changed", moment(found.updatedAt)], ["Ended", found.finishedAt && moment(found.finishedAt)]]
        .filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    state.incidents.length ? [h("h2", {}, "Incidents"), incidentsOf(id, state.incidents, again)] : "",
    state.bookmarks.length ? [h("h2", {}, "Waits for"), table(["Activity", "For", "Since", "Due"], rows(state.bookmarks, (one) => [
      whole(h("code", {}, one.activityId ?? "")), `${one.name ?? ""} ${one.payload?.EventName ?? one.payload?.TaskName ?? one.payload?.path ?? ""}`, few(moment(one.createdAt)), few(moment(one.due)),
    ]), "")] : "",
    h("h2", {}, "Journal"),
    table(["When", "Activity", "What", ""], rows(journal.items, (line) => [
      few(new Date(line.timestamp).toLocaleTimeString()), h("code", {}, line.activityId), few(line.eventName), whole(line.message ?? ""),
    ]), "It has done nothing yet."),
    journal.totalCount > LINES ? h("p", { class: "soft" }, `The first ${LINES} of ${journal.totalCount} lines; `, h("a", { href: studio }, "Studio"), " has all.") : "",
    variables.items.length ? [h("h2", {}, "Variables"), json(Object.fromEntries(variables.items.map((one) => [one.name, one.value])))] : "",
    Object.keys(state.input ?? {}).length ? [h("h2", {}, "Input"), json(state.input)] : "",
    Object.keys(state.output ?? {}).length ? [h("h2", {}, "Output"), json(state.output)] : "",
  ].flat();
}
