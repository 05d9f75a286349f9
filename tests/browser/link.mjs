// A person without an account answers by a link; the one who has one watches. His token ends in between, and is renewed.

import { strict as assert } from "node:assert";
import { URL_, allow, api, arrive, leave, literal, open, publish, shoot, subStatus, until } from "./person.mjs";

const page = await arrive();
await publish("approval", [
  { type: "Elsa.Event", id: "go", name: "Approval", eventName: literal("String", "Approve") },
  { type: "Elsa.WriteLine", id: "done", text: literal("String", "approved") },
]);
const started = await api("POST", "/workflow-starts", { definitionId: "approval", correlationId: "a chair" });
const { id } = started;
const bookmark = started.bookmarks[0].id;
const { url } = await api("POST", `/workflow-instances/${id}/bookmarks/${bookmark}/links`, { title: "May we buy a chair?", outcomes: ["Yes", "No"] });

// The first request with the broken token is rejected.
allow(/401/);
// Logged in, with a token that ends at once: the page renews it, and nobody sees a login again.
await open(page, "/");
const first = await page.evaluate(() => localStorage.getItem("accessToken"));
await page.evaluate(() => localStorage.setItem("accessToken", `${localStorage.getItem("accessToken")}x`));
await page.goto(`${URL_}/#/instances/${id}`);
await page.getByRole("heading", { name: "Waits for" }).waitFor();
const second = await page.evaluate(() => localStorage.getItem("accessToken"));
assert.notEqual(second, `${first}x`, "the token that did not count any more was kept");
assert.equal(await page.getByLabel("Password").isVisible(), false);
await shoot(page, "waits");

// Looking changes nothing, however often, as by a scanner of mails.
for (let look = 0; look < 3; look += 1) assert.equal((await fetch(url)).status, 200);
const guest = await (await page.context().browser().newContext()).newPage();
await guest.goto(url);
await guest.getByRole("heading", { name: "May we buy a chair?" }).waitFor();
await shoot(guest, "link");
assert.equal(await subStatus(id), "Suspended");
await guest.getByRole("button", { name: "Yes" }).click();
await guest.getByRole("heading", { name: "Recorded" }).waitFor();
await shoot(guest, "recorded");
await until("the instance finishes", async () => (await subStatus(id)) === "Finished");
// A second answer shows the first.
await guest.goto(url);
await guest.getByRole("heading", { name: "Recorded" }).waitFor();
assert.match(await guest.locator("body").innerText(), /Yes/);

// Whoever watches sees it end.
await page.getByText("Finished").first().waitFor();
await shoot(page, "finished");
await leave(page);
