// Handlers of the kind `http`: requests signed as Standard Webhooks has it, verified and answered.

import { createHmac, timingSafeEqual } from 'node:crypto'

import { LATER, isTask } from './task.js'

export const TOLERANCE_S = 300

export class InvalidSignature extends Error {
  constructor(message) {
    super(message)
    this.name = 'InvalidSignature'
  }
}

function keyOf(secret) {
  const text = secret.startsWith('whsec_') ? secret.slice(6) : secret
  const key = Buffer.from(text, 'base64')
  if (key.length === 0 || key.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, '')) {
    throw new TypeError('a webhook secret is base64, usually after `whsec_`')
  }
  return key
}

export function sign(secret, messageId, timestampS, body) {
  const mac = createHmac('sha256', keyOf(secret)).update(`${messageId}.${timestampS}.`).update(body)
  return `v1,${mac.digest('base64')}`
}

// One value of a header, whatever holds the headers.
function header(headers, name) {
  if (typeof headers.get === 'function') return headers.get(name) ?? ''
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)
  const value = found?.[1] ?? ''
  return Array.isArray(value) ? value.join(' ') : String(value)
}

export function verify(headers, body, secrets, nowS = Date.now() / 1000) {
  const messageId = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new InvalidSignature('the request has no `webhook-timestamp`')
  if (Math.abs(Number(timestamp) - nowS) > TOLERANCE_S) {
    throw new InvalidSignature(`its time is not within ${TOLERANCE_S} seconds of ours`)
  }
  const expected = [secrets].flat().map((secret) => Buffer.from(sign(secret, messageId, timestamp, body)))
  const marks = header(headers, 'webhook-signature').split(' ').slice(0, 10)
  const fits = (mark) => expected.some((right) => right.length === mark.length && timingSafeEqual(right, mark))
  if (!marks.some((mark) => fits(Buffer.from(mark)))) throw new InvalidSignature('its signature is wrong')
}

export async function answerWebhook(worker, headers, body, secrets) {
  try {
    verify(headers, body, secrets)
  } catch (error) {
    if (!(error instanceof InvalidSignature)) throw error
    return { status: 401, body: JSON.stringify({ detail: error.message }) }
  }
  let task
  try {
    task = JSON.parse(Buffer.from(body).toString())
  } catch {
    task = undefined
  }
  if (!isTask(task)) return { status: 400, body: JSON.stringify({ detail: 'the body is no task of Dormouse' }) }
  const answer = await worker.answer(task)
  return answer === LATER ? { status: 202, body: '' } : { status: 200, body: JSON.stringify(answer) }
}
