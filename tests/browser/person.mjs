// A person at a browser: opens the server's pages, and notes whatever a person would call broken. What went wrong on
// the way is checked at the end by `leave`: errors in the page, requests to others, what the security policy stopped.

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

export const URL_ = process.argv[2];
export const API = `${URL_}/elsa/api`;
// Without these flags Chromium asks its maker's hosts for all sorts of things.
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
// Studio is WebAssembly, and its start is work.
const SLOW_MS = Number(process.env.PATIENCE_MS ?? 120_000);

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const seen = [];
// Nothing.
let allowed = /$^/;
let shots = 0;

/** A page of a browser of a size. */
export async function arrive(size = { width: 1400, height: 900 }) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  const context = await browser.newContext({ viewport: size });
  const page = await context.newPage();
  watch(page);
  return page;
}

/** Notes whatever goes wrong in a page. */
export function watch(page) {
  page.setDefaultTimeout(SLOW_MS);
  page.on("pageerror", (error) => seen.push(`error in the page: ${error.message}`));
  page.on("console", (message) => {
    // The console itself writes no errors in normal use. Studio's views are another matter.
    const isOurs = page.url().startsWith(URL_) && !new URL(page.url()).pathname.startsWith("/workflows/");
    if (/Content Security Policy/i.test(message.text()) || (isOurs && message.type() === "error" && !allowed.test(message.text()))) seen.push(`${message.text()} ${message.location().url}`);
  });
  page.on("request", (request) => {
    // What the pages of another server ask for is their own affair.
    const isTheirs = process.env.ALSO && [request.url(), page.url()].some((address) => address.startsWith(process.env.ALSO));
    if (!isTheirs && !request.url().startsWith(URL_) && !/^(data|blob):/.test(request.url())) seen.push(`a request to ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 500 || (response.status() === 404 && response.url().startsWith(API))) seen.push(`${response.status()} ${response.request().method()} ${response.url()}`);
  });
}

/** Errors in the browser's console that a test causes on purpose. */
export function allow(pattern) {
  allowed = pattern;
}

/** No violation of the rules of accessibility, in a page as it is now. */
export async function accessible(page, name) {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`);
  });
  assert.deepEqual(found, [], name);
}

/** Opens a page, and logs in where it is asked for. */
export async function open(page, path) {
  await page.goto(URL_ + path);
  await page.getByLabel("Name").fill(process.env.NAME);
  await page.getByLabel("Password").fill("wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("The name or the password is wrong").waitFor();
  await page.getByLabel("Password").fill(process.env.PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("button", { name: "Log out" }).waitFor();
}

/** Goes to another page of the console. The one before stays until that one is shown, and may have what a test looks for. */
export async function go(page, path) {
  const before = await page.locator("#main > *").first().elementHandle();
  await page.goto(`${URL_}/#/${path}`);
  await page.waitForFunction((one) => !one.isConnected, before);
}

/** A screenshot, for whoever looks what a test saw. */
export async function shoot(page, name) {
  shots += 1;
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${process.argv[1].match(/(\w+)\.mjs$/)[1]}-${String(shots).padStart(2, "0")}-${name}.png` });
}

/** No error bar of Studio's is shown. */
export async function nothingWrong(page) {
  assert.equal(await page.locator("#blazor-error-ui").isVisible(), false, "Studio shows its error bar");
}

/** Asks until it is so. */
export async function until(what, isSo, ms = 30_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await isSo();
    if (found) return found;
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Drags an activity from its group of the toolbox onto the canvas. */
export async function drag(page, group, name, x, y) {
  await page.getByPlaceholder("Search").first().fill(name);
  const item = page.locator("[draggable=true]", { hasText: name }).first();
  const header = page.locator(".mud-expand-panel-header", { hasText: group }).first();
  await header.waitFor();
  await until(`${name} is in the toolbox`, async () => {
    if (await item.isVisible()) return true;
    await header.click();
    return item.waitFor({ timeout: 3_000 }).then(() => true, () => false);
  });
  await item.dragTo(page.locator(".x6-graph").first(), { targetPosition: { x, y } });
}

/** The API, as a program asks it. */
export async function api(method, path, body) {
  const { status, text } = await asked(method, path, body);
  assert.ok(status < 400, `${method} ${path}: ${status} ${text}`);
  return text ? JSON.parse(text) : null;
}

/** The sub-status of an instance; none of one that was dispatched a moment ago and has not begun. */
export async function subStatus(id) {
  const path = `/workflow-instances/${id}/execution-state`;
  const { status, text } = await asked("GET", path);
  assert.ok(status === 200 || status === 404, `GET ${path}: ${status} ${text}`);
  return JSON.parse(text).subStatus;
}

async function asked(method, path, body) {
  const headers = { "content-type": "application/json", authorization: `ApiKey ${process.env.API_KEY}` };
  const response = await fetch(API + path, { method, headers, body: body && JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

export const literal = (type, value) => ({ typeName: type, expression: { type: "Literal", value } });

/** Publishes activities in sequence. */
export const publish = (id, activities) =>
  api("POST", "/workflow-definitions", { model: { definitionId: id, name: id, root: { type: "Elsa.Sequence", id: "all", activities } }, publish: true });

/** Closes the browser; the test fails if anything was wrong on the way. */
export async function leave(page) {
  await page.context().browser().close();
  assert.deepEqual(seen, []);
}
