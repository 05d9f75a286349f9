// Elsa Studio in a browser: a workflow is made, drawn, published, run, watched while it waits, and seen to finish.

import { strict as assert } from "node:assert";
import { api, arrive, drag, leave, nothingWrong, open, shoot, until } from "./person.mjs";

const page = await arrive();

await open(page, "/workflows/definitions");
await page.getByRole("button", { name: /create workflow/i }).first().click();
const dialog = page.locator(".mud-dialog");
await dialog.locator("input").first().fill("Chairs");
await shoot(page, "new");
// A click may come while Studio asks whether the name is free.
await until("the dialog is done", async () => {
  if (!(await dialog.isVisible())) return true;
  await dialog.getByRole("button", { name: "OK" }).click({ timeout: 2_000 }).catch(() => {});
  return dialog.waitFor({ state: "hidden", timeout: 3_000 }).then(() => true, () => false);
});
await page.locator(".x6-graph").first().waitFor();
await nothingWrong(page);

await drag(page, "Primitives", "Run Task", 250, 120);
await page.locator(".x6-node").waitFor();
const { items } = await api("GET", "/workflow-definitions?versionOptions=Latest&searchTerm=Chairs");
const id = items[0].definitionId;
const read = () => api("GET", `/workflow-definitions/by-definition-id/${id}`);
await until("the activity is saved", async () => (await read()).root.activities?.[0]?.type === "Elsa.RunTask");
await nothingWrong(page);
await shoot(page, "drawn");

// A task needs a name: a worker knows it by that.
const named = page.locator(".mud-input-control", { hasText: "Task Name" }).locator("input, textarea").first();
await named.fill("Build");
await named.blur();
await until("the name is saved", async () => JSON.stringify((await read()).root.activities[0].taskName ?? "").includes("Build"));

// What people type belongs to Studio: its code editor is a `div` that takes text, and no key leads away from it.
const drawn = page.url();
await page.evaluate(() => {
  const editor = document.createElement("div");
  Object.assign(editor, { tabIndex: 0, className: "native-edit-context", role: "textbox" });
  document.getElementById("main").append(editor);
  editor.focus();
});
const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, place) => 32 + place));
await page.keyboard.type(printable);
await page.evaluate(() => document.querySelector("div.native-edit-context:last-child").remove());
await page.keyboard.type("1234567");
assert.equal(page.url(), drawn);

// The cloud publishes, the green arrow runs.
await page.locator("button.mud-primary-text", { has: page.locator("svg") }).first().click();
await until("it is published", async () => (await read()).isPublished);
await page.locator("button.mud-success-text").first().click();
await page.waitForURL(/\/workflows\/instances\/.+\/view$/);
const instance = page.url().split("/").at(-2);
const viewer = page.locator("elsa-workflow-instance-viewer");
await viewer.getByText("Suspended").first().waitFor();
await viewer.getByText("Run Task").first().waitFor();
await nothingWrong(page);
await shoot(page, "waits");

// Whoever does the task says that it is done; Studio sees it by itself.
const { workflowState } = await api("GET", `/workflow-instances/${instance}`);
await api("POST", `/tasks/${workflowState.bookmarks[0].payload.TaskId}/complete`, { result: "made" });
await until("Studio shows the end", async () => /Sub\s+status\s+Finished/i.test(await viewer.innerText()));
await nothingWrong(page);
await shoot(page, "finished");

// The lists, by Studio's own addresses.
await page.goto(page.url().replace(/\/instances\/.*/, "/instances"));
const list = page.locator("elsa-workflow-instance-list");
await list.getByText("Chairs").first().waitFor();
assert.match(await list.innerText(), /Finished/);
await nothingWrong(page);
await shoot(page, "instances");
await leave(page);
