// API keys, users and roles are made and deleted; each works as long as it is there; the audit log names who did it.

import { strict as assert } from "node:assert";
import { API, accessible, arrive, leave, open, shoot } from "./person.mjs";

const page = await arrive();
const dialog = page.getByRole("dialog");
const row = (text) => page.locator("main tbody tr", { hasText: text }).first();
const status = async (key, path = "/workflow-instances") => (await fetch(API + path, { headers: { authorization: `ApiKey ${key}` } })).status;

await open(page, "/#/access");
await page.getByRole("button", { name: "Add a role…" }).click();
await dialog.getByLabel("Name").fill("Reader");
await dialog.getByLabel("Permissions").fill("read:workflow-instances\nread:workflow-definitions");
await dialog.getByRole("button", { name: "Add" }).click();
await row("Reader").waitFor();

await page.getByRole("button", { name: "Make an API key…" }).click();
await dialog.getByRole("button", { name: "Make the key" }).click();
await dialog.getByText("Name: a value is required").waitFor();
await dialog.getByLabel("Name").fill("reports");
await dialog.getByLabel("Reader").check();
await shoot(page, "key");
await accessible(page, "the form of a key");
await dialog.getByRole("button", { name: "Make the key" }).click();
const told = page.getByRole("dialog", { name: "The API key of reports" });
const key = await told.getByRole("textbox").inputValue();
await told.getByRole("button", { name: "Close" }).click();
await row("reports").waitFor();
assert.deepEqual([await status(key), await status(key, "/identity/users")], [200, 403]);

// A user with that role sees what it allows, and no errors for what it does not.
await page.getByRole("button", { name: "Add a user…" }).click();
await dialog.getByLabel("Name").fill("ada");
await dialog.getByLabel("Reader").check();
await dialog.getByRole("button", { name: "Add" }).click();
const given = page.getByRole("dialog", { name: "The password of ada" });
const password = await given.getByRole("textbox").inputValue();
await given.getByRole("button", { name: "Close" }).click();
await row("ada").waitFor();
await shoot(page, "access");

await row("reports").getByRole("button", { name: "Delete" }).click();
await dialog.getByRole("button", { name: "Delete" }).click();
await row("reports").getByRole("button", { name: "Delete" }).waitFor({ state: "detached" });
assert.equal(await status(key), 401);

await page.getByRole("button", { name: "Log out" }).click();
await page.getByLabel("Password").waitFor();
await page.waitForLoadState();
await page.getByLabel("Name").fill("ada");
await page.getByLabel("Password").fill(password);
await page.getByRole("button", { name: "Log in" }).click();
await page.getByRole("heading", { name: "Overview" }).waitFor();
for (const name of ["Instances", "Incidents", "Workflows", "Cluster", "Access"]) {
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}
await page.getByText("You may not read accounts").waitFor();
await shoot(page, "reader");
await leave(page);
