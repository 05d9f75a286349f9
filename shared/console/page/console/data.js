// What several pages read from the API.

import { api, token } from "./session.js";

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

export const rows = (items, row) => items.map(row);

/** Retries what failed in an instance. */
export const retry = (id, activityIds) => api("POST", "/alterations/workflows/retry", { workflowInstanceIds: [id], activityIds });
