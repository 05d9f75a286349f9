// Who is logged in, and every request to the API. Tokens live as long as the tab, and are renewed before they end.

const API = "/elsa/api";
const RENEW_BEFORE_MS = 60_000;
const listeners = new Set();
let renewing = null;
let timer = 0;

/** What the API answered instead of what was asked for. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.message ?? body?.title ?? `the server answered ${status}`);
    this.status = status;
    this.code = body?.code;
  }
}

export const token = () => sessionStorage.getItem("accessToken");

/** Calls `listener` with each new token, and with null when there is none any more. */
export const onToken = (listener) => listeners.add(listener);

function keep(answer) {
  if (answer) {
    sessionStorage.setItem("accessToken", answer.accessToken);
    sessionStorage.setItem("refreshToken", answer.refreshToken ?? "");
  } else {
    sessionStorage.removeItem("accessToken");
    sessionStorage.removeItem("refreshToken");
  }
  plan();
  for (const listener of listeners) listener(answer?.accessToken ?? null);
}

/** Renews the token in time, if it says when it ends. */
export function plan() {
  clearTimeout(timer);
  const ends = endOf(token());
  if (!ends || !sessionStorage.getItem("refreshToken")) return;
  const wait = Math.max(ends - Date.now() - RENEW_BEFORE_MS, 1000);
  timer = setTimeout(renew, Math.min(wait, 2 ** 31 - 1));
}

function endOf(text) {
  try {
    const body = text.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
    return JSON.parse(atob(body)).exp * 1000;
  } catch {
    return 0;
  }
}

/** Logs in; false if name or password are wrong. */
export async function login(username, password) {
  const answer = await send("POST", "/identity/login", { username, password });
  if (!answer.isAuthenticated) return false;
  keep(answer);
  return true;
}

/** Ends the session, here and at the server, whose tokens count no more then. */
export async function logout() {
  const headers = { authorization: `Bearer ${token()}` };
  // Whether the server hears it or not, this tab forgets its tokens.
  if (token()) await fetch(`${API}/identity/logout`, { method: "POST", headers }).catch(() => null);
  keep(null);
}

/** How people sign in here: by name and password, at an issuer, or both. */
export const ways = () => send("GET", "/identity/ways").catch(() => ({ users: true, oidc: null }));

/** Takes the tokens of whoever comes back from the issuer; says what is wrong if there are none. */
export async function comeBack() {
  const how = new URLSearchParams(location.search).get("signIn");
  if (!how) return "";
  history.replaceState(null, "", location.pathname + location.hash);
  if (how === "noRole") return "You are signed in, and none of your groups has a role here. Ask whoever runs this server.";
  const answer = how === "done" && (await send("POST", "/identity/oidc/token").catch(() => null));
  if (!answer?.isAuthenticated) return "Signing in failed. Try it again.";
  keep(answer);
  return "";
}

/** A new token for the one that ends; null if that is not possible any more. Several ask for it at once, one does it. */
export function renew() {
  renewing ??= (async () => {
    const refresh = sessionStorage.getItem("refreshToken");
    const response = refresh && (await fetch(`${API}/identity/refresh-token`, { method: "POST", headers: { authorization: `Bearer ${refresh}` } }));
    const answer = response && response.ok ? await response.json() : null;
    keep(answer?.isAuthenticated ? answer : null);
    return token();
  })().finally(() => { renewing = null; });
  return renewing;
}

async function send(method, path, body) {
  const headers = { accept: "application/json" };
  if (token()) headers.authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(API + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await response.text();
  const told = text && /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text;
  if (!response.ok) throw new Problem(response.status, told);
  return told;
}

/** Asks the API; with a new token if the one there was has ended. */
export async function api(method, path, body) {
  try {
    return await send(method, path, body);
  } catch (error) {
    if (error.status !== 401 || !token() || !(await renew())) throw error;
    return send(method, path, body);
  }
}

/** Whether the API lets us in as we are. */
export async function isIn() {
  try {
    await api("GET", "/workflow-definitions/query/count");
    return true;
  } catch (error) {
    if (error.status === 401) return false;
    // Whoever may not count definitions is known all the same.
    if (error.status === 403) return true;
    throw error;
  }
}

/** What this server is: its version, whether it has Studio. */
export async function about() {
  const response = await fetch("/console/about.json").catch(() => null);
  return response?.ok ? response.json() : {};
}
