// Open tasks: what people and workers are asked to do, with forms to complete or fail them.

import { api } from "./session.js";
import { action, again, few, h, instanceLink, link, moment, nothing, say, table, whole } from "./dom.js";
import { completeTask, failTask } from "./answers.js";

const SIZE = 25;
/** Requests for one page: a server answers with a short page where few of the waiting instances have a task. */
const REQUESTS_MAX = 20;

const activity = (task) => task.activityName || task.activityId;

/** What the person should know of a task before answering. */
const context = (task) => h("p", { class: "soft" }, task.name || task.definitionId, " › ", activity(task), task.correlationId ? ` · ${task.correlationId}` : "", " · ", moment(task.createdAt));

/** What answers need of a task. */
const answerable = (task) => ({ task: task.taskId, taskName: task.taskName, type: task.activityType, version: task.activityTypeVersion, queue: task.queue });

/** A page of tasks, and where the next one begins. */
async function read(wanted, from) {
  const items = [];
  let cursor = from;
  for (let request = 0; request < REQUESTS_MAX; request += 1) {
    const query = new URLSearchParams({ pageSize: SIZE - items.length, ...(wanted ? { task: wanted } : {}), ...(cursor ? { cursor } : {}) });
    const page = await api("GET", `/tasks?${query}`);
    items.push(...page.items);
    cursor = page.cursor;
    if (!cursor || items.length >= SIZE) break;
  }
  return { items, cursor };
}

export async function page(query) {
  const wanted = query.get("task") ?? "";
  const { items, cursor } = await read(wanted, query.get("cursor"));
  const kinds = [...new Set([...items.map((task) => task.taskName), ...(wanted ? [wanted] : [])])].sort();
  const to = (more) => { const next = new URLSearchParams({ ...(wanted ? { task: wanted } : {}), ...more }); return `inbox${next.size ? `?${next}` : ""}`; };
  const after = (work) => async () => { const said = await work(); if (said) { say(said); again(); } };
  return [
    h("h1", {}, "Inbox"),
    h("div", { class: "tools" },
      kinds.length > 1 || wanted ? h("select", { "aria-label": "Task", onchange: (event) => { location.hash = event.target.value ? `/inbox?task=${encodeURIComponent(event.target.value)}` : "/inbox"; } },
        h("option", { value: "" }, "every task"), kinds.map((name) => h("option", { value: name, selected: name === wanted }, name))) : "",
      h("span", { class: "soft" }, cursor || query.get("cursor") ? `${items.length.toLocaleString("en")} open tasks on this page, those of the oldest instances first.`
        : `${items.length.toLocaleString("en")} open ${items.length === 1 ? "task" : "tasks"}, the oldest first.`)),
    items.length ? table(["Task", "Workflow", "Correlation", "Waiting since", ""], items.map((task) => [
      whole(h("b", {}, task.taskName), " ", h("span", { class: "soft" }, activity(task)), task.queue ? h("div", { class: "soft" }, `for a worker of the queue ${task.queue}`) : ""),
      whole(instanceLink(task.workflowInstanceId, task.name || task.definitionId)), task.correlationId ?? "", few(moment(task.createdAt)),
      h("td", { class: "buttons" },
        action("Complete…", after(() => completeTask(answerable(task), [context(task)])), { class: "main" }),
        action("Fail…", after(() => failTask(answerable(task), [context(task)])), { class: "danger" })),
    ])) : cursor ? nothing("There is no open task among the instances that were read so far.") : nothing("There are no open tasks.", "When a workflow asks for a task, it is listed here."),
    h("p", {}, query.get("cursor") ? link(to({}), "Oldest") : "", " ", cursor ? link(to({ cursor }), "More") : ""),
  ];
}
