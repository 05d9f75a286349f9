/** Runs a handler without a server. */
import type { Worker } from './index.js'

export interface TestResult {
  outcome: string | undefined
  outputs: Record<string, any>
  error: { type: string; message: string; retryable: boolean } | undefined
  isLater: boolean
  isLost: boolean
  heartbeats: unknown[]
}

/** Runs the handler of a type. `lostAfter` lets the task be lost with the heartbeat after so many. */
export declare function run(
  worker: Worker,
  type: string,
  input?: Record<string, unknown>,
  options?: { attempt?: number; heartbeatDetails?: unknown; lostAfter?: number },
): Promise<TestResult>
