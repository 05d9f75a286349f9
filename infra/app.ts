/**
 * The CDK app: one stack, which is template.yaml and a console.
 *
 *   sam build                                        # the four programs
 *   cd infra && npm ci && npx cdk deploy --parameters Authentication=apiKeys
 *
 * Context: `name` (of the stack), `programs` (folder of the built functions), `console` (folder of
 * another web page), `studio` (the folder that `dormouse studio install` has put Elsa Studio in).
 */
import * as path from "node:path";
import { App } from "aws-cdk-lib";
import { DormouseStack } from "./stack";

const app = new App();
const folder = (name: string): string | undefined => {
  const given: unknown = app.node.tryGetContext(name);
  return typeof given === "string" ? path.resolve(given) : undefined;
};

const studio = folder("studio");

new DormouseStack(app, app.node.tryGetContext("name") ?? "dormouse", {
  description: "Dormouse, a serverless engine for long-running workflows",
  template: path.join(__dirname, "..", "template.yaml"),
  programs: folder("programs") ?? path.join(__dirname, "..", ".aws-sam", "build"),
  console: folder("console") ?? path.join(__dirname, "..", "shared", "console", "page"),
  studio: studio === undefined ? undefined : path.join(studio, "node_modules", "@elsa-workflows", "elsa-studio-wasm"),
});
