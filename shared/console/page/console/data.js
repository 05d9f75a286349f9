// Data that several pages read from the API.

import { api, may, onToken, token } from "./session.js";
import { h, moment } from "./dom.js";

/** How many instances match, as text: "10,000+" where counting ended. */
export async function count(filter) {
  const found = await api("POST", "/workflow-instances", { page: 0, pageSize: 1, ...filter });
  return found.totalCount.toLocaleString("en") + (found.isTotalExact === false ? "+" : "");
}

/** The node's metrics by name; those that it does not publish are left out. */
export async function metrics() {
  if (!(await may("read:metrics"))) return {};
  const headers = token() ? { authorization: `Bearer ${token()}` } : {};
  const response = await fetch("/metrics", { headers }).catch(() => null);
  const numbers = {};
  if (!response?.ok) return numbers;
  for (const line of (await response.text()).split("\n")) {
    const [, name, labels, value] = line.match(/^([a-z_]+)(\{[^}]*\})? (\S+)$/i) ?? [];
    if (name && !labels) numbers[name] = Number(value);
  }
  return numbers;
}

/** Whether workflows are paused, by whom and since when. `undefined` without the permission to read it. */
export async function pauseState() {
  if (!(await may("read:workflow-runtime")) && !(await may("ManageWorkflowRuntime"))) return undefined;
  return (await api("GET", "/admin/workflow-runtime/status")).state;
}

/** A pause in words. */
export const pauseWords = (state) => [h("span", { class: "pill wait" }, "Paused"), " since ", moment(state.pausedAt), ` by ${state.pauseRequestedBy}${state.pauseReasonText ? `: ${state.pauseReasonText}` : ""}`];

/** Retries failed activities of an instance; all of them if none is named. Throws with the server's reason if it was not possible. */
export async function retry(id, activityIds = []) {
  const { results } = await api("POST", "/alterations/workflows/retry", { workflowInstanceIds: [id], activityIds });
  const [result] = results;
  if (!result) throw new Error("This instance does not exist any more.");
  if (!result.isSuccessful) throw new Error(result.log?.logEntries?.[0]?.message ?? "The instance cannot be retried.");
}

const graphs = new Map();

/** The graph of a version of a definition, which never changes: nodes with places, and arrows. Null without a definition. */
export function graphOf(versionId) {
  if (!graphs.has(versionId)) graphs.set(versionId, api("GET", `/workflow-definitions/graph/${encodeURIComponent(versionId)}`).catch((error) => { graphs.delete(versionId); if (error.status === 404 || error.status === 403) return null; throw error; }));
  return graphs.get(versionId);
}

/** Names of the activities of a version by their ids. */
export async function namesOf(versionId) {
  const graph = await graphOf(versionId);
  return new Map((graph?.nodes ?? []).map((node) => [node.id, node.name]));
}

/** An activity by its name, with the id in the title. */
export const activityName = (names, id, other = null) => h("span", { class: "activity", title: `Activity ${id}` }, names.get(id) ?? other ?? id ?? "");

const seen = new Map();
const SEEN_MAX = 500;

// The next user may not be allowed to read what this one has read.
onToken((token) => { if (!token) { graphs.clear(); seen.clear(); } });

/** An instance with its state. What has not changed since it was read is not read again. */
export async function wholeInstance(listed) {
  const known = seen.get(listed.id);
  if (known?.updatedAt === listed.updatedAt && known.subStatus === listed.subStatus) return known;
  const found = await api("GET", `/workflow-instances/${encodeURIComponent(listed.id)}`).catch((error) => { if (error.status === 404) return null; throw error; });
  if (seen.size >= SEEN_MAX) seen.delete(seen.keys().next().value);
  if (found) seen.set(listed.id, found);
  return found;
}

/** What went wrong: the sentence of an incident, and what made an input fail. */
export const reason = (incident) => (incident.cause ? `${incident.message}: ${incident.cause}` : incident.message);
