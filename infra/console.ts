/**
 * The console: a web page in a private bucket behind CloudFront, and the API under the same name.
 *
 * One origin for both means that no page of another origin ever has to be let in.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { HttpOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { BucketDeployment, Source } from "aws-cdk-lib/aws-s3-deployment";
import { Construct } from "constructs";

/** What our own pages may load: their own files, and no script or style that is written into them. The server says the same. */
const OWN_SECURITY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "object-src 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * What Studio's page may load: its own files and nothing else. Elsa Studio is WebAssembly (`wasm-unsafe-eval`), and two of
 * its components and its style sheets are written into the page (`unsafe-inline`).
 */
const STUDIO_SECURITY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** The pages find their own way by the path: Studio's addresses are its page's, whatever else is no file is ours. */
const PAGE_FOR_PATHS = `
function handler(event) {
  var request = event.request;
  var last = request.uri.substring(request.uri.lastIndexOf("/") + 1);
  if (request.uri.indexOf("/workflows/") === 0) request.uri = "/studio.html";
  else if (last.indexOf(".") === -1) request.uri = "/index.html";
  return request;
}`;

/**
 * The API turns pages of other origins away by comparing Origin with Host. It sees its own host here and not the one
 * the browser sees, so the comparison is made where both are known: the console's own origin is taken off, any other
 * one stays and is turned away.
 */
const OWN_ORIGIN_ONLY = `
function handler(event) {
  var headers = event.request.headers;
  if (headers.origin && headers.host && headers.origin.value === "https://" + headers.host.value) delete headers.origin;
  return event.request;
}`;

export interface ConsoleProps {
  /** The API's domain name. */
  readonly apiDomain: string;
  /** The folder with the page. */
  readonly page?: string | undefined;
  /** The folder with Elsa Studio, as npm has installed it; without it the console has our own pages only. */
  readonly studio?: string | undefined;
}

/** Studio's files: what browsers load, without its own sample page and what is there a second time. */
function studioFiles(folder: string) {
  return Source.asset(folder, { exclude: ["index.html", "package.json", "*.br", "*.gz", "*.map"] });
}

/** What the page is told of the server: whether it has Studio. */
function about(studio: string | undefined) {
  if (studio === undefined) return Source.jsonData("console/about.json", { studio: null });
  const { version } = JSON.parse(fs.readFileSync(path.join(studio, "package.json"), "utf8"));
  return Source.jsonData("console/about.json", { studio: version });
}

export class Console extends Construct {
  readonly domain: string;
  readonly bucket: string;

  constructor(scope: Construct, id: string, props: ConsoleProps) {
    super(scope, id);
    const bucket = new Bucket(this, "Files", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // Nothing is in it that cannot be deployed again.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    const headers = this.secured("Headers", "Dormouse console", OWN_SECURITY);
    const studioHeaders = this.secured("StudioHeaders", "Dormouse console, Elsa Studio", STUDIO_SECURITY);
    const files = S3BucketOrigin.withOriginAccessControl(bucket);
    const pages = {
      origin: files,
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      compress: true,
      functionAssociations: [this.atTheEdge("PageForPaths", PAGE_FOR_PATHS)],
    };
    const distribution = new Distribution(this, "Distribution", {
      comment: "Dormouse console",
      defaultRootObject: "index.html",
      httpVersion: HttpVersion.HTTP2_AND_3,
      defaultBehavior: { ...pages, responseHeadersPolicy: headers },
      additionalBehaviors: {
        // Studio's page alone needs its looser policy.
        "/workflows/*": { ...pages, responseHeadersPolicy: studioHeaders },
        "/studio.html": { ...pages, responseHeadersPolicy: studioHeaders },
        // HTTP workflows are not here: their paths (/workflows/…) are those of the console's own pages.
        "/elsa/*": {
          origin: new HttpOrigin(props.apiDomain),
          viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
          allowedMethods: AllowedMethods.ALLOW_ALL,
          cachePolicy: CachePolicy.CACHING_DISABLED,
          originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
          responseHeadersPolicy: headers,
          functionAssociations: [this.atTheEdge("OwnOriginOnly", OWN_ORIGIN_ONLY)],
        },
      },
    });
    if (props.page !== undefined) {
      new BucketDeployment(this, "Page", {
        sources: [
          Source.asset(props.page),
          about(props.studio),
          ...(props.studio === undefined ? [] : [studioFiles(props.studio)]),
        ],
        destinationBucket: bucket,
        distribution,
        memoryLimit: 512,
      });
    }
    this.domain = distribution.distributionDomainName;
    this.bucket = bucket.bucketName;
  }

  private secured(id: string, comment: string, policy: string) {
    return new ResponseHeadersPolicy(this, id, {
      comment,
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy: policy, override: true },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: { accessControlMaxAge: Duration.days(730), includeSubdomains: true, override: true },
      },
      customHeadersBehavior: {
        customHeaders: [
          { header: "permissions-policy", value: "camera=(), geolocation=(), microphone=(), payment=()", override: true },
          { header: "cross-origin-opener-policy", value: "same-origin", override: true },
        ],
      },
    });
  }

  private atTheEdge(id: string, code: string) {
    const edge = new EdgeFunction(this, id, { code: FunctionCode.fromInline(code), runtime: FunctionRuntime.JS_2_0 });
    return { function: edge, eventType: FunctionEventType.VIEWER_REQUEST };
  }
}
