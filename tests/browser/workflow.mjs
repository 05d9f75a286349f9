// The page of a workflow: a start form of its inputs, figures of its runs, failures by cause, versions with differences, a roll-back.

import { strict as assert } from "node:assert";
import { URL_, accessible, api, arrive, leave, literal, open, shoot, until } from "./person.mjs";

const page = await arrive();
const dialog = page.getByRole("dialog");
const input = (name, type, more = {}) => ({ name, type, displayName: name, description: "", isArray: false, storageDriverType: "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core", ...more });
const publish = (text, more = []) => api("POST", "/workflow-definitions", { publish: true, model: {
  definitionId: "greet", name: "Greeting", description: "Says something.",
  inputs: [input("Who", "String", { description: "A name" }), input("Times", "Int32", { defaultValue: 1 }), input("Loud", "Boolean"), input("When", "DateTime"), input("Tags", "Object")],
  root: { type: "Elsa.Sequence", id: "all", activities: [{ type: "Elsa.WriteLine", id: "say", name: "Say it", text: literal("String", text) }, ...more] },
} });
const finished = async (times) => (await api("POST", "/workflow-instances", { page: 0, pageSize: 1, definitionIds: ["greet"], subStatuses: ["Finished"] })).totalCount === times;

await publish("hello");
await open(page, "/#/definitions");
await page.getByRole("link", { name: "Greeting" }).click();
await page.getByText("This workflow has not run yet").waitFor();

// The form checks types before anything starts.
await page.getByRole("button", { name: "Start…" }).click();
assert.equal(await dialog.getByLabel("Times").inputValue(), "1");
await dialog.getByLabel("Who").fill("Ada");
await dialog.getByLabel("Times").fill("many");
await dialog.getByRole("button", { name: "Start" }).click();
await dialog.getByText("Times: enter a number").waitFor();
await dialog.getByLabel("Times").fill("3");
await dialog.getByLabel("Loud").selectOption("yes");
await dialog.getByLabel("When").fill("2030-05-06T07:08");
await dialog.getByLabel("Tags").fill("[\"a\"]");
await dialog.getByLabel("Correlation id").fill("order 7");
await shoot(page, "start");
await accessible(page, "the start form");
await dialog.getByRole("button", { name: "Start" }).click();
await page.locator("h1", { hasText: "Finished" }).waitFor();
const id = page.url().split("/").at(-1);
const { workflowState, correlationId } = await api("GET", `/workflow-instances/${id}`);
const when = await page.evaluate(() => new Date("2030-05-06T07:08").toISOString());
assert.deepEqual([workflowState.input, correlationId], [{ Who: "Ada", Times: 3, Loud: true, When: when, Tags: ["a"] }, "order 7"]);

// Figures say what they cover.
for (let number = 0; number < 9; number += 1) await api("POST", "/workflow-definitions/greet/dispatch", {});
await until("ten finished", () => finished(10));
await page.goto(`${URL_}/#/definitions/greet`);
await page.getByText("These figures cover the newest 10 of 10 runs").waitFor();
assert.match(await page.locator(".card", { hasText: "p95" }).innerText(), /^\d+(\.\d)? m?s/);

// Another version; what differs is named by path and marked on the graph; failures are grouped.
await publish("good morning", [{ type: "Elsa.DispatchWorkflow", id: "call", name: "Call the warehouse", workflowDefinitionId: literal("String", "warehouse"), waitForCompletion: literal("Boolean", true) }]);
for (let number = 0; number < 2; number += 1) await api("POST", "/workflow-definitions/greet/dispatch", {});
await until("two failed", async () => (await api("POST", "/workflow-instances", { page: 0, pageSize: 1, definitionIds: ["greet"], subStatuses: ["Faulted"] })).totalCount === 2);
await page.reload();
await page.getByRole("button", { name: "Retry all 2" }).waitFor();
await shoot(page, "page");
await page.getByRole("button", { name: "Compare…" }).click();
const changed = dialog.locator("tr", { hasText: "$.root.activities[say].text" }).first();
assert.match(await changed.innerText(), /hello[^]*good morning/);
assert.equal(await dialog.locator("tbody tr").count(), 2);
await dialog.locator(".node.added", { hasText: "Call the warehouse" }).waitFor();
await dialog.locator(".node.changed", { hasText: "Say it" }).waitFor();
await shoot(page, "compare");
await accessible(page, "the comparison");
await dialog.getByRole("button", { name: "Close" }).click();

// The earlier version comes back as a new one.
await page.getByRole("button", { name: "Roll back…" }).click();
await dialog.getByRole("button", { name: "Roll back" }).click();
await page.getByText("version 3 is published").waitFor();
const now = await api("GET", "/workflow-definitions/by-definition-id/greet?versionOptions=Published");
assert.deepEqual([now.version, now.root.activities.length, now.root.activities[0].text.expression.value], [3, 1, "hello"]);
await shoot(page, "rolled-back");
await leave(page);
