// Requests to the server. Nothing here knows what a task means.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const RETRYABLE = new Set([408, 425, 429])
const RETRYABLE_CODES = new Set(['bookmarkNotYetOpen', 'inProgress'])
const GONE_CODES = new Set(['noSuchTask', 'noSuchInstance', 'bookmarkGone', 'instanceEnded', 'instanceDeleted'])

export class RequestFailed extends Error {
  constructor(status, code, message, retryAfterMs) {
    super(message)
    this.name = 'RequestFailed'
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }

  get isRetryable() {
    return this.status === 0 || this.status >= 500 || RETRYABLE.has(this.status) || RETRYABLE_CODES.has(this.code)
  }

  get isGone() {
    return GONE_CODES.has(this.code)
  }
}

// The key that a local server writes into its data folder.
function localKey() {
  try {
    return readFileSync(join(process.env.DORMOUSE_DATA || 'dormouse-data', 'cli-key'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

export class Client {
  #base
  #key

  constructor({ url, apiKey } = {}) {
    const address = new URL(url || process.env.DORMOUSE_URL || 'http://127.0.0.1:7070')
    if (address.protocol !== 'http:' && address.protocol !== 'https:') {
      throw new TypeError("the server's address is an http or https URL, such as http://127.0.0.1:7070")
    }
    this.#base = address.href.replace(/\/+$/, '') + '/elsa/api'
    this.#key = apiKey || process.env.DORMOUSE_API_KEY || localKey()
  }

  async poll({ queue, types, max, waitMs, workerId }) {
    const answer = await this.post('/tasks/poll', { queue, types, max, waitMs, workerId }, waitMs + 30_000)
    return Array.isArray(answer.tasks) ? answer.tasks : []
  }

  tell(taskId, verb, body) {
    return this.post(`/tasks/${encodeURIComponent(taskId)}/${verb}`, body)
  }

  async post(path, body, timeoutMs = 30_000) {
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    if (this.#key) headers.authorization = `ApiKey ${this.#key}`
    let response
    let text
    try {
      response = await fetch(this.#base + path, {
        method: 'POST', headers, body: JSON.stringify(body), redirect: 'error', signal: AbortSignal.timeout(timeoutMs),
      })
      text = await response.text()
    } catch (error) {
      const cause = error?.cause?.code ?? error?.name ?? 'unknown'
      throw new RequestFailed(0, 'unreachable', `no answer from the server: ${cause}`)
    }
    const answer = parsed(text)
    if (response.ok) return answer
    const seconds = Number.parseFloat(response.headers.get('retry-after') ?? '')
    const message = answer.detail ?? answer.title ?? `the server answered ${response.status}`
    throw new RequestFailed(
      response.status, String(answer.code ?? ''), String(message), Number.isFinite(seconds) ? seconds * 1000 : undefined,
    )
  }
}

function parsed(text) {
  try {
    const value = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}
