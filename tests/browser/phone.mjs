// Every page of the console on a phone and on a desk, in light and in dark: nothing is wider than the screen, and all of it is
// accessible.

import { strict as assert } from "node:assert";
import { URL_, accessible, arrive, go, leave, open, shoot } from "./person.mjs";

const PAGES = [["", "Overview"], ["inbox", "Inbox"], ["instances", "Instances"], ["instances?definition=approval&columns=workflow,state,duration", "Instances"], ["incidents", "Incidents"], ["definitions", "Workflows"], ["definitions/approval", "Approval"], ["schedules", "Schedules"], ["dead-letters", "Dead letters"], ["cluster", "Cluster"], ["access", "Access"]];

const page = await arrive({ width: 390, height: 780 });
await page.goto(`${URL_}/`);
await page.getByLabel("Password").waitFor();
await accessible(page, "the sign-in");
await open(page, "/");
await shoot(page, "first");

/** The page that is shown fits, and is accessible. */
async function good(name) {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  assert.ok(scrollWidth <= clientWidth, `${name} is ${scrollWidth} wide on a screen of ${clientWidth}`);
  await accessible(page, name);
  await shoot(page, name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"));
}

for (const [width, height] of [[390, 780], [1280, 900]]) {
  await page.setViewportSize({ width, height });
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [path, name] of PAGES) {
      await page.goto(`${URL_}/#/${path}`);
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      await good(`${name} ${scheme} ${width}`);
    }
    await go(page, "instances");
    await page.getByRole("link", { name: "Approval" }).first().click();
    await page.getByRole("heading", { name: "Waits for" }).waitFor();
    await good(`an instance ${scheme} ${width}`);
    await page.getByRole("button", { name: "Make a link…" }).first().click();
    await page.getByRole("dialog").waitFor();
    await good(`a dialog ${scheme} ${width}`);
    await page.keyboard.press("Escape");
  }
}
await page.setViewportSize({ width: 390, height: 780 });
await go(page, "instances");
await page.getByRole("link", { name: "Approval" }).first().click();
await page.getByRole("heading", { name: "Waits for" }).waitFor();
await page.getByRole("button", { name: "Cancel", exact: true }).click();
await page.getByRole("dialog").getByRole("button", { name: "Cancel the instance" }).click();
await page.getByText("Cancelled").first().waitFor();
await leave(page);
