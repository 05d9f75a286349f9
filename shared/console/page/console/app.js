// The console's own pages: the part of the address after `#` names one. Each page is loaded when it is first opened.

import { h } from "./dom.js";
import { bar, keys, loginForm } from "./shell.js";
import { isReachable, load, onReach } from "./reach.js";
import { comeBack, isIn, onToken, plan } from "./session.js";

const PAGES = {
  "": () => import("./overview.js"),
  inbox: () => import("./inbox.js"),
  instances: (id) => (id ? import("./instance.js") : import("./instances.js")),
  incidents: () => import("./incidents.js"),
  definitions: (id) => (id ? import("./workflow.js") : import("./definitions.js")),
  schedules: () => import("./schedules.js"),
  "dead-letters": () => import("./dead_letters.js"),
  cluster: () => import("./cluster.js"),
  access: () => import("./access.js"),
};
const REFRESH_MS = 10_000;
const LONGEST_MS = 120_000;
const main = document.getElementById("main");
let shown = 0;
let said = "";
let timer = 0;
let isAsking = false;
let current = [];

function parts() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, id] = path.split("/").map(decodeURIComponent);
  return { name: name in PAGES ? name : "", id, query: new URLSearchParams(query) };
}

async function ask() {
  isAsking = true;
  main.replaceChildren(await loginForm(() => show(), said));
  said = "";
}

/** Shows the page that the address names. `isAgain`: it is shown already, and is brought up to date. */
async function show(isAgain = false) {
  const turn = ++shown;
  clearTimeout(timer);
  const { name, id, query } = parts();
  if (!isAgain) bar(`/#/${name}`);
  try {
    if (!(await isIn())) return await ask();
    isAsking = false;
    const { page } = await load(() => PAGES[name](id));
    const content = await page(query, id);
    if (turn !== shown) return;
    current = content;
    place(content, isAgain);
    document.title = `${main.querySelector("h1")?.firstChild?.textContent ?? "Dormouse"} · Dormouse`;
    if (!isAgain) { scrollTo(0, 0); main.focus({ preventScroll: true }); }
    next(turn, content, content.refreshMs ?? REFRESH_MS);
  } catch (error) {
    if (turn !== shown) return;
    if (error.status === 401) return ask().catch(wrong);
    wrong(error, isAgain);
    // The page comes back with the server.
    if (!error.isUnreachable) next(turn, {}, REFRESH_MS * 3);
  }
}

function wrong(error, isAgain = false) {
  // The bar tells of a server that does not answer.
  if (error.isUnreachable && isAgain) return;
  const told = error.status === 403 ? `${error.message} Ask an operator for the permission, or sign in as another user.` : error.message;
  const box = h("div", { class: "problem", role: "alert" }, told);
  if (isAgain) { main.querySelector(".problem")?.remove(); main.prepend(box); } else main.replaceChildren(h("h1", {}, "This page cannot be shown"), box);
}

/** Puts content into the page. What was focused, opened or scrolled there stays so. */
function place(content, isAgain) {
  const open = new Set(isAgain ? [...main.querySelectorAll("details[open] > summary")].map((one) => one.textContent) : []);
  const held = isAgain && main.contains(document.activeElement) ? document.activeElement : null;
  const sign = (one) => `${one.tagName} ${one.getAttribute("href")} ${one.textContent}`;
  const same = held && [...main.querySelectorAll("a, summary")].filter((one) => sign(one) === sign(held)).indexOf(held);
  main.replaceChildren(...content.flat(Infinity).filter(Boolean));
  for (const one of main.querySelectorAll("details > summary")) if (open.has(one.textContent)) one.parentElement.open = true;
  if (held) [...main.querySelectorAll("a, summary")].filter((one) => sign(one) === sign(held))[same]?.focus({ preventScroll: true });
}

const isBusy = () => document.hidden || !isReachable() || document.querySelector("dialog[open]") || main.contains(document.activeElement?.closest("input, select, textarea, button, form")) || String(getSelection()) || main.querySelector("[data-still]");

/** Brings the page up to date after `ms`: by its own `update`, else as a whole. A page that does not change is asked less often. */
function next(turn, content, ms) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (turn !== shown || isAsking) return;
    const hasOwn = content.update;
    if (hasOwn ? document.hidden || !isReachable() : isBusy()) return next(turn, content, Math.max(ms, 1_000));
    if (!hasOwn) return show(true);
    let wait = Math.min(Math.max(ms, 1_000) * 1.5, LONGEST_MS);
    try {
      wait = (await content.update()) ?? wait;
    } catch (error) {
      if (error.status === 401) return turn === shown && ask().catch(wrong);
      if (turn === shown) wrong(error, true);
    }
    if (turn === shown) next(turn, content, wait);
  }, ms);
}

addEventListener("hashchange", () => show());

/** Brings what is shown up to date now. */
function refresh() {
  if (isAsking || main.querySelector(".problem")) return show();
  if (current.update) next(shown, current, 0);
  else if (!isBusy()) show(true);
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
onReach(refresh);
onToken((token) => { if (!token || isAsking) show(); });
keys();
// The address after `#` names a page, so the link's own target must not become one.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
comeBack().then((wrong) => { said = wrong; plan(); show(); });
