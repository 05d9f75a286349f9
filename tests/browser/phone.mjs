// Every page of ours on a phone, by light and in the dark: nothing is wider than the screen.

import { strict as assert } from "node:assert";
import { URL_, arrive, leave, open, shoot } from "./person.mjs";

const PAGES = [["", "Overview"], ["instances", "Instances"], ["incidents", "Incidents"], ["dead-letters", "Dead letters"], ["definitions", "Workflows"], ["cluster", "Cluster"]];

const page = await arrive({ width: 375, height: 740 });
await open(page, "/");
await shoot(page, "first");
for (const scheme of ["light", "dark"]) {
  await page.emulateMedia({ colorScheme: scheme });
  for (const [path, name] of PAGES) {
    await page.goto(`${URL_}/#/${path}`);
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    const { scrollWidth, clientWidth } = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return { scrollWidth, clientWidth };
    });
    assert.ok(scrollWidth <= clientWidth, `${name} is ${scrollWidth} wide on a screen of ${clientWidth}`);
    await shoot(page, `${name.toLowerCase().replace(" ", "-")}-${scheme}`);
  }
}
await page.goto(`${URL_}/#/instances`);
await page.getByRole("link", { name: "Approval" }).first().click();
await page.getByRole("heading", { name: "Waits for" }).waitFor();
await shoot(page, "instance");
page.once("dialog", (dialog) => dialog.accept());
await page.getByRole("button", { name: "Cancel" }).click();
await page.getByText("Cancelled").first().waitFor();
await leave(page);
