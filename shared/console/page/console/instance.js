// One instance: its graph, timeline and journal, what it waits for with the buttons to answer, its incidents and values. The page
// follows the instance: it asks often while something happens, and less and less often while nothing does.

import { about, api, may } from "./session.js";
import { action, duration, few, h, instanceLink, json, link, moment, pill, say, table, whole } from "./dom.js";
import { activityName, graphOf, reason, retry } from "./data.js";
import { confirmed, dialog, field, jsonOf } from "./dialog.js";
import { buttons, describe } from "./answers.js";
import { children } from "./children.js";
import { drawing, statesOf } from "./graph.js";
import { journal } from "./journal.js";
import { timeline } from "./timeline.js";

const SOON_MS = 1_000;
const LATER_MS = 15_000;
const EXECUTIONS_MAX = 2_000;

/** What differs from one reading to the next. */
const mark = (found) => `${found.updatedAt} ${found.subStatus}`;

async function changeVariable(id, variable, then) {
  const changed = await dialog({
    title: `Change the variable ${variable.name}`, ok: "Change", body: [field("Value", h("textarea", { name: "value", rows: 6, spellcheck: "false", value: JSON.stringify(variable.value, null, 2) ?? "null" }), "JSON")],
    work: async (form) => {
      const value = jsonOf(form, "value", "Value") ?? null;
      await api("POST", `/workflow-instances/${encodeURIComponent(id)}/variables`, { variables: [{ id: variable.id, value }] });
      return true;
    },
  });
  if (changed) { say(`${variable.name} was changed.`); then(); }
}

export async function page(query, id) {
  const path = `/workflow-instances/${encodeURIComponent(id)}`;
  const [mayCancel, mayDelete, mayRetry, mayWrite, server] = await Promise.all([may("cancel:workflow-instances"), may("delete:workflow-instances"), may("run:alterations"), may("write:workflow-instances"), about()]);
  const places = Object.fromEntries(["head", "incidents", "waits", "graph", "timeline", "children", "values"].map((name) => [name, h("section", { "data-part": name })]));
  const log = journal(id);
  let seen = "";
  let wait = SOON_MS;
  const now = () => update(true);

  async function read() {
    const found = await api("GET", path);
    const [graph, executions, variables, tree] = await Promise.all([
      graphOf(found.definitionVersionId),
      api("GET", `/activity-execution-summaries/list?workflowInstanceId=${encodeURIComponent(id)}`).then((all) => all.items),
      api("GET", `${path}/variables`).then((all) => all.items),
      children(id),
    ]);
    return { found, graph, executions: executions.slice(0, EXECUTIONS_MAX), variables, tree };
  }

  function head({ found }) {
    const isOver = found.status === "Finished";
    const took = (isOver ? new Date(found.finishedAt ?? found.updatedAt) : new Date()) - new Date(found.createdAt);
    const facts = [
      ["Workflow", [link(`definitions/${encodeURIComponent(found.definitionId)}`, found.definitionId), ` version ${found.version}`]],
      ["Instance", h("code", {}, id)], ["Correlation", found.correlationId],
      ["Parent", found.parentWorkflowInstanceId && instanceLink(found.parentWorkflowInstanceId, found.parentWorkflowInstanceId)],
      ["Started", moment(found.createdAt)], ["Changed", moment(found.updatedAt)], ["Ended", found.finishedAt && moment(found.finishedAt)], [isOver ? "Took" : "Open for", duration(took)],
    ];
    const hasFailed = found.workflowState.incidents.length > 0;
    return [
      h("h1", {}, h("span", {}, found.name || found.definitionId), " ", pill(found.subStatus)),
      h("div", { class: "tools" },
        hasFailed && mayRetry && action("Retry", async () => {
          if (!(await confirmed("Retry this instance?", "Every failed activity of it runs again. Do this after you have corrected the cause.", "Retry", false))) return;
          await retry(id); say("The failed activities run again."); await now();
        }, { class: "main" }),
        !isOver && mayCancel && action("Cancel", async () => {
          if (!(await confirmed("Cancel this instance?", "It stops where it is and never continues. Its child instances are cancelled too.", "Cancel the instance"))) return;
          await api("POST", `/cancel/workflow-instances/${encodeURIComponent(id)}`); say("The instance was cancelled."); await now();
        }, { class: "danger" }),
        isOver && mayDelete && action("Delete", async () => {
          if (!(await confirmed("Delete this instance?", "The instance is deleted with its journal. This cannot be undone.", "Delete"))) return;
          await api("DELETE", path); say("The instance was deleted."); location.hash = "/instances";
        }, { class: "danger" }),
        server.studio ? h("a", { class: "button", href: `/workflows/instances/${encodeURIComponent(id)}/view` }, "Open in Studio") : ""),
      h("dl", { class: "facts columns" }, facts.filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    ];
  }

  const incidents = ({ found }, names) => {
    const all = found.workflowState.incidents;
    return all.length ? [h("h2", {}, "Incidents"), table(["Activity", "Message", "When", ""], all.map((one) => [
      h("td", {}, activityName(names, one.activityId)), whole(h("span", { class: "bad" }, reason(one)), one.exception?.stackTrace ? h("details", {}, h("summary", { class: "soft" }, "stack trace"), h("pre", {}, one.exception.stackTrace)) : ""), few(moment(one.timestamp)),
      few(mayRetry ? action("Retry", async () => { await retry(id, [one.activityId]); say("The activity runs again."); await now(); }) : ""),
    ]), "")] : [];
  };

  const waits = ({ found }, names) => {
    const all = found.workflowState.bookmarks;
    return all.length ? [h("h2", {}, "Waits for"), table(["Activity", "For", "Since", "Due", ""], all.map((one) => [
      h("td", {}, activityName(names, one.activityId)), whole(describe(one).title), few(moment(one.createdAt)), few(moment(one.due)),
      h("td", { class: "buttons" }, buttons(id, one, now)),
    ]), "")] : [];
  };

  const values = ({ found, variables }) => {
    const { input, output } = found.workflowState;
    const isOver = found.status === "Finished";
    return [
      Object.keys(input ?? {}).length ? [h("h2", {}, "Input"), json(input)] : "",
      Object.keys(output ?? {}).length ? [h("h2", {}, "Output"), json(output)] : "",
      variables.length ? [h("h2", {}, "Variables"), table(["Name", "Value", ""], variables.map((one) => [
        few(one.name), whole(h("code", {}, JSON.stringify(one.value) ?? "null")), few(isOver || !mayWrite ? "" : action("Change…", () => changeVariable(id, one, now))),
      ]), "")] : "",
    ].flat(2);
  };

  /** Failed attempts by execution: the journal's lines of faults that did not end it. */
  function tries() {
    const found = new Map();
    for (const line of log.lines()) if (line.eventName === "Faulted" || line.eventName === "Retried") found.set(`${id}${line.activityInstanceId}`, [...(found.get(`${id}${line.activityInstanceId}`) ?? []), line.timestamp]);
    return found;
  }

  function draw(all, names) {
    const root = all.executions[0];
    // A faulted instance keeps its other branches: they continue after a retry.
    const hasEnded = ["Finished", "Cancelled"].includes(all.found.subStatus);
    const inside = all.executions.filter((one) => names.has(one.activityId));
    const put = (name, content) => { if (!places[name].contains(document.activeElement) || document.activeElement.tagName !== "SUMMARY") places[name].replaceChildren(...content.flat(3).filter(Boolean)); };
    put("head", head(all));
    put("incidents", incidents(all, names));
    put("waits", waits(all, names));
    put("graph", [h("h2", {}, "Graph"), all.graph ? drawing(all.graph, { states: statesOf(all.executions, hasEnded), rest: "idle", pick: log.show }) : h("p", { class: "soft" }, "The definition of this instance cannot be read.")]);
    put("timeline", [h("h2", {}, "Timeline"), timeline(inside.length ? inside : [root].filter(Boolean), tries(), (one) => names.get(one) ?? one, { begin: all.found.createdAt, end: all.found.status === "Finished" ? all.found.finishedAt ?? all.found.updatedAt : null, hasEnded, pick: log.show })]);
    put("children", all.tree);
    put("values", values(all));
  }

  /** Looks whether the instance has changed; the time until the next look. */
  async function update(isForced = false) {
    const state = await api("GET", `${path}/execution-state`);
    if (!isForced && mark(state) === seen) {
      wait = Math.min(wait * 1.5, state.status === "Finished" ? LATER_MS * 4 : LATER_MS);
      return wait;
    }
    // Nobody loses what they type: a dialog is above the page, and the journal keeps its search.
    const all = await read();
    const names = new Map((all.graph?.nodes ?? []).map((node) => [node.id, node.name]));
    await log.update(names);
    draw(all, names);
    seen = mark(all.found);
    wait = SOON_MS;
    return wait;
  }

  const main = [places.head, places.incidents, places.waits, places.graph, places.timeline, places.children];
  await update(true);
  const content = [...main, log.element(), places.values];
  content.update = update;
  content.refreshMs = SOON_MS;
  return content;
}
