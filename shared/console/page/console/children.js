// The instances that an instance started, as a tree. A level is read when it is opened.

import { api } from "./session.js";
import { duration, h, instanceLink, moment, pill } from "./dom.js";

const MOST = 100;
const DEPTH_MAX = 12;

async function level(id, depth) {
  const found = await api("POST", "/workflow-instances", { page: 0, pageSize: MOST, parentWorkflowInstanceId: id });
  return { found, list: found.items.length ? h("ul", { class: "tree" }, found.items.map((one) => branch(one, depth)),
    found.totalCount > MOST ? h("li", { class: "soft" }, `The newest ${MOST} of ${found.totalCount.toLocaleString("en")}.`) : "") : null };
}

function branch(one, depth) {
  const below = h("div", { hidden: true });
  const button = h("button", { type: "button", class: "plain", "aria-expanded": "false", "aria-label": `Children of ${one.name || one.definitionId} ${one.id}`, onclick: async () => {
    below.hidden = !below.hidden;
    button.setAttribute("aria-expanded", String(!below.hidden));
    if (below.hidden) return;
    try {
      const { list } = await level(one.id, depth + 1);
      below.replaceChildren(list ?? h("p", { class: "soft" }, "It started no instances."));
    } catch (error) {
      below.replaceChildren(h("p", { class: "bad" }, error.message));
    }
  } });
  const took = one.finishedAt ? duration(new Date(one.finishedAt) - new Date(one.createdAt)) : "";
  return h("li", {}, depth < DEPTH_MAX ? button : "", " ", instanceLink(one.id, one.name || one.definitionId), " ", pill(one.subStatus), " ",
    h("span", { class: "soft" }, one.correlationId ? `${one.correlationId} · ` : "", moment(one.createdAt), took ? ` · ${took}` : ""), below);
}

/** The children of an instance with a heading; nothing if there are none. */
export async function children(id) {
  const { found, list } = await level(id, 0);
  return list ? [h("h2", {}, `Child instances (${found.totalCount.toLocaleString("en")})`), list] : [];
}
