// The state of the servers behind this address, and checks of their guarantees: small workflows that run here and now and
// are deleted afterwards. `dormouse verify` does more, with deliberate failures.

import { about, api } from "./session.js";
import { action, again, few, h, pill, table, whole } from "./dom.js";
import { dialog, line } from "./dialog.js";
import { metrics, pauseState, pauseWords } from "./data.js";

const SHOWN = [
  ["dormouse_instances_started_total", "instances started"], ["dormouse_instances_completed_total", "finished"],
  ["dormouse_instances_faulted_total", "failed"], ["dormouse_burst_seconds_count", "bursts"],
  ["dormouse_timers_fired_total", "timers fired"], ["dormouse_timers_misfired_total", "timers fired late"],
  ["dormouse_lease_contended_total", "lease conflicts"], ["dormouse_lease_failed_total", "leases not obtained"],
  ["dormouse_table_throttled_total", "throttled calls to the table"], ["dormouse_dead_letters_total", "dead letters"],
];

const literal = (type, value) => ({ typeName: type, expression: { type: "Literal", value } });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const attempt = (work) => work.then(() => true, () => false);

/** Publishes a workflow for one check, and deletes it and its instances afterwards, also after a failure. */
async function withWorkflow(activities, check) {
  const id = `console-check-${crypto.randomUUID?.() ?? Date.now()}`;
  const publish = (activities) => api("POST", "/workflow-definitions", { model: { definitionId: id, name: id, isSystem: true, root: { type: "Elsa.Sequence", id: "all", activities } }, publish: true });
  await publish(activities);
  try {
    return await check({ id, publish, start: () => api("POST", "/workflow-starts", { definitionId: id }) });
  } finally {
    await attempt(api("POST", "/bulk-actions/delete/workflow-instances", { workflowDefinitionId: id }));
    await attempt(api("DELETE", `/workflow-definitions/${id}`));
  }
}

const event = { type: "Elsa.Event", id: "wait", eventName: literal("String", "console-check-never-sent") };
const idOf = (started) => started.workflowInstanceId ?? started.id;
const state = async (id) => (await api("GET", `/workflow-instances/${id}/execution-state`)).subStatus;

const CHECKS = [
  ["one of many answers counts", () => withWorkflow([event], async ({ start }) => {
    const id = idOf(await start());
    const body = { workflowInstanceId: id, workflowExecutionMode: "Synchronous" };
    const sent = await Promise.all(Array.from({ length: 20 }, () => api("POST", "/events/console-check-never-sent/trigger", body)));
    const won = sent.reduce((sum, { delivered }) => sum + (delivered?.resumed.length ?? 0), 0);
    if (won !== 1 || (await state(id)) !== "Finished") throw new Error(`${won} of 20 events at once resumed the instance`);
    return "20 events at once, one resumed the instance";
  })],
  ["a timer fires in time", () => withWorkflow([{ type: "Elsa.Delay", id: "delay", timeSpan: literal("TimeSpan", "00:00:02") }], async ({ start }) => {
    const begin = performance.now();
    const id = idOf(await start());
    while ((await state(id)) !== "Finished") {
      if (performance.now() - begin > 15_000) throw new Error("a timer of 2 s has not fired after 15 s");
      await pause(100);
    }
    return `a timer of 2 s was done after ${((performance.now() - begin) / 1000).toFixed(1)} s`;
  })],
  ["a publish is in force at once", () => withWorkflow([event], async ({ publish, start }) => {
    await start();
    await publish([{ type: "Elsa.SetName", id: "name", value: literal("String", "new") }]);
    const starts = await Promise.all(Array.from({ length: 10 }, start));
    const found = await Promise.all(starts.map((one) => api("GET", `/workflow-instances/${idOf(one)}`)));
    const old = found.filter((one) => one.version !== 2).length;
    if (old) throw new Error(`${old} of 10 starts after the publish used the version before`);
    return "10 starts after a publish, none used the version before";
  })],
  ["one start under one key", () => withWorkflow([event], async ({ id }) => {
    const body = { instanceId: `${id}-once` };
    await Promise.all(Array.from({ length: 10 }, () => attempt(api("POST", `/workflow-definitions/${id}/dispatch`, body))));
    const found = await api("POST", "/workflow-instances", { page: 0, pageSize: 50, definitionIds: [id] });
    if (found.totalCount !== 1) throw new Error(`10 starts under one id made ${found.totalCount} instances`);
    return "10 starts under one id, one instance";
  })],
];

/** Runs all checks, one after the other, and shows each result. */
async function run(place) {
  place.dataset.still = "";
  const told = [];
  for (const [name, check] of CHECKS) {
    const row = [whole(name), few(pill("Running")), ""];
    told.push(row);
    place.replaceChildren(table(["Check", "", "Result"], told, ""));
    try {
      row[2] = await check();
      row[1] = few(h("span", { class: "pill good" }, "passed"));
    } catch (error) {
      row[2] = error.message;
      row[1] = few(h("span", { class: "pill bad" }, "failed"));
    }
    place.replaceChildren(table(["Check", "", "Result"], told, ""));
  }
}

/** Whether workflows run, and the button that changes it. Nothing without the permission to know. */
function running(state) {
  if (!state) return "";
  const to = async (what, body) => {
    await api("POST", `/admin/workflow-runtime/${what}`, body);
    again();
  };
  const ask = async () => {
    const isPaused = await dialog({
      title: "Pause all workflows?", ok: "Pause", danger: true,
      body: [h("p", {}, "No workflow of this deployment starts or resumes until somebody ends the pause. Nothing is lost: timers, events and answers wait."), line("Reason", "reason", { maxlength: 200 }, "Shown on every page")],
      work: async (form) => { await api("POST", "/admin/workflow-runtime/pause", { reason: form.get("reason") }); return true; },
    });
    if (isPaused) again();
  };
  return [h("dt", {}, "Workflows"), h("dd", { "data-pause": "" }, state.pausedAt
    ? [pauseWords(state), " ", action("Resume", () => to("resume"))]
    : [h("span", { class: "good" }, "running"), " ", action("Pause…", ask)])];
}

export async function page() {
  const [server, numbers, ready, pausing] = await Promise.all([about(), metrics(), fetch("/health/ready").then((r) => r.ok, () => false), pauseState()]);
  const place = h("div", {}, h("p", { class: "soft" }, pausing?.pausedAt ? "The checks run small workflows, and nothing runs during the pause." : "Each check runs a small workflow on the nodes that answer at this address, and deletes it afterwards."));
  return [
    h("h1", {}, "Cluster"),
    h("dl", { class: "facts" },
      h("dt", {}, "This node"), h("dd", { class: ready ? "good" : "bad" }, ready ? "ready" : "not ready"),
      running(pausing),
      server.version ? [h("dt", {}, "Version"), h("dd", {}, server.version)] : "",
      server.nodes ? [h("dt", {}, "Nodes here"), h("dd", {}, server.nodes.join(", "))] : "",
      h("dt", {}, "Studio"), h("dd", {}, server.studio ? `@elsa-workflows/elsa-studio-wasm ${server.studio}` : ["not installed: ", h("code", {}, "dormouse studio install")])),
    h("div", { class: "tools" }, h("h2", {}, "Checks"), h("span", { class: "end" }, action("Check now", () => run(place), { class: "main", disabled: Boolean(pausing?.pausedAt) }))),
    place,
    h("h2", {}, "Since this node started"),
    h("div", { class: "cards" }, SHOWN.filter(([name]) => name in numbers).map(([name, shown]) => h("div", { class: "card" }, h("b", {}, numbers[name].toLocaleString("en")), h("span", {}, shown)))),
    Object.keys(numbers).length ? "" : h("p", { class: "soft" }, "There are no metrics to show: this address does not publish them (/metrics), or you lack the permission read:metrics."),
  ].flat();
}
