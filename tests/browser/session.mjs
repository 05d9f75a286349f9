// One sign-in for all tabs; a server that stops answering and comes back; times; no errors in the browser's console.

import { strict as assert } from "node:assert";
import { API, URL_, allow, api, arrive, leave, literal, open, publish, shoot, until, watch } from "./person.mjs";

const page = await arrive();
await publish("waits", [{ type: "Elsa.Event", id: "go", name: "Wait for a word", eventName: literal("String", "Word") }]);
const { workflowInstanceId: id } = await api("POST", "/workflow-definitions/waits/dispatch", { correlationId: "order 7" });

// All that the first page loads, from the sign-in to the overview, is light.
let weight = 0;
const read = [];
page.on("response", (response) => { if (!response.url().startsWith(API)) read.push(response.body().then((body) => { weight += body.length; }, () => {})); });
await open(page, "/");
await page.getByRole("link", { name: "waits" }).waitFor();
await Promise.all(read.splice(0));
assert.ok(weight > 20_000 && weight <= 100_000, `the first page loads ${weight} bytes`);

// A second tab is signed in, whichever page it opens.
const second = await page.context().newPage();
watch(second);
await second.goto(`${URL_}/#/instances/${id}`);
await second.getByRole("heading", { name: "Waits for" }).waitFor();
assert.equal(await second.getByLabel("Password").count(), 0);

// Every time is local, with UTC in its title.
const time = second.locator("time").first();
assert.match(await time.getAttribute("title"), /local time\n\d{4}-\d\d-\d\dT[\d:.]+Z \(UTC\)/);
// Activities are shown by their names; the id is in the title.
assert.equal(await second.locator("#journal .activity", { hasText: "Wait for a word" }).first().getAttribute("title"), "Activity go");

// The skip link leads to the content and leaves the page as it is.
await second.locator(".skip").focus();
await second.keyboard.press("Enter");
assert.ok(await second.evaluate((hash) => document.activeElement.id === "main" && location.hash === hash, `#/instances/${id}`));

// The server goes away: the page says since when, and comes back by itself, also where a page's code was not there yet.
allow(/ERR_CONNECTION_REFUSED/);
await page.goto(`${URL_}/#/instances`);
await page.getByRole("heading", { name: "Instances" }).waitFor();
await page.context().route("**/*", (route) => route.abort("connectionrefused"));
await page.getByRole("link", { name: "Cluster" }).click();
const gone = page.locator("#unreachable");
await gone.getByText(/has not answered since/).waitFor();
assert.match(await gone.innerText(), /since \d\d?:\d\d:\d\d.*The last answer came at \d\d?:\d\d:\d\d/s);
await shoot(page, "unreachable");
await page.context().unroute("**/*");
await gone.waitFor({ state: "detached" });
await page.getByRole("heading", { name: "Cluster" }).waitFor();
await page.goBack();
await page.getByRole("link", { name: "waits" }).waitFor();

// The answer to a renewal is lost on its way: the tabs try again, and stay signed in.
allow(/ERR_CONNECTION_RE|status of 401/);
let renewals = 0;
await page.context().route("**/identity/refresh-token", async (route) => {
  renewals += 1;
  if (renewals > 1) return route.continue();
  await route.fetch();
  return route.abort("connectionreset");
});
const before = await page.evaluate(() => {
  const refresh = localStorage.getItem("refreshToken");
  const [head, claims, seal] = localStorage.getItem("accessToken").split(".");
  // The page believes what the token says of its end. The other tab hears of it and renews it.
  const said = JSON.parse(atob(claims.replace(/-/g, "+").replace(/_/g, "/")));
  const past = btoa(JSON.stringify({ ...said, exp: 1 })).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  localStorage.setItem("accessToken", [head, past, seal].join("."));
  return refresh;
});
await until("the session is renewed", async () => page.evaluate((old) => ![old, "", null].includes(localStorage.getItem("refreshToken")), before));
assert.ok(renewals > 1, `${renewals} renewals`);
await page.context().unroute("**/identity/refresh-token");
assert.equal(await second.getByLabel("Password").count(), 0);
await gone.waitFor({ state: "detached" });

// Whoever signs out in one tab is out in all of them. A request of the other one may be on its way.
allow(/ERR_CONNECTION_REFUSED|status of 401/);
await page.getByRole("button", { name: "Log out" }).click();
await page.getByLabel("Password").waitFor();
await second.getByLabel("Password").waitFor();
assert.equal(await second.evaluate(() => localStorage.length), 0);
// Signing in works the same way.
await page.getByLabel("Name").fill(process.env.NAME);
await page.getByLabel("Password").fill(process.env.PASSWORD);
await page.getByRole("button", { name: "Log in" }).click();
await second.getByRole("heading", { name: "Waits for" }).waitFor();
await until("the session is kept", async () => second.evaluate(() => localStorage.getItem("accessToken") !== null));
await leave(page);
