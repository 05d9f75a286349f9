// Lists of instances: filters and columns in the address, selection, bulk actions with a result for each; incidents by cause.

import { strict as assert } from "node:assert";
import { URL_, accessible, api, arrive, go, leave, literal, open, publish, shoot, until } from "./person.mjs";

const page = await arrive();
const dialog = page.getByRole("dialog");
const start = (id, correlationId) => api("POST", `/workflow-definitions/${id}/dispatch`, { correlationId });
const count = async (filter) => (await api("POST", "/workflow-instances", { page: 0, pageSize: 1, ...filter })).totalCount;
const rows = () => page.locator("main tbody tr").count();

await publish("waits", [{ type: "Elsa.Event", id: "go", name: "Wait", eventName: literal("String", "Word") }]);
await publish("broken", [{ type: "Elsa.DispatchWorkflow", id: "call", name: "Call the warehouse", workflowDefinitionId: literal("String", "warehouse"), waitForCompletion: literal("Boolean", true) }]);
for (let number = 0; number < 30; number += 1) await start("waits", `order ${number}`);
for (let number = 0; number < 5; number += 1) await start("broken", `parcel ${number}`);
await until("five failed, thirty wait", async () => (await count({ subStatuses: ["Faulted"] })) === 5 && (await count({ subStatuses: ["Suspended"] })) === 30);

// Filters are in the address: what one sees, another one sees by the same link.
await open(page, "/#/instances");
await page.getByRole("combobox", { name: "State" }).selectOption("Faulted");
await page.getByText("1–5 of 5").waitFor();
assert.match(page.url(), /#\/instances\?status=Faulted$/);
await page.getByText("More filters").click();
await page.getByLabel("Correlation id").fill("parcel 3");
await page.getByLabel("Correlation id").press("Enter");
await page.getByText("1–1 of 1").waitFor();
assert.match(await page.locator("main tbody").innerText(), /parcel 3/);
const until_ = new Date(Date.now() - 86_400_000).toISOString().slice(0, 16);
await page.goto(`${URL_}/#/instances?until=${until_}&columns=workflow,duration,version`);
await page.getByText("No instance matches these filters").waitFor();
await shoot(page, "none");
await page.goto(`${URL_}/#/instances?definition=waits&columns=workflow,duration,version`);
await page.getByText("1–25 of 30").waitFor();
assert.deepEqual(await page.locator("thead th").allInnerTexts(), ["", "Workflow", "Duration", "Version"]);
await page.getByText("Columns").click();
await page.getByLabel("Correlation", { exact: true }).check();
await page.locator("thead th", { hasText: "Correlation" }).waitFor();
assert.match(page.url(), /columns=workflow%2Cduration%2Ccorrelation%2Cversion/);
await page.getByRole("button", { name: "Older" }).click();
await page.getByText("26–30 of 30").waitFor();
await page.goBack();
await page.getByText("1–25 of 30").waitFor();

// Search attributes are a filter and a column, and each value leads to the instances that have it.
const order = { definitionId: "order", name: "order", inputs: [{ name: "Region", type: "String" }],
  customProperties: { searchAttributes: [{ name: "Region", input: "Region" }] },
  root: { type: "Elsa.Sequence", id: "all", activities: [{ type: "Elsa.Event", id: "go", eventName: literal("String", "Paid") }] } };
await api("POST", "/workflow-definitions", { model: order, publish: true });
for (const Region of ["EU", "US", "EU"]) await api("POST", "/workflow-definitions/order/dispatch", { input: { Region } });
await until("three orders wait", async () => (await count({ definitionIds: ["order"], subStatuses: ["Suspended"] })) === 3);
await page.goto(`${URL_}/#/instances?definition=order&columns=workflow,attributes`);
await page.getByText("1–3 of 3").waitFor();
await page.getByLabel("Search attributes").fill("Region=EU");
await page.getByLabel("Search attributes").press("Enter");
await page.getByText("1–2 of 2").waitFor();
await shoot(page, "attributes");
await accessible(page, "search attributes");
await page.goto(`${URL_}/#/instances?columns=workflow,attributes`);
await page.getByRole("link", { name: "Region: US" }).click();
await page.getByText("1–1 of 1").waitFor();
for (const one of (await api("POST", "/workflow-instances", { definitionIds: ["order"] })).items) await api("DELETE", `/workflow-instances/${one.id}`);
await page.goto(`${URL_}/#/instances?definition=waits&columns=workflow,duration,correlation,version`);
await page.getByText("1–25 of 30").waitFor();

// Some are chosen, then all that match; each has a result.
await page.getByLabel("Select this page").check();
await page.getByText("25 instances selected").waitFor();
await page.getByRole("button", { name: "Select all 30 that match" }).click();
await page.getByText("30 instances selected").waitFor();
await shoot(page, "selected");
await accessible(page, "a selection");
await page.getByRole("button", { name: "Cancel…" }).click();
await dialog.getByRole("button", { name: "Cancel 30" }).click();
await dialog.getByText("30 of 30 processed, none failed").waitFor();
assert.equal(await dialog.locator("tbody tr", { hasText: "cancelled" }).count(), 30);
await shoot(page, "done");
await accessible(page, "results");
await dialog.getByRole("button", { name: "Close" }).click();
assert.equal(await count({ subStatuses: ["Cancelled"] }), 30);

// Retrying what has no incident says so for each, and the others are retried.
await go(page, "instances?status=Cancelled");
await page.getByLabel(/^Select waits/).first().check();
await page.getByRole("button", { name: "Retry…" }).click();
await dialog.getByRole("button", { name: "Retry 1" }).click();
await dialog.getByText("1 of 1 processed, 1 failed").waitFor();
await shoot(page, "failed");
await dialog.getByRole("button", { name: "Close" }).click();

// Incidents of one cause are one block with one retry.
await page.goto(`${URL_}/#/incidents`);
await page.getByRole("heading", { name: /broken › Call the warehouse/ }).waitFor();
assert.equal(await page.locator(".cause").count(), 1);
await page.getByText("5 instances, last").waitFor();
await page.getByText("Instances with this cause").click();
await page.getByRole("link", { name: "parcel 4" }).waitFor();
await shoot(page, "incidents");
await publish("warehouse", [{ type: "Elsa.WriteLine", id: "line", text: literal("String", "here now") }]);
await page.getByRole("button", { name: "Retry all 5" }).click();
await dialog.getByRole("button", { name: "Retry all" }).click();
await dialog.getByText("5 of 5 processed, none failed").waitFor();
await dialog.getByRole("button", { name: "Close" }).click();
await page.getByText("No instance has an incident").waitFor();
await until("all five finish", async () => (await count({ definitionIds: ["broken"], subStatuses: ["Finished"] })) === 5);

// Deleting many.
await page.goto(`${URL_}/#/instances?definition=broken`);
await page.getByText("1–5 of 5").waitFor();
await page.getByLabel("Select this page").check();
await page.getByRole("button", { name: "Delete…" }).click();
await dialog.getByRole("button", { name: "Delete 5" }).click();
await dialog.getByText("5 of 5 processed, none failed").waitFor();
await dialog.getByRole("button", { name: "Close" }).click();
await page.getByText("No instance matches these filters").waitFor();
assert.equal(await rows(), 0);
await leave(page);
