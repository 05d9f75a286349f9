// Dialogs: questions, forms, and work with progress. The browser's own element keeps the focus inside and Escape closes it.

import { h } from "./dom.js";

/**
 * Shows a dialog and waits for its end: what `work` returned, or null if it was closed. `work` receives the form's values;
 * if it throws, the dialog stays and shows why.
 */
export function dialog({ title, body = [], ok = "OK", danger = false, work = (values) => values ?? true, close = "Cancel", wide = false }) {
  return new Promise((done) => {
    let result = null;
    const wrong = h("p", { class: "bad", role: "alert" });
    const send = ok && h("button", { class: danger ? "main danger" : "main" }, ok);
    const form = h("form", { method: "dialog", novalidate: true, oninput: () => { wrong.textContent = ""; }, onsubmit: async (event) => {
      event.preventDefault();
      wrong.textContent = "";
      send.disabled = true;
      try {
        result = await work(new FormData(form), form);
        box.close();
      } catch (error) {
        wrong.textContent = error.message;
        if (error.field) form.querySelector(`[name="${CSS.escape(error.field)}"]`)?.focus();
      } finally {
        if (send) send.disabled = false;
      }
    } },
      h("h2", { id: "dialog-title" }, title), body, wrong,
      h("div", { class: "tools end" }, close && h("button", { type: "button", onclick: () => box.close() }, close), send));
    const box = h("dialog", { class: wide ? "wide" : null, "aria-labelledby": "dialog-title", onclose: () => { box.remove(); done(result); } }, form);
    document.body.append(box);
    box.showModal();
    (form.querySelector("input, textarea, select") ?? send ?? form.querySelector("button"))?.focus();
  });
}

/** Asks whether to do something; true for yes. */
export const confirmed = async (title, text, ok, danger = true) => Boolean(await dialog({ title, body: [h("p", {}, text)], ok, danger, work: () => true }));

/** A field of a form with its label. */
export const field = (label, control, hint) => h("label", { class: "field" }, h("span", {}, label), control, hint && h("span", { class: "soft" }, hint));

/** A field with one line of text. */
export const line = (label, name, more = {}, hint = "") => field(label, h("input", { name, autocomplete: "off", ...more }), hint);

/** The JSON that a field contains; undefined if it is empty. */
export function jsonOf(values, name, label) {
  const text = String(values.get(name) ?? "").trim();
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error(`${label} is not valid JSON: ${error.message}. Put texts in double quotes.`), { field: name });
  }
}
