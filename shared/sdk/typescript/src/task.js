// A task as its handler sees it, and what a handler can answer.

export const LATER = Symbol('later')

export class Outcome {
  constructor(name, outputs) {
    this.name = name
    this.outputs = outputs
  }
}

export class ActivityError extends Error {
  constructor(type, message = type, { retryable = true, cause } = {}) {
    super(message, { cause })
    this.name = 'ActivityError'
    this.type = type
    this.retryable = retryable
  }
}

export class TaskLost extends Error {
  constructor(taskId) {
    super(`the task ${taskId} is not this worker's any more`)
    this.name = 'TaskLost'
  }
}

export class Context {
  #lost = new AbortController()
  #stopping = new AbortController()
  #beat

  constructor(task, beat) {
    this.task = task
    this.taskId = task.taskId
    this.type = task.type
    this.version = task.version ?? 1
    this.attempt = task.attempt ?? 1
    this.idempotencyKey = task.idempotencyKey ?? task.taskId
    this.deadline = task.deadline ? new Date(task.deadline) : undefined
    this.heartbeatDetails = task.heartbeatDetails ?? undefined
    this.heartbeatMs = task.heartbeatMs ?? undefined
    const { definitionId = '', instanceId = '', correlationId, tenantId } = task.workflow ?? {}
    this.workflow = { definitionId, instanceId, correlationId: correlationId ?? undefined, tenantId: tenantId ?? undefined }
    this.#beat = beat
  }

  // Aborted when the task is lost: pass it to `fetch` and timers.
  get signal() {
    return this.#lost.signal
  }

  // Aborted when the worker was asked to stop.
  get stopping() {
    return this.#stopping.signal
  }

  async heartbeat(details) {
    if (this.#beat && !this.signal.aborted) await this.#beat(this, details)
    if (this.signal.aborted) throw new TaskLost(this.taskId)
  }

  lose() {
    this.#lost.abort(new TaskLost(this.taskId))
  }

  stop() {
    this.#stopping.abort()
  }
}

export function failure(type, message, retryable = true) {
  return { error: { type, message, retryable } }
}

export function isTask(value) {
  return value !== null && typeof value === 'object' && typeof value.taskId === 'string' && typeof value.type === 'string'
}

// Does a task: the body of its answer, or LATER. Throws only if the task is lost.
export async function answerOf(handler, task, context) {
  try {
    return body(await handler(task.input ?? {}, context))
  } catch (error) {
    if (error instanceof TaskLost || context.signal.aborted) throw new TaskLost(context.taskId)
    if (error instanceof ActivityError) return failure(error.type, error.message, error.retryable)
    if (error instanceof Error) return failure(error.name, error.message)
    return failure('Error', String(error))
  }
}

function body(result) {
  if (result === LATER) return LATER
  const isNamed = result instanceof Outcome
  const outputs = (isNamed ? result.outputs : result) ?? {}
  if (typeof outputs !== 'object' || Array.isArray(outputs)) {
    const given = Array.isArray(outputs) ? 'an array' : `a ${typeof outputs}`
    return failure('InvalidAnswer', `a handler returns its outputs as an object, and not as ${given}`, false)
  }
  try {
    const plain = JSON.parse(JSON.stringify(outputs))
    return isNamed ? { outputs: plain, outcome: result.name } : { outputs: plain }
  } catch (error) {
    return failure('InvalidAnswer', `the outputs cannot be written as JSON: ${error.message}`, false)
  }
}
