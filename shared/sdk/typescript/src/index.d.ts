/** Activities of Dormouse workflows: workers, signed webhooks and AWS Lambda, without dependencies. */

/** A task as the server sends it. */
export interface Task {
  taskId: string
  type: string
  version?: number
  attempt?: number
  input?: Record<string, unknown>
  deadline?: string | null
  heartbeatMs?: number | null
  heartbeatDetails?: unknown
  idempotencyKey?: string
  workflow?: {
    definitionId?: string
    instanceId?: string
    correlationId?: string | null
    tenantId?: string | null
  }
}

export interface Failure {
  error: { type: string; message: string; retryable: boolean }
}

/** The body of an answer. */
export type Answer = { outputs: Record<string, unknown>; outcome?: string } | Failure

/** Says that the answer comes later, by `client.tell` or the REST API. */
export declare const LATER: unique symbol

/** A named outcome with its outputs: `return new Outcome('Declined', { reason: '…' })`. */
export declare class Outcome<Outputs extends object = object> {
  constructor(name: string, outputs?: Outputs)
  readonly name: string
  readonly outputs: Outputs | undefined
}

/** Fails the attempt. `type` is a stable name; with `retryable: false` no attempt follows. */
export declare class ActivityError extends Error {
  constructor(type: string, message?: string, options?: { retryable?: boolean; cause?: unknown })
  readonly type: string
  readonly retryable: boolean
}

/** The task is not this worker's any more: cancelled, timed out, or leased to another worker. */
export declare class TaskLost extends Error {
  constructor(taskId: string)
}

/** The facts of a task beside its input, and its heartbeat. */
export declare class Context<Details = unknown> {
  constructor(task: Task, beat?: (context: Context, details?: unknown) => Promise<void>)
  readonly task: Task
  readonly taskId: string
  readonly type: string
  readonly version: number
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** The same for every attempt: pass it to services that deduplicate. */
  readonly idempotencyKey: string
  readonly deadline: Date | undefined
  readonly heartbeatMs: number | undefined
  /** What the last heartbeat of an earlier attempt told. */
  readonly heartbeatDetails: Details | undefined
  readonly workflow: {
    definitionId: string
    instanceId: string
    correlationId: string | undefined
    tenantId: string | undefined
  }
  /** Aborted when the task is lost: pass it to `fetch` and timers. */
  readonly signal: AbortSignal
  /** Aborted when the worker was asked to stop. The handler has the grace time to finish. */
  readonly stopping: AbortSignal
  /**
   * Extends the lease and stores `details` for the next attempt; without `details` the earlier ones stay.
   * Throws `TaskLost` if the task is not this worker's any more. A server that cannot be reached is no error.
   */
  heartbeat(details?: Details): Promise<void>
}

export type Result<Outputs extends object> = Outputs | Outcome<Outputs> | Outcome | typeof LATER | null | undefined | void

export type Handler<Input = Record<string, any>, Outputs extends object = object> = (
  input: Input,
  context: Context<any>,
) => Result<Outputs> | Promise<Result<Outputs>>

/** A request without a useful answer. `status` is 0 if there was no answer at all. */
export declare class RequestFailed extends Error {
  readonly status: number
  readonly code: string
  readonly retryAfterMs: number | undefined
  readonly isRetryable: boolean
  /** Whether the task does not exist any more: answered, taken away, or its instance ended. */
  readonly isGone: boolean
}

/**
 * The task routes of a server.
 *
 * The address is `DORMOUSE_URL` [default: http://127.0.0.1:7070], the key `DORMOUSE_API_KEY`, else the key of the local
 * server's data folder (`DORMOUSE_DATA` [default: ./dormouse-data]).
 */
export declare class Client {
  constructor(options?: { url?: string; apiKey?: string })
  poll(request: { queue: string; types: string[]; max: number; waitMs: number; workerId: string }): Promise<Task[]>
  /** Sends word of a task, once. Throws `RequestFailed`. */
  tell(taskId: string, verb: 'complete' | 'fail' | 'heartbeat', body: object): Promise<Record<string, unknown>>
  post(path: string, body: object, timeoutMs?: number): Promise<Record<string, unknown>>
}

export interface WorkerOptions {
  client?: Client
  /** Handlers that run at a time [default: 8] */
  concurrency?: number
  /** Milliseconds that a request for tasks waits at the server; a stop waits for its end [default: 5000, at most 20000] */
  waitMs?: number
  /** Milliseconds that running handlers have after SIGTERM or SIGINT [default: 30000] */
  graceMs?: number
  workerId?: string
  log?: Pick<Console, 'info' | 'warn' | 'error'>
}

/** The handlers of activity types, and the loop that serves them. */
export declare class Worker {
  constructor(queue?: string, options?: WorkerOptions)
  readonly queue: string
  readonly workerId: string
  readonly client: Client
  /** Declares the handler of an activity type. */
  activity<Input = Record<string, any>, Outputs extends object = object>(
    type: string,
    handler: (input: Input, context: Context<any>) => Result<Outputs> | Promise<Result<Outputs>>,
  ): this
  handler(type: string): Handler<any> | undefined
  /** Does one task that came by a webhook or a Lambda invocation. */
  answer(task: Task): Promise<Answer | typeof LATER>
  /** Asks a running worker to stop: no new polls, and running handlers have the grace time. */
  stop(): void
  /**
   * Works until SIGTERM, SIGINT or `stop`. Handlers that have not finished within the grace time are failed as retryable;
   * after a signal the process then exits.
   */
  run(): Promise<void>
}

/** By how much the time of a message may differ from ours, in seconds. */
export declare const TOLERANCE_S: number

/** The request was not signed with one of the secrets, or not within five minutes. */
export declare class InvalidSignature extends Error {
  constructor(message: string)
}

type HeaderMap = Headers | Record<string, string | string[] | undefined>

/** The value of `webhook-signature`. */
export declare function sign(secret: string, messageId: string, timestampS: number | string, body: string | Uint8Array): string

/** Checks a request by its raw body. Several secrets count while one replaces another. Throws `InvalidSignature`. */
export declare function verify(
  headers: HeaderMap,
  body: string | Uint8Array,
  secrets: string | string[],
  nowS?: number,
): void

/** Verifies a request, does its task, and returns status and body of the response (JSON). */
export declare function answerWebhook(
  worker: Worker,
  headers: HeaderMap,
  body: string | Uint8Array,
  secrets: string | string[],
): Promise<{ status: number; body: string }>

/**
 * The function for Lambda's setting "Handler". Requests through a function URL are verified with `secret`
 * [default: `DORMOUSE_WEBHOOK_SECRET`]. Heartbeats need `DORMOUSE_URL` and `DORMOUSE_API_KEY`.
 */
export declare function lambdaHandler(worker: Worker, options?: { secret?: string }): (event: unknown) => Promise<unknown>
