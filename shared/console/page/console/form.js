// Forms for declared values: the inputs of a workflow, the outputs of a task.

import { h } from "./dom.js";
import { field, jsonOf } from "./dialog.js";

const NUMBERS = /^(u?int\d*|integer|long|short|byte|s?byte|double|single|float|decimal|number)$/;
const WHOLE = /^(u?int\d*|integer|long|short|s?byte)$/;

/** The kind of control for a declared type, such as `String`, `System.Int32`, `Boolean`. */
export function kindOf(one) {
  const type = String(one.typeName ?? one.type ?? "String").replace(/^System\./, "").split(",")[0].toLowerCase();
  if (one.isArray) return "json";
  if (NUMBERS.test(type)) return WHOLE.test(type) ? "whole" : "number";
  if (type === "boolean" || type === "bool") return "flag";
  if (type === "datetime" || type === "datetimeoffset") return "time";
  if (type === "string" || type === "guid" || type === "uri" || type === "timespan" || type === "date" || type === "dateonly") return "text";
  return "json";
}

const labelOf = (one) => one.displayName || one.name;

/** Two digits; a local time as the browser's control has it. */
function localText(at) {
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The fields of a form for declared values. */
export function fieldsOf(declared) {
  return declared.map((one) => {
    const kind = kindOf(one);
    const name = `value:${one.name}`;
    const initial = one.defaultValue ?? one.default;
    const type = String(one.typeName ?? one.type ?? "").split(".").pop();
    const hint = [one.description, kind === "json" && "JSON", kind === "time" && "local time", kind === "text" && type !== "String" ? type : ""].filter(Boolean).join(" · ");
    const more = { name, required: Boolean(one.isRequired), "aria-required": one.isRequired ? "true" : null };
    let control;
    if (kind === "flag") {
      const chosen = initial == null ? "" : String(initial);
      control = h("select", more, [["", "not set"], ["true", "yes"], ["false", "no"]].map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    } else if (kind === "json") control = h("textarea", { ...more, rows: 4, spellcheck: "false", value: initial == null ? "" : JSON.stringify(initial, null, 2) });
    else if (kind === "time") control = h("input", { ...more, type: "datetime-local", value: initial ? localText(new Date(initial)) : "" });
    else if (kind === "text" && one.uiHint === "multi-line") control = h("textarea", { ...more, rows: 4, value: initial ?? "" });
    else control = h("input", { ...more, type: one.isSensitive ? "password" : "text", inputmode: kind === "whole" ? "numeric" : kind === "number" ? "decimal" : null, autocomplete: "off", value: initial ?? "" });
    return field([labelOf(one), one.isRequired ? h("span", { class: "bad", title: "required" }, " *") : ""], control, hint);
  });
}

/** The values of such a form by name. Throws for the first value that is missing or of another type. */
export function valuesOf(declared, form) {
  const values = {};
  for (const one of declared) {
    const name = `value:${one.name}`;
    const label = labelOf(one);
    const kind = kindOf(one);
    const wrong = (text) => { throw Object.assign(new Error(`${label}: ${text}`), { field: name }); };
    const text = String(form.get(name) ?? "");
    if (text.trim() === "") {
      if (one.isRequired) wrong("a value is required.");
      continue;
    }
    if (kind === "flag") values[one.name] = text === "true";
    else if (kind === "json") values[one.name] = jsonOf(form, name, label);
    else if (kind === "time") values[one.name] = new Date(text).toISOString();
    else if (kind === "whole" || kind === "number") {
      const number = Number(text);
      if (!Number.isFinite(number)) wrong("enter a number, such as 12.5.");
      if (kind === "whole" && !Number.isInteger(number)) wrong("enter a whole number.");
      values[one.name] = number;
    } else values[one.name] = text;
  }
  return values;
}
