// A person signs in at a real OpenID provider, works, signs out, and is out. Somebody without a role is told so.

import { strict as assert } from "node:assert";
import { API, URL_, arrive, leave, shoot } from "./person.mjs";

const issuer = process.env.ALSO;
const page = await arrive();
page.setDefaultTimeout(30_000);
// The provider's own pages ask for letters from elsewhere.
await page.route((url) => ![URL_, issuer].includes(url.origin), (route) => route.abort());

async function signIn(name) {
  await page.getByRole("link", { name: `Sign in with ${new URL(issuer).host}` }).click();
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("whatever");
  await page.getByRole("button", { name: /sign-in/i }).click();
  await page.getByRole("button", { name: /continue/i }).click();
}

await page.goto(`${URL_}/`);
await page.getByRole("link", { name: /Sign in with/ }).waitFor();
await shoot(page, "asked");
await signIn("ada");
await page.getByRole("button", { name: "Log out" }).waitFor();
await page.getByRole("heading", { level: 1 }).waitFor();
await shoot(page, "in");
assert.equal(new URL(page.url()).search, "", "the address says nothing of it");
const cookies = (await page.context().cookies(`${API}/identity/oidc/token`)).map((cookie) => cookie.name);
assert.ok(!cookies.some((name) => name.startsWith("dormouse")), `left behind: ${cookies}`);
const token = await page.evaluate(() => localStorage.getItem("accessToken"));
const ask = () => fetch(`${API}/identity/me`, { headers: { authorization: `Bearer ${token}` } });
const me = await (await ask()).json();
assert.equal(me.name, "oidc:ada@example.com (ada)");
assert.ok(me.permissions.includes("*"), JSON.stringify(me));

await page.getByRole("button", { name: "Log out" }).click();
await page.getByRole("button", { name: /yes/i }).click();
await page.getByRole("link", { name: /Sign in with/ }).waitFor();
assert.equal((await ask()).status, 401, "the token of the ended session");

await signIn("eve");
await page.getByText("none of your groups has a role here").waitFor();
await shoot(page, "no-role");
assert.equal(await page.evaluate(() => localStorage.getItem("accessToken")), null);
await leave(page);
