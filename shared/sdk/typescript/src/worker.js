// A worker: leases tasks of a queue, runs their handlers beside each other, and answers until the server has heard it.

import { hostname } from 'node:os'

import { Client, RequestFailed } from './client.js'
import { Context, LATER, TaskLost, answerOf, failure } from './task.js'

const POLL_MAX = 50
const TYPES_MAX = 50

export class Worker {
  #client
  #concurrency
  #waitMs
  #graceMs
  #log
  #handlers = new Map()
  #running = new Map()
  #changed = () => {}
  #stop = new AbortController()
  #isOver = new AbortController()

  constructor(queue = 'default', options = {}) {
    const { client, concurrency = 8, waitMs = 5_000, graceMs = 30_000, workerId, log = console } = options
    if (!(concurrency >= 1) || !(waitMs >= 0 && waitMs <= 20_000) || !(graceMs >= 0)) {
      throw new RangeError('concurrency is at least 1, waitMs from 0 to 20000, graceMs at least 0')
    }
    this.queue = queue
    this.workerId = workerId ?? `${hostname()}-${process.pid}`.slice(-200)
    this.#client = client
    this.#concurrency = Math.floor(concurrency)
    this.#waitMs = Math.floor(waitMs)
    this.#graceMs = graceMs
    this.#log = log
  }

  get client() {
    this.#client ??= new Client()
    return this.#client
  }

  activity(type, handler) {
    if (this.#handlers.has(type)) throw new Error(`${type} has a handler already`)
    if (this.#handlers.size >= TYPES_MAX) throw new Error(`a worker does at most ${TYPES_MAX} activity types`)
    this.#handlers.set(type, handler)
    return this
  }

  handler(type) {
    return this.#handlers.get(type)
  }

  // Does one task that came by a webhook or a Lambda invocation.
  async answer(task) {
    const handler = this.#handlers.get(task.type)
    if (!handler) return failure('UnknownActivity', `there is no handler of ${task.type} here`, false)
    const canBeat = this.#client !== undefined || process.env.DORMOUSE_URL
    const context = new Context(task, canBeat ? (of, details) => this.#beat(of, details) : undefined)
    try {
      return await answerOf(handler, task, context)
    } catch (lost) {
      return failure('TaskLost', lost.message)
    }
  }

  stop() {
    this.#stop.abort()
    for (const context of this.#running.values()) context.stop()
    this.#changed()
  }

  async run() {
    if (this.#handlers.size === 0) throw new Error('the worker has no handlers')
    let isSignalled = false
    const asked = () => {
      isSignalled = true
      this.stop()
    }
    const signals = ['SIGTERM', 'SIGINT']
    // Once: a second signal ends the process at once.
    for (const signal of signals) process.once(signal, asked)
    try {
      const polling = this.#pollUntilStopped()
      await aborted(this.#stop.signal)
      for (const signal of signals) process.removeListener(signal, asked)
      const abandoned = await this.#drain(polling)
      // Their timers and sockets would keep the process alive.
      if (isSignalled && abandoned > 0) process.exit(0)
    } finally {
      for (const signal of signals) process.removeListener(signal, asked)
    }
  }

  async #drain(polling) {
    const grace = pause(this.#graceMs)
    // Tasks that the last request brings are leased, so they are done as well.
    const finished = (async () => {
      await polling
      while (this.#running.size > 0) await this.#change()
    })()
    await Promise.race([grace.over, finished])
    grace.end()
    const left = [...this.#running.values()]
    this.#isOver.abort()
    await Promise.all(left.map(async (context) => {
      context.lose()
      this.#log.warn(`the worker stops before ${context.taskId} is done: another attempt follows`)
      const body = failure('WorkerStopped', 'the worker was stopped before the task was done')
      try {
        await this.client.tell(context.taskId, 'fail', body)
      } catch (error) {
        this.#log.warn(`the server could not be told about ${context.taskId}: ${error.message}`)
      }
    }))
    return left.length
  }

  // Until something has changed.
  #change() {
    return new Promise((resolve) => {
      const before = this.#changed
      this.#changed = () => {
        before()
        resolve()
      }
    })
  }

  #hasChanged() {
    const told = this.#changed
    this.#changed = () => {}
    told()
  }

  async #pollUntilStopped() {
    const pauses = new Pauses(200, 10_000)
    const types = [...this.#handlers.keys()].sort()
    while (!this.#stop.signal.aborted) {
      const room = Math.min(this.#concurrency - this.#running.size, POLL_MAX)
      if (room <= 0) {
        await this.#change()
        continue
      }
      try {
        const request = { queue: this.queue, types, max: room, waitMs: this.#waitMs, workerId: this.workerId }
        const tasks = await this.client.poll(request)
        pauses.reset()
        for (const task of tasks) void this.#work(task)
      } catch (error) {
        this.#log.warn(`no tasks: ${error.message}`)
        await pause(pauses.next(error), this.#stop.signal).over
      }
    }
  }

  async #work(task) {
    const context = new Context(task, (of, details) => this.#beat(of, details))
    this.#running.set(context.taskId, context)
    if (this.#stop.signal.aborted) context.stop()
    const beats = context.heartbeatMs && setInterval(() => {
      if (context.signal.aborted) clearInterval(beats)
      else void this.#beat(context)
    }, context.heartbeatMs / 3)
    try {
      const answer = await answerOf(this.#handlers.get(context.type), task, context)
      if (answer !== LATER && !context.signal.aborted) await this.#tell(context, answer)
    } catch (error) {
      if (error instanceof TaskLost) this.#log.info(error.message)
      else this.#log.error(`the task ${context.taskId} has no answer:`, error)
    } finally {
      clearInterval(beats)
      this.#running.delete(context.taskId)
      this.#hasChanged()
    }
  }

  // Sends the answer until the server has heard it. The same answer twice is a no-op there.
  async #tell(context, answer) {
    const pauses = new Pauses(100, 5_000)
    while (!this.#isOver.signal.aborted && !context.signal.aborted) {
      const verb = 'error' in answer ? 'fail' : 'complete'
      try {
        await this.client.tell(context.taskId, verb, answer)
        return
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error
        if (error.isGone) {
          this.#log.info(`the answer for ${context.taskId} does not count: ${error.message}`)
          return
        }
        if (error.isRetryable) {
          this.#log.warn(`the answer for ${context.taskId} is sent again: ${error.message}`)
          await pause(pauses.next(error), this.#isOver.signal).over
        } else if (verb === 'fail') {
          this.#log.error(`the answer for ${context.taskId} is rejected: ${error.message}`)
          return
        } else {
          // Such as outputs that are too large for the server.
          answer = failure('AnswerRejected', error.message, false)
        }
      }
    }
  }

  async #beat(context, details = null) {
    try {
      await this.client.tell(context.taskId, 'heartbeat', { details })
    } catch (error) {
      if (error.isGone) context.lose()
      else this.#log.warn(`no heartbeat for ${context.taskId}: ${error.message}`)
    }
  }
}

// Pauses that double up to a bound, with jitter. A server that names a time is waited for.
class Pauses {
  constructor(firstMs, mostMs) {
    this.firstMs = firstMs
    this.mostMs = mostMs
    this.nextMs = firstMs
  }

  next(error) {
    const pauseMs = this.nextMs * (0.5 + Math.random() / 2)
    this.nextMs = Math.min(this.nextMs * 2, this.mostMs)
    return Math.max(pauseMs, Math.min(error?.retryAfterMs ?? 0, 60_000))
  }

  reset() {
    this.nextMs = this.firstMs
  }
}

function aborted(signal) {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

// A pause that a signal ends.
function pause(ms, signal) {
  let end = () => {}
  const over = new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
    end = done
  })
  return { over, end }
}
