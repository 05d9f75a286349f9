/** The stack: every resource of template.yaml, unchanged, with the programs as they were built. */
import * as fs from "node:fs";
import * as path from "node:path";
import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { CfnApi } from "aws-cdk-lib/aws-apigatewayv2";
import { Asset } from "aws-cdk-lib/aws-s3-assets";
import type { CfnFunction } from "aws-cdk-lib/aws-sam";
import { CfnInclude } from "aws-cdk-lib/cloudformation-include";
import type { Construct } from "constructs";
import { Console } from "./console";

/** The functions, by their names in the template. `sam build` writes one folder for each. */
const FUNCTIONS = ["ApiFunction", "ResumeFunction", "TimerFunction", "InvalidationFunction"];

export interface DormouseProps extends StackProps {
  /** The file template.yaml. */
  readonly template: string;
  /** A folder with one folder per function, and the program `bootstrap` in each. */
  readonly programs: string;
  /** A folder with the console's web page; without it there is only the place for one. */
  readonly console?: string | undefined;
  /** A folder with Elsa Studio. */
  readonly studio?: string | undefined;
}

export class DormouseStack extends Stack {
  constructor(scope: Construct, id: string, props: DormouseProps) {
    super(scope, id, props);
    const template = new CfnInclude(this, "Template", {
      templateFile: props.template,
      // The names in the template are the names in the stack, so that either tool can take over from the other.
      preserveLogicalIds: true,
    });
    for (const name of FUNCTIONS) {
      const program = path.join(props.programs, name);
      if (!fs.existsSync(path.join(program, "bootstrap"))) {
        throw new Error(`${program} has no bootstrap: run \`sam build\` first, or name a folder by -c programs=FOLDER`);
      }
      const code = new Asset(this, `${name}Code`, { path: program });
      const included = template.getResource(name) as CfnFunction;
      included.codeUri = { bucket: code.s3BucketName, key: code.s3ObjectKey };
    }
    const api = template.getResource("Api") as CfnApi;
    const console = new Console(this, "Console", {
      apiDomain: `${api.ref}.execute-api.${this.region}.${this.urlSuffix}`,
      page: props.console,
      studio: props.studio,
    });
    new CfnOutput(this, "ConsoleUrl", { description: "The console", value: `https://${console.domain}` });
    new CfnOutput(this, "ConsoleBucketName", { description: "What the console shows lies here", value: console.bucket });
  }
}
