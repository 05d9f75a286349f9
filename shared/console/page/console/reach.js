// Whether the server answers. While it does not, a bar says since when, and the page asks again by itself.

import { clock, h } from "./dom.js";

const FIRST_MS = 1_000;
const LONGEST_MS = 15_000;
const back = new Set();
let last = null;
let since = null;
let timer = 0;
let wait = FIRST_MS;

/** Calls `listener` when the server answers again. */
export const onReach = (listener) => back.add(listener);

export const isReachable = () => since === null;

/** The server has answered. */
export function reached() {
  last = new Date();
  if (since === null) return;
  since = null;
  wait = FIRST_MS;
  clearTimeout(timer);
  document.getElementById("unreachable")?.remove();
  for (const listener of back) listener();
}

/** The server has not answered: the error to throw. */
export function unreachable() {
  if (since === null) {
    since = new Date();
    later();
  }
  show();
  const error = new Error("The server does not answer. This page tries again by itself.");
  error.isUnreachable = true;
  return error;
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(look, wait);
  wait = Math.min(wait * 2, LONGEST_MS);
}

const answers = () => fetch("/health/live", { cache: "no-store" }).then((answer) => answer.ok, () => false);

async function look() {
  if (await answers()) return reached();
  later();
}

/** Loads code that a page needs first now. The browser does not say why it failed, so the server is asked. */
export async function load(code) {
  try {
    return await code();
  } catch (error) {
    if (!(await answers())) throw unreachable();
    throw new Error(`A part of the console could not be loaded. Reload the page. (${error.message})`);
  }
}

function show() {
  if (document.getElementById("unreachable")) return;
  document.getElementById("bar").after(h("div", { id: "unreachable", role: "alert" },
    h("span", {}, "The server has not answered since ", clock(since.toISOString()), ". ", last ? ["The last answer came at ", clock(last.toISOString()), ". "] : "", "This page asks again by itself."),
    h("button", { type: "button", onclick: look }, "Try now")));
}
