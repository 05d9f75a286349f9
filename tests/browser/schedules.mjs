// Schedules: what starts by itself and when, an occurrence that is skipped once, timers of instances, and tasks to the last one.

import { strict as assert } from "node:assert";
import { accessible, api, arrive, leave, literal, open, publish, shoot, subStatus, until } from "./person.mjs";

const page = await arrive();
const dialog = page.getByRole("dialog");
const row = (text) => page.locator("main tbody tr", { hasText: text });
const cron = (expression) => ({ type: "Elsa.Cron", id: "tick", cronExpression: literal("String", expression), customProperties: { canStartWorkflow: true, overlapPolicy: "skip" } });

await open(page, "/#/schedules");
await page.getByText("No workflow starts by itself").waitFor();
await page.getByText("No instance waits for a time").waitFor();
await shoot(page, "none");

await publish("report", [cron("0 0 3 1 * *")]);
await publish("cleanup", [cron("0 30 4 * * *")]);
await publish("remind", [{ type: "Elsa.Delay", id: "later", timeSpan: literal("TimeSpan", "3.00:00:00") }]);
const { workflowInstanceId: waiting } = await api("POST", "/workflow-definitions/remind/dispatch", { correlationId: "order 7" });
await until("the instance waits", async () => (await subStatus(waiting)) === "Suspended");
await page.keyboard.press("1");
await page.getByRole("heading", { name: "Overview" }).waitFor();
await page.keyboard.press("0");
await page.getByRole("heading", { name: "Schedules" }).waitFor();
await row("report").waitFor();
await row("cleanup").waitFor();
await row("order 7").waitFor();
await shoot(page, "schedules");
await accessible(page, "schedules");

// One occurrence is skipped, and the one after it becomes the next.
const before = (await api("GET", "/schedules")).items.find((one) => one.definitionId === "report").nextOccurrences;
await row("report").getByRole("button", { name: "Skip next" }).click();
await dialog.getByText("report does not start at").waitFor();
await shoot(page, "skip");
await accessible(page, "the question");
await dialog.getByRole("button", { name: "Skip it" }).click();
await page.getByText("The occurrence is skipped").waitFor();
await until("the next one is another one", async () => (await api("GET", "/schedules")).items.find((one) => one.definitionId === "report").nextOccurrences[0] === before[1]);
await until("the page shows it", async () => (await row("report").locator(`time[datetime="${before[0]}"]`).count()) === 0);

// The timer leads to its instance.
await row("order 7").getByRole("link").first().click();
await page.getByRole("heading", { name: "Journal" }).waitFor();

// More tasks than a page shows are read to the last one.
await publish("ask", [{ type: "Elsa.RunTask", id: "ask", taskName: literal("String", "Review") }]);
for (let number = 0; number < 28; number += 1) await api("POST", "/workflow-definitions/ask/dispatch", { correlationId: `contract ${number}` });
await until("all wait", async () => (await api("POST", "/workflow-instances", { definitionIds: ["ask"], subStatuses: ["Suspended"] })).totalCount === 28);
await page.keyboard.press("2");
await page.getByText("25 open tasks on this page").waitFor();
await shoot(page, "tasks");
await page.getByRole("link", { name: "More" }).click();
await page.getByText("3 open tasks on this page").waitFor();
await row("contract 27").waitFor();
await page.getByRole("link", { name: "Oldest" }).click();
await page.getByText("25 open tasks on this page").waitFor();
await leave(page);
