// The four views of Elsa Studio, under the addresses that Studio itself uses. Its parts come from the npm package
// @elsa-workflows/elsa-studio-wasm; what this page must see to is in the comments below.

import { h } from "./dom.js";
import { bar, loginForm } from "./shell.js";
import { about, isIn, onToken, plan, token } from "./session.js";

const STYLES = ["_content/MudBlazor/MudBlazor.min.css", "_content/CodeBeam.MudBlazor.Extensions/MudExtensions.min.css",
  "_content/Radzen.Blazor/css/material-base.css", "_content/Elsa.Studio.Shell/css/shell.css", "Elsa.Studio.Host.CustomElements.styles.css"];
const SCRIPTS = ["_content/BlazorMonaco/jsInterop.js", "_content/BlazorMonaco/lib/monaco-editor/min/vs/loader.js",
  "_content/BlazorMonaco/lib/monaco-editor/min/vs/editor/editor.main.js", "_content/MudBlazor/MudBlazor.min.js",
  "_content/CodeBeam.MudBlazor.Extensions/MudExtensions.min.js", "_content/Radzen.Blazor/Radzen.Blazor.js", "_framework/blazor.webassembly.js"];
// A view that is taken away is disposed of a second later, and two at once break each other.
const DISPOSED_MS = 1_300;

const main = document.getElementById("main");
let current = null;
let turn = 0;

const go = (path) => history.pushState(null, "", path);

/** An element of Studio's with the API's address and whatever lets it in. */
function element(tag, attributes = {}) {
  const made = document.createElement(tag);
  made.setAttribute("remote-endpoint", `${location.origin}/elsa/api`);
  if (token()) made.setAttribute("access-token", token());
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

async function mount(tag, attributes, callbacks) {
  const mine = ++turn;
  if (main.firstElementChild?.tagName.startsWith("ELSA-")) {
    main.replaceChildren();
    await new Promise((done) => setTimeout(done, DISPOSED_MS));
  }
  // What is set on an element before its tag is known is lost.
  await customElements.whenDefined(tag);
  if (mine !== turn) return;
  const view = element(tag, attributes);
  Object.assign(view, callbacks);
  main.replaceChildren(view);
}

const edit = (id) => go(`/workflows/definitions/${encodeURIComponent(id)}/edit`);
const view = (id) => go(`/workflows/instances/${encodeURIComponent(id)}/view`);

/** Shows what the path names. Studio keeps its lists' state behind `?`, which is its own business. */
function route() {
  const path = location.pathname;
  if (path === current) return;
  const [, kind, id, what] = path.match(/^\/workflows\/(definitions|instances)(?:\/([^/]+)\/(edit|view))?$/) ?? [];
  if (!kind) return location.assign("/");
  current = path;
  if (what === "edit") mount("elsa-workflow-definition-editor", { "definition-id": decodeURIComponent(id) });
  else if (what === "view") mount("elsa-workflow-instance-viewer", { "instance-id": decodeURIComponent(id) }, { editWorkflowDefinition: edit });
  else if (kind === "instances") mount("elsa-workflow-instance-list", {}, { viewWorkflowInstance: view });
  else mount("elsa-workflow-definition-list", {}, { editWorkflowDefinition: edit });
}

/** Studio's own navigation is by the History API. */
function followNavigation() {
  const push = history.pushState;
  history.pushState = function (...all) {
    push.apply(this, all);
    queueMicrotask(route);
  };
  addEventListener("popstate", route);
  // Links to Studio's own pages stay in the page: a load would begin Studio anew.
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const path = link && new URL(link.href, location.href);
    if (!path || path.origin !== location.origin || !path.pathname.startsWith("/workflows/") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(path.pathname + path.search);
  });
}

/** Tells what Studio keeps to itself: that nothing was saved, because somebody else has saved meanwhile. */
function tellRefusals() {
  const ask = window.fetch;
  window.fetch = async (...all) => {
    const answer = await ask.apply(window, all);
    if (answer.status === 409) {
      const { code, detail } = await answer.clone().json().catch(() => ({}));
      if (code === "staleEdit") refused(detail);
    }
    return answer;
  };
}

function refused(told) {
  document.getElementById("refused")?.remove();
  const box = h("div", { id: "refused", role: "alert" }, h("p", {}, told),
    h("button", { onclick: () => location.reload() }, "Read it again"),
    h("button", { onclick: () => box.remove() }, "Stay here"));
  document.body.append(box);
}

function load() {
  for (const href of STYLES) document.head.append(h("link", { rel: "stylesheet", href }));
  for (const src of SCRIPTS) {
    const script = h("script", { src });
    script.async = false;
    document.body.append(script);
  }
}

const isMissing = () => [
  h("div", { class: "note" }, h("h1", {}, "Elsa Studio is not installed"),
    h("p", {}, "It is a package of its own, and the server works without it. To get it (about 50 MB, from npm):"),
    h("pre", {}, "dormouse studio install"),
    h("p", {}, "Then start the server again. ", h("a", { href: "/#/definitions" }, "Workflows"), " and ", h("a", { href: "/#/instances" }, "instances"), " can be looked at without it."))];

async function begin() {
  bar("/workflows/definitions");
  plan();
  if (!(await isIn())) return main.replaceChildren(await loginForm(() => location.reload()));
  bar("/workflows/definitions");
  if (!(await about()).studio) return main.replaceChildren(...isMissing());
  main.replaceChildren(h("p", { class: "note", role: "status" }, "Studio is starting…"));
  followNavigation();
  tellRefusals();
  load();
  // A view reads its token once. A provider that is added passes a new one on to all.
  onToken((now) => {
    if (!now) return location.reload();
    document.querySelector("elsa-backend-provider")?.remove();
    document.body.append(element("elsa-backend-provider"));
  });
  route();
}

begin().catch((error) => main.replaceChildren(h("div", { class: "problem note", role: "alert" }, error.message)));
