// Two who edit one definition: who draws in Studio what somebody else has saved meanwhile is told so, and overwrites nothing.

import { strict as assert } from "node:assert";
import { api, arrive, drag, leave, literal, nothingWrong, open, publish, shoot, until } from "./person.mjs";

const page = await arrive();
const read = () => api("GET", "/workflow-definitions/by-definition-id/shared");
const saves = [];
page.on("response", (response) => {
  if (response.request().method() === "POST" && response.url().endsWith("/workflow-definitions")) saves.push(response);
});

await publish("shared", []);
const hello = { type: "Elsa.WriteLine", id: "hello", text: literal("String", "hello"), metadata: { designer: { position: { x: 100, y: 80 } } } };
const chart = { ...(await read()), root: { type: "Elsa.Flowchart", id: "chart", activities: [hello] } };
await api("POST", "/workflow-definitions", { model: chart });
await open(page, "/workflows/definitions");
await page.getByText("shared", { exact: true }).first().click();
await page.locator(".x6-node").first().waitFor();

// What Studio's user draws is saved, twice, by itself.
for (const [count, y] of [[2, 180], [3, 280]]) {
  await drag(page, "Primitives", "Run Task", 300, y);
  await until("it is saved", async () => (await read()).root.activities.length === count);
}

// Somebody else, with a key of his own. Studio saves a drawing more than once, so not before it is done with that.
await until("Studio rests", async () => {
  const before = saves.length;
  await page.waitForTimeout(3_000);
  return saves.length === before;
});
const theirs = await read();
theirs.root.activities[0].text.expression.value = "theirs";
await api("POST", "/workflow-definitions", { model: theirs });

await drag(page, "Primitives", "Run Task", 300, 380);
const refused = await until("a save is refused", async () => saves.find((save) => save.status() === 409));
const { code, detail } = await refused.json();
assert.equal(code, "staleEdit");
assert.match(detail, /nothing was saved/);
const told = page.getByRole("alert").filter({ hasText: "nothing was saved" });
await told.waitFor();
await shoot(page, "refused");
const now = await read();
assert.equal(now.root.activities[0].text.expression.value, "theirs");
assert.equal(now.root.activities.length, 3);
// He reads it again, and sees and changes what is there now.
await told.getByRole("button", { name: "Read it again" }).click();
await page.locator(".x6-node").first().waitFor();
await drag(page, "Primitives", "Run Task", 300, 380);
await until("it is saved", async () => (await read()).root.activities.length === 4);
assert.equal((await read()).root.activities[0].text.expression.value, "theirs");
await nothingWrong(page);
await leave(page);
