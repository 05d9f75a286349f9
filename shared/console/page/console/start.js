// Starting a workflow by a form of its declared inputs.

import { api } from "./session.js";
import { h } from "./dom.js";
import { dialog, field, jsonOf, line } from "./dialog.js";
import { fieldsOf, valuesOf } from "./form.js";

/** Asks for the inputs of a definition and starts it. The instance's id, or null if nobody wanted to. */
export async function start(definition) {
  const inputs = definition.inputs ?? [];
  const id = await dialog({
    title: `Start ${definition.name || definition.definitionId}`,
    ok: "Start",
    body: [
      inputs.length ? fieldsOf(inputs) : field("Input", h("textarea", { name: "input", rows: 5, spellcheck: "false", placeholder: "{ }" }), "The workflow declares no inputs. JSON that you enter here is available to it as its input."),
      line("Correlation id", "correlation", {}, "Optional. Finds the instance later, such as an order number."),
    ],
    work: async (form) => {
      const input = inputs.length ? valuesOf(inputs, form) : jsonOf(form, "input", "Input") ?? {};
      if (typeof input !== "object" || Array.isArray(input) || input === null) throw Object.assign(new Error("Input must be a JSON object, such as { \"Amount\": 5 }."), { field: "input" });
      const correlationId = form.get("correlation").trim() || undefined;
      const started = await api("POST", `/workflow-definitions/${encodeURIComponent(definition.definitionId)}/dispatch`, { input, correlationId });
      return started.workflowInstanceId;
    },
  });
  if (id) location.hash = `/instances/${encodeURIComponent(id)}`;
  return id;
}

/** The same for a definition of which only the list's row is known. */
export const startById = async (id) => start(await api("GET", `/workflow-definitions/by-definition-id/${encodeURIComponent(id)}?versionOptions=Published`));
