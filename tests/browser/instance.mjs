// The page of an instance: its graph, timeline and journal follow it, and what it waits for is answered at a button.

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { API, URL_, accessible, api, arrive, go, leave, literal, open, publish, shoot, subStatus, until } from "./person.mjs";

const page = await arrive();
const start = async (id, body = {}) => (await api("POST", `/workflow-definitions/${id}/dispatch`, body)).workflowInstanceId;
const node = (name) => page.locator(".graph .node", { hasText: name });
const dialog = page.getByRole("dialog");

const at = (x, y) => ({ designer: { position: { x, y } } });
const chart = {
  type: "Elsa.Flowchart", id: "chart",
  activities: [
    { type: "Elsa.WriteLine", id: "say", name: "Say hello", text: { typeName: "String", expression: { type: "JavaScript", value: "'hello ' + 'there'" } }, metadata: at(0, 0) },
    { type: "Elsa.Event", id: "go", name: "Wait for the word", eventName: literal("String", "Word"), metadata: at(300, 0) },
    { type: "Elsa.RunTask", id: "review", name: "Review", taskName: literal("String", "Review"), metadata: at(600, 0) },
    { type: "Elsa.Delay", id: "rest", name: "Rest", timeSpan: literal("TimeSpan", "10:00:00"), metadata: at(900, 120) },
    { type: "Elsa.WriteLine", id: "end", name: "The end", text: literal("String", "bye"), metadata: at(1200, 120) },
  ],
  connections: [["say", "go"], ["go", "review"], ["review", "rest"], ["rest", "end"]].map(([from, to]) => ({ source: { activity: from, port: "Done" }, target: { activity: to, port: "In" } })),
};
await api("POST", "/workflow-definitions", { model: { definitionId: "long", name: "long", root: chart, variables: [{ id: "Count", name: "Count", typeName: "Int32", value: "1", storageDriverTypeName: "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core" }] }, publish: true });
const id = await start("long", { correlationId: "order 7" });
await until("it waits", async () => (await subStatus(id)) === "Suspended");

await open(page, `/#/instances/${id}`);
await node("Wait for the word").waitFor();
const classes = async (name) => (await node(name).getAttribute("class")).replace("node ", "");
assert.deepEqual([await classes("Say hello"), await classes("Wait for the word"), await classes("The end")], ["done", "waiting", "idle"]);
// The designer's places hold: both stand in one row.
const boxOf = (name) => node(name).locator("rect").boundingBox();
assert.equal((await boxOf("Say hello")).y, (await boxOf("Wait for the word")).y);
assert.ok((await boxOf("The end")).y > (await boxOf("Say hello")).y);
await shoot(page, "waits");

// The journal: inputs, one activity only, search, the whole of it as a file.
await page.locator("#journal summary", { hasText: "inputs" }).first().click();
await page.locator("#journal pre", { hasText: "hello there" }).waitFor();
await node("Say hello").focus();
await page.keyboard.press("Enter");
await page.getByRole("button", { name: /Only Say hello/ }).waitFor();
assert.equal(await page.locator("#journal tbody tr").count(), 2);
await page.getByRole("button", { name: /Only Say hello/ }).click();
await page.getByLabel("Search the journal").fill("word");
await page.locator("#journal").getByText("2 lines shown").waitFor();
await page.getByLabel("Search the journal").fill("");
const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
const lines = readFileSync(await file.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
assert.ok(lines.some((line) => line.activityId === "go" && line.eventName === "Suspended"));

// A wrong payload is told in the dialog, which stays; the right one is delivered, and the page follows by itself.
await page.getByRole("button", { name: "Send the event…" }).click();
await dialog.getByLabel("Payload").fill("{ nonsense");
await dialog.getByRole("button", { name: "Send" }).click();
await dialog.getByText("Payload is not valid JSON").waitFor();
await shoot(page, "wrong-payload");
await dialog.getByLabel("Payload").fill("{ \"said\": true }");
await dialog.getByRole("button", { name: "Send" }).click();
await dialog.waitFor({ state: "detached" });
await page.locator(".graph .node.waiting", { hasText: "Review" }).waitFor();
assert.equal(await classes("Wait for the word"), "done");

// A variable is changed.
await page.getByRole("button", { name: "Change…" }).click();
await dialog.getByLabel("Value").fill("5");
await dialog.getByRole("button", { name: "Change" }).click();
await page.locator("[data-part=values] code", { hasText: "5" }).waitFor();

// The task is completed, then the timer is answered before its time.
await page.getByRole("button", { name: "Complete…" }).click();
await dialog.getByRole("button", { name: "Complete" }).click();
await page.locator(".graph .node.waiting", { hasText: "Rest" }).waitFor();
await page.getByRole("button", { name: "Resume now…" }).click();
await dialog.getByRole("button", { name: "Resume" }).click();
await page.locator("h1", { hasText: "Finished" }).waitFor();
assert.equal(await classes("The end"), "done");
assert.equal(await page.locator(".timeline tbody tr").count(), 5);
await accessible(page, "a finished instance");
await shoot(page, "finished");

// What another one does is seen here without a word: the page asks again, less and less often.
const other = await start("long");
await until("it waits", async () => (await subStatus(other)) === "Suspended");
await page.goto(`${URL_}/#/instances/${other}`);
await page.getByText(other, { exact: true }).waitFor();
let asked = 0;
page.on("request", (request) => { if (request.url().startsWith(API)) asked += 1; });
await page.waitForTimeout(8_000);
assert.ok(asked >= 2 && asked <= 7, `${asked} requests in 8 s while nothing happened`);
await api("POST", "/events/Word/trigger", { workflowInstanceId: other });
await page.locator(".graph .node.waiting", { hasText: "Review" }).waitFor();

// A task fails: the incident names the activity and the reason, and is retried.
await page.getByRole("button", { name: "Fail…" }).click();
await dialog.getByLabel("Reason").fill("nobody there");
await dialog.getByRole("button", { name: "Fail the task" }).click();
await page.locator("h1", { hasText: "Faulted" }).waitFor();
const incident = page.locator("[data-part=incidents] tbody tr");
assert.match(await incident.innerText(), /Review[^]*nobody there/);
assert.equal(await classes("Review"), "failed");
await shoot(page, "failed");
await incident.getByRole("button", { name: "Retry" }).click();
await page.locator(".graph .node.waiting", { hasText: "Review" }).waitFor();

// Cancelling asks first; Escape changes nothing.
await page.getByRole("button", { name: "Cancel", exact: true }).click();
await page.keyboard.press("Escape");
await dialog.waitFor({ state: "detached" });
assert.equal(await subStatus(other), "Suspended");
await page.getByRole("button", { name: "Cancel", exact: true }).click();
await dialog.getByRole("button", { name: "Cancel the instance" }).click();
await page.locator("h1", { hasText: "Cancelled" }).waitFor();
assert.equal(await classes("Review"), "cancelled");
await shoot(page, "cancelled");

// The children of an instance are a tree.
await publish("child", [{ type: "Elsa.Event", id: "go", name: "Wait", eventName: literal("String", "Child") }]);
await publish("parent", [{ type: "Elsa.ExecuteWorkflow", id: "call", name: "Call the child", workflowDefinitionId: literal("String", "child"), waitForCompletion: literal("Boolean", true) }]);
await publish("grandparent", [{ type: "Elsa.ExecuteWorkflow", id: "call", name: "Call the parent", workflowDefinitionId: literal("String", "parent"), waitForCompletion: literal("Boolean", true) }]);
const top = await start("grandparent");
await until("three instances wait", async () => (await api("POST", "/workflow-instances", { page: 0, pageSize: 9, definitionIds: ["grandparent", "parent", "child"], subStatuses: ["Suspended"] })).totalCount === 3);
await go(page, `instances/${top}`);
await page.getByRole("button", { name: /Children of parent/ }).click();
await page.locator(".tree .tree").getByRole("link", { name: "child" }).waitFor();
await shoot(page, "tree");

// A link for somebody without an account.
await page.locator(".tree .tree").getByRole("link", { name: "child" }).click();
await page.getByRole("button", { name: "Make a link…" }).click();
await dialog.getByLabel("Answers").fill("Yes, No");
await dialog.getByRole("button", { name: "Make the link" }).click();
await page.getByRole("dialog", { name: "The link" }).waitFor();
const url = await page.getByRole("textbox", { name: "Link" }).inputValue();
assert.equal((await fetch(url)).status, 200);
await shoot(page, "link");
await leave(page);
