// Open tasks: a form of the declared outputs, JSON where none are declared, and a failure with a reason.

import { strict as assert } from "node:assert";
import { accessible, api, arrive, go, leave, literal, open, publish, shoot, subStatus, until } from "./person.mjs";

const page = await arrive();
const dialog = page.getByRole("dialog");
const task = (name) => page.locator("main tbody tr", { hasText: name });
const start = async (id, correlationId) => (await api("POST", `/workflow-definitions/${id}/dispatch`, { correlationId })).workflowInstanceId;

await api("PUT", "/activity-types/Acme.Weigh", {
  type: "Acme.Weigh", displayName: "Weigh the parcel", description: "Puts the parcel on the scales.", category: "Shipping",
  inputs: [], outputs: [{ name: "grams", type: "Int32", description: "What the scales show." }, { name: "fragile", type: "Boolean" }], outcomes: ["Done", "Lost"],
  handler: { kind: "worker", queue: "shipping" },
});
await publish("ship", [{ type: "Acme.Weigh", id: "weigh", name: "On the scales" }]);
await publish("review", [{ type: "Elsa.RunTask", id: "review", name: "Read the contract", taskName: literal("String", "Review") }]);

await open(page, "/#/inbox");
await page.getByText("There are no open tasks").waitFor();
const [parcel, contract, bad] = [await start("ship", "parcel 1"), await start("review", "contract 1"), await start("review", "contract 2")];
await until("all wait", async () => (await Promise.all([parcel, contract, bad].map(subStatus))).every((one) => one === "Suspended"));
await page.reload();
await page.getByText("3 open tasks").waitFor();
await shoot(page, "tasks");
await page.getByLabel("Task").selectOption("Review");
await page.getByText("2 open tasks").waitFor();
await go(page, "inbox");

// The form has the outputs of the activity's type, with their types.
await task("parcel 1").getByRole("button", { name: "Complete…" }).click();
await dialog.getByText("What the scales show").waitFor();
await dialog.getByLabel("grams").fill("1.5");
await dialog.getByRole("button", { name: "Complete" }).click();
await dialog.getByText("grams: enter a whole number").waitFor();
await dialog.getByLabel("grams").fill("1500");
await dialog.getByLabel("fragile").selectOption("no");
await shoot(page, "form");
await accessible(page, "the form of a task");
await dialog.getByRole("button", { name: "Complete" }).click();
await page.getByText("2 open tasks").waitFor();
await until("the parcel's instance finishes", async () => (await subStatus(parcel)) === "Finished");

// Without declared outputs it is JSON.
await task("contract 1").getByRole("button", { name: "Complete…" }).click();
await dialog.getByLabel("Result").fill("{ \"approved\": true }");
await dialog.getByRole("button", { name: "Complete" }).click();
await page.getByText("1 open task,").waitFor();
await until("the contract's instance finishes", async () => (await subStatus(contract)) === "Finished");

// A failure needs a reason, which becomes the incident's message.
await task("contract 2").getByRole("button", { name: "Fail…" }).click();
await dialog.getByRole("button", { name: "Fail the task" }).click();
await dialog.getByText("Reason: a value is required").waitFor();
await dialog.getByLabel("Reason").fill("the pages are missing");
await dialog.getByRole("button", { name: "Fail the task" }).click();
await page.getByText("There are no open tasks").waitFor();
const { workflowState } = await api("GET", `/workflow-instances/${bad}`);
assert.match(workflowState.incidents[0].message, /the pages are missing/);
await leave(page);
