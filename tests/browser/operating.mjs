// An incident is mended and retried, a dead letter replayed, the cluster checked: in our own pages.

import { strict as assert } from "node:assert";
import { api, arrive, leave, literal, open, publish, shoot, subStatus, until } from "./person.mjs";

const page = await arrive();

// A workflow that fails because another one is not there yet.
await publish("parent", [{ type: "Elsa.DispatchWorkflow", id: "call", workflowDefinitionId: literal("String", "child"), waitForCompletion: literal("Boolean", true) }]);
const { workflowInstanceId: id } = await api("POST", "/workflow-definitions/parent/dispatch", { correlationId: "order 7" });
await until("the instance fails", async () => (await subStatus(id)) === "Faulted");

await open(page, "/");
await page.getByRole("heading", { name: "Overview" }).waitFor();
await page.getByRole("link", { name: /1\s*failed/ }).click();
await page.getByRole("heading", { name: "Incidents" }).waitFor();
assert.match(await page.locator("main").innerText(), /child/);
await shoot(page, "incident");
await publish("child", [{ type: "Elsa.WriteLine", id: "line", text: literal("String", "here now") }]);
await page.getByRole("button", { name: "Retry" }).click();
await page.getByText("No instance has an incident").waitFor();
await until("the instance finishes", async () => (await subStatus(id)) === "Finished");

// Keys lead everywhere: 3 is the list of instances.
await page.keyboard.press("3");
await page.getByRole("heading", { name: "Instances" }).waitFor();
// Who skips to the content stays on the page.
await page.locator(".skip").focus();
await page.keyboard.press("Enter");
assert.ok(await page.evaluate(() => document.activeElement.id === "main" && location.hash === "#/instances"));
await page.getByRole("link", { name: "parent" }).click();
await page.getByRole("heading", { name: "Journal" }).waitFor();
assert.match(await page.locator("main").innerText(), /order 7/);
await shoot(page, "instance");

// What could not be delivered is delivered once its workflow is there.
await until("there are dead letters", async () => (await api("GET", "/bookmark-queue/dead-letters")).totalCount === 3);
await publish("missing", [{ type: "Elsa.WriteLine", id: "line", text: literal("String", "late") }]);
await page.keyboard.press("6");
const letter = (text) => page.locator("main tbody tr", { hasText: text });
await letter("missing").waitFor();
assert.equal(await page.locator("main tbody tr").count(), 3);
await shoot(page, "dead-letters");
await letter("missing").getByRole("button", { name: "Replay" }).click();
await letter("missing").waitFor({ state: "detached" });
// Many at once: nobody publishes the workflow of the other two.
await page.getByLabel("Select this page").check();
await page.getByRole("button", { name: "Delete…" }).click();
const dialog = page.getByRole("dialog");
await dialog.getByRole("button", { name: "Delete" }).click();
await dialog.getByText("2 of 2 processed, none failed").waitFor();
await shoot(page, "deleted");
await dialog.getByRole("button", { name: "Close" }).click();
await page.getByText("There are no dead letters").waitFor();
await until("what was dead has run", async () => (await subStatus("late")) === "Finished");

await page.keyboard.press("7");
await page.getByRole("button", { name: "Check now" }).click();
await page.locator(".pill", { hasText: /passed|failed/ }).nth(3).waitFor();
await shoot(page, "cluster");
assert.equal(await page.locator(".pill.bad").count(), 0, await page.locator("main").innerText());

// Without Studio its place says how to get it.
await page.keyboard.press("9");
await page.getByText("dormouse studio install").waitFor();
await shoot(page, "without-studio");
await leave(page);
