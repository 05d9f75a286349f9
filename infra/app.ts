/**
 * The CDK app: one stack, which is template.yaml and a console.
 *
 *   sam build                                        # the four programs
 *   cd infra && npm ci && npx cdk deploy --parameters Authentication=apiKeys
 *
 * Context: `name` (of the stack), `programs` (folder of the built functions), `console` (folder of a web page).
 */
import * as path from "node:path";
import { App } from "aws-cdk-lib";
import { DormouseStack } from "./stack";

const app = new App();
const folder = (name: string): string | undefined => {
  const given: unknown = app.node.tryGetContext(name);
  return typeof given === "string" ? path.resolve(given) : undefined;
};

new DormouseStack(app, app.node.tryGetContext("name") ?? "dormouse", {
  description: "Dormouse, a serverless engine for long-running workflows",
  template: path.join(__dirname, "..", "template.yaml"),
  programs: folder("programs") ?? path.join(__dirname, "..", ".aws-sam", "build"),
  console: folder("console"),
});
