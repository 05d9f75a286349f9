// One action for many things: with progress, a way to stop, and a result for each.

import { each, h, table, whole } from "./dom.js";

const WIDTH = 4;
const SHOWN_MAX = 200;

/**
 * Does `work(item)` for each item and shows how it goes. `work` returns what to say of an item, or throws. `name(item)` is the
 * item's cell in the list of results. Ends when the dialog is closed.
 */
export function bulk({ title, items, name, work }) {
  return new Promise((done) => {
    const results = [];
    let isStopped = false;
    let isOver = false;
    const bar = h("progress", { max: items.length, value: 0, "aria-label": title });
    const told = h("p", { role: "status" });
    const list = h("div", {});
    const end = h("button", { type: "button", class: "main", onclick: () => { if (isOver) box.close(); else { isStopped = true; end.disabled = true; } } }, "Stop");
    const box = h("dialog", { class: "wide", "aria-labelledby": "bulk-title", oncancel: (event) => { if (!isOver) event.preventDefault(); }, onclose: () => { box.remove(); done(results); } },
      h("h2", { id: "bulk-title" }, title), bar, told, list, h("div", { class: "tools end" }, end));
    document.body.append(box);
    box.showModal();
    end.focus();
    const show = () => {
      const failed = results.filter((one) => one.isWrong).length;
      bar.value = results.length;
      told.textContent = `${results.length.toLocaleString("en")} of ${items.length.toLocaleString("en")} processed, ${failed ? `${failed.toLocaleString("en")} failed` : "none failed"}.`;
    };
    const one = async (item) => {
      if (isStopped) return;
      try {
        results.push({ item, text: (await work(item)) ?? "done", isWrong: false });
      } catch (error) {
        results.push({ item, text: error.message, isWrong: true });
      }
      show();
    };
    show();
    each(items, WIDTH, one).then(() => {
      isOver = true;
      show();
      if (results.length < items.length) told.append(` Stopped: ${(items.length - results.length).toLocaleString("en")} were left as they are.`);
      results.sort((a, b) => b.isWrong - a.isWrong);
      const rows = results.slice(0, SHOWN_MAX).map(({ item, text, isWrong }) => [whole(name(item)), h("span", { class: isWrong ? "bad" : "" }, text)]);
      list.replaceChildren(table(["Item", "Result"], rows, "Nothing was done."), results.length > SHOWN_MAX ? h("p", { class: "soft" }, `The first ${SHOWN_MAX} results are listed, failures first.`) : "");
      end.textContent = "Close";
      end.disabled = false;
      end.focus();
    });
  });
}
