// The signed-in user, and every request to the API. All tabs of a browser share one session. Tokens are renewed before they expire.

import { reached, unreachable } from "./reach.js";

const API = "/elsa/api";
const RENEW_BEFORE_MS = 60_000;
// The server takes the token before the last renewal for 30 s: a renewal whose answer was lost must come again within that time.
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 30_000;
const KEYS = ["accessToken", "refreshToken"];
const listeners = new Set();
let renewing = null;
let timer = 0;
let lost = 0;
let known = null;

/** An answer of the API that is not the one asked for. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.message ?? body?.title ?? `The server answered ${status}. Try again.`);
    this.status = status;
    this.code = body?.code;
  }
}

export const token = () => localStorage.getItem("accessToken");

/** Calls `listener` with each new token, and with null at the end of the session, in whichever tab that happens. */
export const onToken = (listener) => listeners.add(listener);

function tell() {
  known = null;
  plan();
  for (const listener of listeners) listener(token());
}

function keep(answer) {
  if (answer) {
    localStorage.setItem("refreshToken", answer.refreshToken ?? "");
    localStorage.setItem("accessToken", answer.accessToken);
  } else KEYS.forEach((key) => localStorage.removeItem(key));
  tell();
}

// Another tab has signed in, signed out, or renewed the token.
addEventListener("storage", (event) => {
  if (event.key === "accessToken" || event.key === null) tell();
});

/** Renews the token in time, if it has an expiry. */
export function plan() {
  clearTimeout(timer);
  lost = 0;
  const ends = endOf(token());
  if (!ends || !localStorage.getItem("refreshToken")) return;
  const wait = Math.max(ends - Date.now() - RENEW_BEFORE_MS, 1000);
  renewIn(Math.min(wait, 2 ** 31 - 1));
}

function renewIn(wait) {
  clearTimeout(timer);
  timer = setTimeout(() => renew().catch(() => null), wait);
}

/** Tries a renewal again whose answer was lost: after 1 to 2 s, then with growing pauses. Tabs do not try at the same moment. */
function renewAgain() {
  const pause = RETRY_MS * 2 ** lost * (1 + Math.random());
  lost = Math.min(lost + 1, 10);
  renewIn(Math.min(pause, RETRY_MS_MAX));
}

/** What a token says of itself; nothing if it cannot be read. */
export function claims(text) {
  try {
    return JSON.parse(atob(text.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
  } catch {
    return {};
  }
}

const endOf = (text) => (claims(text).exp ?? 0) * 1000;
const hasExpired = (text) => endOf(text) > 0 && endOf(text) <= Date.now();

/** Signs in; false if the name or the password is wrong. */
export async function login(username, password) {
  const answer = await send("POST", "/identity/login", { username, password });
  if (!answer.isAuthenticated) return false;
  keep(answer);
  return true;
}

/** Ends the session in all tabs and at the server, which rejects its tokens from then on. */
export async function logout() {
  // An access token that has expired ends nothing.
  const ended = localStorage.getItem("refreshToken") || token();
  // The tabs forget the tokens first, so that none asks with one that has ended.
  keep(null);
  if (ended) await fetch(`${API}/identity/logout`, { method: "POST", headers: { authorization: `Bearer ${ended}` } }).catch(() => null);
}

/** Ways to sign in here: by name and password, at an issuer, or both. */
export const ways = () => send("GET", "/identity/ways").catch((error) => { if (error.isUnreachable) throw error; return { users: true, oidc: null }; });

/** Takes the tokens after a sign-in at the issuer; returns what went wrong if there are none. */
export async function comeBack() {
  const how = new URLSearchParams(location.search).get("signIn");
  if (!how) return "";
  history.replaceState(null, "", location.pathname + location.hash);
  if (how === "noRole") return "You are signed in, but none of your groups has a role here. Ask the operator of this server for one.";
  const answer = how === "done" && (await send("POST", "/identity/oidc/token").catch(() => null));
  if (!answer?.isAuthenticated) return "Signing in failed. Try again.";
  keep(answer);
  return "";
}

/** A new token; null if the session has ended. Requests that need one at once share it, and so do tabs. */
export function renew(expired = token()) {
  renewing ??= alone(async () => {
    // Another tab has renewed it while this one waited.
    if (token() !== expired && token()) return token();
    const refresh = localStorage.getItem("refreshToken");
    let answer = null;
    if (refresh && !hasExpired(refresh)) {
      const response = await ask(`${API}/identity/refresh-token`, { method: "POST", headers: { authorization: `Bearer ${refresh}` } });
      answer = response.ok ? await response.json() : null;
      if (!response.ok && response.status >= 500) throw new Problem(response.status);
    }
    // Meanwhile another tab has signed out or in: what comes back is of a session that is not this one any more.
    if (localStorage.getItem("refreshToken") !== refresh) return token();
    keep(answer?.isAuthenticated ? answer : null);
    return token();
  }).catch((error) => { renewAgain(); throw error; }).finally(() => { renewing = null; });
  return renewing;
}

/** Runs work while no other tab runs any. Without the browser's locks (plain HTTP to another machine) tabs do not wait. */
const alone = (work) => (navigator.locks ? navigator.locks.request("dormouse-session", work) : work());

/** A request, with what it says of the server: it answers, or cannot be reached. */
async function ask(path, how) {
  let response;
  try {
    response = await fetch(path, how);
  } catch {
    throw unreachable();
  }
  // A proxy answers for a server that is gone.
  if ([502, 504].includes(response.status) && !/json/.test(response.headers.get("content-type") ?? "")) throw unreachable();
  reached();
  return response;
}

async function send(method, path, body) {
  const headers = { accept: "application/json" };
  if (token()) headers.authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await ask(API + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await response.text();
  const told = text && /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text;
  if (!response.ok) throw new Problem(response.status, told);
  return told;
}

/** Asks the API, with a new token if the present one has expired. */
export async function api(method, path, body) {
  const used = token();
  if (hasExpired(used) && !(await renew(used))) throw new Problem(401, { detail: "Your session has ended. Sign in again." });
  try {
    return await send(method, path, body);
  } catch (error) {
    if (error.status !== 401 || !used || !(await renew(used))) throw error;
    return send(method, path, body);
  }
}

/** A file of the API, as a download with this name. */
export async function download(path, name) {
  const response = await ask(API + path, { headers: token() ? { authorization: `Bearer ${token()}` } : {} });
  if (!response.ok) throw new Problem(response.status, await response.json().catch(() => null));
  save(await response.blob(), name);
}

/** Gives the browser a file to save. */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  Object.assign(link, { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Whether the API lets this user in. It is not asked where the answer is known to be no. */
export async function isIn() {
  if (!token() || hasExpired(token())) {
    if (token() && (await renew())) return true;
    const { users, oidc } = await ways();
    if (users || oidc) return false;
  }
  try {
    await me();
    return true;
  } catch (error) {
    if (error.status === 401) return false;
    throw error;
  }
}

/** The signed-in user with the permissions. */
export function me() {
  known ??= api("GET", "/identity/me").catch((error) => { known = null; throw error; });
  return known;
}

/** Whether the user has a permission: by its name, or by `*`. */
export async function may(permission) {
  const { permissions } = await me();
  return ["*", permission].some((name) => permissions.includes(name));
}

/** Facts of this server: its version, whether it has Studio. */
export async function about() {
  const response = await fetch("/console/about.json").catch(() => null);
  return response?.ok ? response.json() : {};
}
