// Open tasks: what people and workers are asked to do, with forms to complete or fail them.

import { api } from "./session.js";
import { action, again, each, few, h, instanceLink, link, moment, nothing, say, table, whole } from "./dom.js";
import { activityName, namesOf, wholeInstance } from "./data.js";
import { completeTask, describe, failTask } from "./answers.js";

const STEP = 100;
const MOST = 1_000;

/** The tasks of an instance. */
async function tasksOf(one) {
  if (!one) return [];
  const open = one.workflowState.bookmarks.map((bookmark) => ({ bookmark, what: describe(bookmark) })).filter(({ what }) => what.kind === "task" && what.task);
  if (!open.length) return [];
  const names = await namesOf(one.definitionVersionId);
  return open.map((task) => ({ ...task, instance: one, names }));
}

/** What the person should know of a task before answering. */
const context = ({ instance, bookmark, names }) => h("p", { class: "soft" }, instance.name || instance.definitionId, " › ", activityName(names, bookmark.activityId), instance.correlationId ? ` · ${instance.correlationId}` : "", " · ", moment(bookmark.createdAt));

export async function page(query) {
  const read = Math.min(Math.max(Number(query.get("read")) || STEP, STEP), MOST);
  const wanted = query.get("task") ?? "";
  const found = await api("POST", "/workflow-instances", { page: 0, pageSize: read, subStatuses: ["Suspended"] });
  const all = (await each(found.items, 6, async (one) => tasksOf(await wholeInstance(one)))).flat();
  all.sort((a, b) => (a.bookmark.createdAt < b.bookmark.createdAt ? -1 : 1));
  const kinds = [...new Set(all.map(({ what }) => what.taskName))].sort();
  const shown = wanted ? all.filter(({ what }) => what.taskName === wanted) : all;
  const isMore = found.totalCount > found.items.length;
  const after = (work) => async () => { const said = await work(); if (said) { say(said); again(); } };
  return [
    h("h1", {}, "Inbox"),
    h("div", { class: "tools" },
      kinds.length > 1 || wanted ? h("select", { "aria-label": "Task", onchange: (event) => { location.hash = event.target.value ? `/inbox?task=${encodeURIComponent(event.target.value)}` : "/inbox"; } },
        h("option", { value: "" }, "every task"), kinds.map((name) => h("option", { value: name, selected: name === wanted }, name))) : "",
      h("span", { class: "soft" }, `${shown.length.toLocaleString("en")} open ${shown.length === 1 ? "task" : "tasks"}, the oldest first.`)),
    shown.length ? table(["Task", "Workflow", "Correlation", "Waiting since", ""], shown.map((task) => [
      whole(h("b", {}, task.what.taskName), " ", h("span", { class: "soft" }, activityName(task.names, task.bookmark.activityId)), task.what.queue ? h("div", { class: "soft" }, `for a worker of the queue ${task.what.queue}`) : ""),
      whole(instanceLink(task.instance.id, task.instance.name || task.instance.definitionId)), task.instance.correlationId ?? "", few(moment(task.bookmark.createdAt)),
      h("td", { class: "buttons" },
        action("Complete…", after(() => completeTask(task.what, [context(task)])), { class: "main" }),
        action("Fail…", after(() => failTask(task.what, [context(task)])), { class: "danger" })),
    ])) : nothing("There are no open tasks.", "When a workflow asks for a task, it is listed here."),
    isMore ? h("p", { class: "soft" }, `Covers the newest ${found.items.length} of ${found.totalCount.toLocaleString("en")} waiting instances. `, read < MOST ? link(`inbox?read=${Math.min(MOST, read + STEP * 4)}${wanted ? `&task=${encodeURIComponent(wanted)}` : ""}`, "Read more") : "") : "",
  ];
}
