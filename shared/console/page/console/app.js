// Our own pages: the part after `#` names one.

import { h } from "./dom.js";
import { bar, keys, loginForm } from "./shell.js";
import { comeBack, isIn, onToken, plan } from "./session.js";
import { cluster } from "./cluster.js";
import { deadLetters } from "./dead_letters.js";
import { definitions } from "./definitions.js";
import { incidents } from "./incidents.js";
import { instance } from "./instance.js";
import { instances } from "./instances.js";
import { overview } from "./overview.js";

const PAGES = { "": overview, instances, incidents, "dead-letters": deadLetters, definitions, cluster };
const REFRESH_MS = 10_000;
const main = document.getElementById("main");
let shown = 0;
let said = "";

function page() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, id] = path.split("/").map(decodeURIComponent);
  if (name === "instances" && id) return { name, show: () => instance(id) };
  return { name, show: () => (PAGES[name] ?? overview)(new URLSearchParams(query)) };
}

/** Shows the page that the address names, and again every few seconds unless somebody types or selects there. */
async function show(isAgain = false) {
  const turn = ++shown;
  const { name, show } = page();
  bar(`/#/${name}`);
  try {
    if (!(await isIn())) return main.replaceChildren(await loginForm(() => show_(), said));
    const content = await show();
    if (turn !== shown) return;
    main.replaceChildren(...content);
    document.title = `${main.querySelector("h1")?.textContent ?? "Dormouse"} · Dormouse`;
    if (!isAgain) { scrollTo(0, 0); main.focus({ preventScroll: true }); }
  } catch (error) {
    if (turn !== shown) return;
    if (error.status === 401) return main.replaceChildren(await loginForm(() => show_(), said));
    const box = h("div", { class: "problem", role: "alert" }, error.message);
    if (isAgain) { main.querySelector(".problem")?.remove(); main.prepend(box); } else main.replaceChildren(box);
  }
}
const show_ = () => show();

const isBusy = () => document.hidden || main.contains(document.activeElement?.closest("input, select, textarea, button, form")) || String(getSelection()) || main.querySelector("[data-still]");
setInterval(() => { if (!isBusy()) show(true); }, REFRESH_MS);
addEventListener("hashchange", show_);
onToken((token) => { if (!token) show(); });
keys();
// The address after `#` names a page, so the link's own target must not become one.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
comeBack().then((wrong) => { said = wrong; plan(); show(); });
