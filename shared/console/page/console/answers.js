// Open bookmarks of an instance with the buttons that answer them: send the event, complete or fail the task, resume, make a link.

import { api } from "./session.js";
import { action, h, say } from "./dom.js";
import { dialog, field, jsonOf, line } from "./dialog.js";
import { fieldsOf, valuesOf } from "./form.js";

/** What a bookmark waits for: its kind, and what to show of it. */
export function describe(bookmark) {
  const payload = bookmark.payload ?? {};
  if (bookmark.name === "Elsa.Event") return { kind: "event", title: `event ${payload.EventName ?? ""}`, event: payload.EventName };
  if (bookmark.name === "Elsa.RunTask") return { kind: "task", title: `task ${payload.TaskName ?? ""}`, task: payload.TaskId, taskName: payload.TaskName };
  if (payload.For === "task") return { kind: "task", title: `task ${payload.Type ?? ""}`, task: payload.TaskId, taskName: payload.Type, type: payload.Type, version: payload.Version, queue: payload.Queue };
  if (bookmark.waitsFor === "timer") return { kind: "timer", title: "timer" };
  if (bookmark.waitsFor === "call") return { kind: "call", title: bookmark.name?.replace(/^Elsa\./, "") ?? "a call" };
  if (payload.path ?? payload.Path) return { kind: "http", title: `HTTP ${payload.method ?? payload.Method ?? ""} ${payload.path ?? payload.Path}` };
  return { kind: "other", title: (bookmark.name ?? "a resume").replace(/^Elsa\./, "") };
}

const textarea = (name, rows = 4) => h("textarea", { name, rows, spellcheck: "false" });

async function sendEvent(id, event) {
  return dialog({
    title: `Send the event ${event}`, ok: "Send",
    body: [h("p", { class: "soft" }, "Only this instance receives it."), field("Payload", textarea("payload"), "JSON, or empty")],
    work: async (form) => {
      const input = jsonOf(form, "payload", "Payload");
      const { delivered } = await api("POST", `/events/${encodeURIComponent(event)}/trigger`, { workflowInstanceId: id, input, workflowExecutionMode: "Synchronous" });
      return delivered?.resumed.length ? "The event was delivered." : "The instance does not wait for this event any more. The event is kept for it.";
    },
  });
}

/** A form for the result of a task: the outputs and outcomes of its type, else JSON. */
export async function completeTask(what, context = []) {
  const type = what.type && (await api("GET", `/activity-types/${encodeURIComponent(what.type)}?version=${what.version ?? ""}`.replace(/\?version=$/, "")).catch(() => null));
  const outputs = type?.outputs ?? [];
  const outcomes = type?.outcomes ?? [];
  return dialog({
    title: `Complete ${type?.displayName ?? what.taskName}`, ok: "Complete",
    body: [context, type?.description ? h("p", { class: "soft" }, type.description) : "",
      outcomes.length > 1 ? field("Outcome", h("select", { name: "outcome" }, outcomes.map((name) => h("option", { value: name }, name)))) : "",
      type ? fieldsOf(outputs) : field("Result", textarea("result"), "JSON that the workflow receives, such as { \"approved\": true }, or empty")],
    work: async (form) => {
      const body = type ? { outputs: valuesOf(outputs, form), outcome: form.get("outcome") ?? undefined } : { result: jsonOf(form, "result", "Result") };
      await api("POST", `/tasks/${encodeURIComponent(what.task)}/complete`, body);
      return "The task is completed.";
    },
  });
}

export async function failTask(what, context = []) {
  return dialog({
    title: `Fail ${what.taskName}`, ok: "Fail the task", danger: true,
    body: [context, line("Reason", "message", { required: true }, "Shown as the incident's message"), line("Code", "code", {}, "Optional. A type of error that the workflow can handle")],
    work: async (form) => {
      const message = form.get("message").trim();
      if (!message) throw Object.assign(new Error("Reason: a value is required."), { field: "message" });
      await api("POST", `/tasks/${encodeURIComponent(what.task)}/fail`, { error: { message, ...(form.get("code").trim() ? { type: form.get("code").trim() } : {}) } });
      return "The task has failed.";
    },
  });
}

async function resume(id, bookmark, title) {
  return dialog({
    title, ok: "Resume",
    body: [h("p", { class: "soft" }, "The activity continues as if what it waits for had happened."), field("Input", textarea("input"), "JSON object for the activity, or empty")],
    work: async (form) => {
      await api("POST", `/workflow-instances/${encodeURIComponent(id)}/resume`, { bookmarkId: bookmark.id, input: jsonOf(form, "input", "Input") });
      return "The instance was resumed.";
    },
  });
}

async function makeLink(id, bookmark) {
  const made = await dialog({
    title: "Make a link", ok: "Make the link",
    body: [h("p", { class: "soft" }, "Whoever has the link can answer once, without an account."),
      line("Title", "title", { maxlength: 200, value: bookmark.activityName ?? "" }), field("Text", textarea("text", 3), "Shown below the title"),
      line("Answers", "outcomes", { placeholder: "Approve, Reject" }, "One button for each, separated by commas. Empty: one button"),
      field("Valid for", h("select", { name: "days" }, [[1, "1 day"], [7, "7 days"], [30, "30 days"], [90, "90 days"]].map(([days, name]) => h("option", { value: days, selected: days === 7 }, name))))],
    work: (form) => api("POST", `/workflow-instances/${encodeURIComponent(id)}/bookmarks/${encodeURIComponent(bookmark.id)}/links`, {
      title: form.get("title").trim() || null, text: form.get("text").trim() || null,
      outcomes: form.get("outcomes").split(",").map((name) => name.trim()).filter(Boolean),
      expiresInMs: Number(form.get("days")) * 86_400_000,
    }),
  });
  if (!made) return null;
  const shown = h("input", { readonly: true, value: made.url, "aria-label": "Link", onfocus: (event) => event.target.select() });
  await dialog({
    title: "The link", ok: "Copy", close: "Close",
    body: [h("p", {}, "It is shown only now. Send it to the person who answers."), shown],
    work: async () => {
      try { await navigator.clipboard.writeText(made.url); } catch { shown.select(); throw new Error("The browser does not allow copying here. The link is selected: press Ctrl+C."); }
      say("The link was copied.");
      return true;
    },
  });
  return null;
}

/** The buttons of a bookmark. `then` runs after an answer. */
export function buttons(id, bookmark, then) {
  const what = describe(bookmark);
  const after = (work) => async () => { const said = await work(); if (said) { say(said); then(); } };
  const resumed = (label, title) => action(label, after(() => resume(id, bookmark, title)));
  const toLink = action("Make a link…", after(() => makeLink(id, bookmark)));
  if (what.kind === "call") return [];
  if (what.kind === "event") return [action("Send the event…", after(() => sendEvent(id, what.event)), { class: "main" }), toLink];
  if (what.kind === "task") return [action("Complete…", after(() => completeTask(what)), { class: "main" }), action("Fail…", after(() => failTask(what)), { class: "danger" }), what.type ? "" : toLink];
  if (what.kind === "timer") return [resumed("Resume now…", "Resume before the time is due"), toLink];
  return [resumed("Resume…", `Resume ${what.title}`), toLink];
}
