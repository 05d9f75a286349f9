// What several pages read from the API.

import { api, token } from "./session.js";
import { h, moment } from "./dom.js";

/** How many instances match, as text: "10,000+" where counting ended. */
export async function count(filter) {
  const found = await api("POST", "/workflow-instances", { page: 0, pageSize: 1, ...filter });
  return found.totalCount.toLocaleString("en") + (found.isTotalExact === false ? "+" : "");
}

/** The node's numbers by name; what it does not tell is not there. */
export async function metrics() {
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

/** Whether workflows are paused, by whom and since when. `undefined` for those who may not know. */
export const pauseState = () => api("GET", "/admin/workflow-runtime/status").then(({ state }) => state, () => undefined);

/** What there is to say of a pause. */
export const pauseWords = (state) => [h("span", { class: "pill wait" }, "Paused"), " since ", moment(state.pausedAt), ` by ${state.pauseRequestedBy}${state.pauseReasonText ? `: ${state.pauseReasonText}` : ""}`];

export const rows = (items, row) => items.map(row);

/** Retries what failed in an instance. */
export const retry = (id, activityIds) => api("POST", "/alterations/workflows/retry", { workflowInstanceIds: [id], activityIds });
