// Workflows are paused and go on, at the button: what waits is there afterwards, and every page says why nothing goes on.

import { strict as assert } from "node:assert";
import { api, arrive, leave, literal, open, publish, shoot, subStatus, until } from "./person.mjs";

const page = await arrive();
const isPaused = async () => Boolean((await api("GET", "/admin/workflow-runtime/status")).state.pausedAt);
await publish("late", [{ type: "Elsa.Delay", id: "delay", timeSpan: literal("TimeSpan", "00:00:03") }]);

await open(page, "/");
await page.keyboard.press("7");
await page.getByRole("heading", { name: "Cluster" }).waitFor();
// Whoever thinks better of it has changed nothing.
await page.getByRole("button", { name: "Pause…" }).click();
await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
assert.equal(await isPaused(), false);

const { workflowInstanceId: id } = await api("POST", "/workflow-definitions/late/dispatch", {});
await until("the instance waits", async () => (await subStatus(id)) === "Suspended");
await page.getByRole("button", { name: "Pause…" }).click();
await page.getByLabel("Reason").fill("moving house");
await shoot(page, "asked");
await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
await page.getByText("by admin: moving house").waitFor();
await shoot(page, "paused");
assert.equal(await isPaused(), true);
assert.equal(await page.getByRole("button", { name: "Check now" }).isEnabled(), false);
const refused = await api("POST", "/workflow-starts", { definitionId: "late" }).catch((error) => error.message);
assert.match(String(refused), /503.*paused since/);

await page.keyboard.press("1");
await page.getByRole("status").getByText("moving house").waitFor();
await shoot(page, "overview");
// Its time comes and goes.
await new Promise((done) => setTimeout(done, 4_000));
assert.equal(await subStatus(id), "Suspended");

await page.getByRole("status").getByRole("link", { name: "Cluster" }).click();
await page.getByRole("button", { name: "Resume" }).click();
await page.getByRole("button", { name: "Pause…" }).waitFor();
await shoot(page, "running");
await until("the instance goes on", async () => (await subStatus(id)) === "Finished");
assert.equal(await isPaused(), false);
await leave(page);
