// What needs no server: `node --test tests/`.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  ActivityError, Client, InvalidSignature, LATER, Outcome, RequestFailed, Worker, answerWebhook, lambdaHandler, sign, verify,
} from '../src/index.js'
import { run } from '../src/testing.js'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

function example() {
  const worker = new Worker('payments')
  worker.activity('Acme.Charge', async ({ amount, card }) => {
    if (card === 'none') throw new ActivityError('InvalidCard', 'digits, please', { retryable: false })
    return amount > 1000 ? new Outcome('Declined') : { charged: amount }
  })
  worker.activity('Acme.Pages', async (_input, ctx) => {
    for (let page = ctx.heartbeatDetails ?? 0; page < 3; page += 1) await ctx.heartbeat(page + 1)
    return { key: ctx.idempotencyKey }
  })
  worker.activity('Acme.Later', () => LATER)
  const values = { list: [1], text: 'text', number: 3, big: { x: 1n }, nothing: undefined }
  worker.activity('Acme.Odd', ({ value }) => values[value])
  return worker
}

const task = (type, input = {}) => ({ taskId: 't', type, attempt: 1, input, workflow: {} })

test('a handler runs without a server', async () => {
  const worker = example()
  assert.deepEqual((await run(worker, 'Acme.Charge', { amount: 5, card: '42' })).outputs, { charged: 5 })
  assert.equal((await run(worker, 'Acme.Charge', { amount: 5000, card: '42' })).outcome, 'Declined')
  const { error } = await run(worker, 'Acme.Charge', { card: 'none' })
  assert.deepEqual([error.type, error.retryable], ['InvalidCard', false])
  assert.equal((await run(worker, 'Acme.Later')).isLater, true)
  assert.deepEqual((await run(worker, 'Acme.Odd', { value: 'nothing' })).outputs, {})
})

test('heartbeats are told and a lost task ends its handler', async () => {
  const worker = example()
  assert.deepEqual((await run(worker, 'Acme.Pages')).heartbeats, [1, 2, 3])
  assert.deepEqual((await run(worker, 'Acme.Pages', {}, { heartbeatDetails: 2 })).heartbeats, [3])
  const lost = await run(worker, 'Acme.Pages', {}, { lostAfter: 1 })
  assert.deepEqual([lost.isLost, lost.heartbeats], [true, [1]])
})

test('nonsense is a final error that says so', async () => {
  for (const value of ['list', 'text', 'number', 'big']) {
    const { error } = await run(example(), 'Acme.Odd', { value })
    assert.deepEqual([error.type, error.retryable], ['InvalidAnswer', false], value)
  }
})

test('a type has one handler, and bad settings are refused', () => {
  assert.throws(() => example().activity('Acme.Odd', () => ({})), /already/)
  assert.throws(() => new Worker('q', { concurrency: 0 }), RangeError)
  assert.throws(() => new Client({ url: 'ftp://nowhere' }), TypeError)
})

test('only answers of the server say that a task is gone', () => {
  assert.equal(new RequestFailed(409, 'bookmarkGone', '').isGone, true)
  assert.equal(new RequestFailed(409, 'bookmarkNotYetOpen', '').isRetryable, true)
  const wrongAddress = new RequestFailed(404, 'noSuchRoute', '')
  assert.equal(wrongAddress.isGone || wrongAddress.isRetryable, false)
})

test("the specification's own example verifies", () => {
  const [body, at] = ['{"test": 2432232314}', 1614265330]
  const headers = {
    'Webhook-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'Webhook-Timestamp': String(at),
    'Webhook-Signature': 'v1a,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  verify(headers, body, ['whsec_AAAA', SECRET], at)
  verify(new Headers(headers), Buffer.from(body), SECRET, at)
  assert.throws(() => verify(headers, '{}', SECRET, at), InvalidSignature)
  assert.throws(() => verify(headers, body, SECRET, at + 301), InvalidSignature)
  assert.throws(() => verify({ ...headers, 'Webhook-Signature': 'v1,é' }, body, SECRET, at), InvalidSignature)
  assert.throws(() => verify({}, body, SECRET, at), InvalidSignature)
  assert.throws(() => sign('not base64!', 'm', 1, ''), TypeError)
})

function signed(body, secret = SECRET) {
  const now = Math.floor(Date.now() / 1000)
  return { 'webhook-id': 't', 'webhook-timestamp': String(now), 'webhook-signature': sign(secret, 't', now, body) }
}

test('a signed task is done and answered', async () => {
  const ask = (body, secret) => answerWebhook(example(), signed(body, secret), body, SECRET)
  const done = await ask(JSON.stringify(task('Acme.Charge', { amount: 1 })))
  assert.deepEqual([done.status, JSON.parse(done.body)], [200, { outputs: { charged: 1 } }])
  assert.deepEqual(await ask(JSON.stringify(task('Acme.Later'))), { status: 202, body: '' })
  assert.equal((await ask('[]')).status, 400)
  assert.equal((await ask('{}', 'whsec_AAAA')).status, 401)
})

test('one Lambda function does many types', async () => {
  const handle = lambdaHandler(example(), { secret: SECRET })
  assert.deepEqual(await handle(task('Acme.Charge', { amount: 1 })), { outputs: { charged: 1 } })
  assert.equal(await handle(task('Acme.Later')), 'later')
  assert.equal((await handle(task('Acme.None'))).error.type, 'UnknownActivity')
  assert.equal((await handle({ Records: [] })).error.type, 'InvalidTask')
  const body = JSON.stringify(task('Acme.Charge', { amount: 1 }))
  const event = { requestContext: {}, isBase64Encoded: true, body: Buffer.from(body).toString('base64'), headers: signed(body) }
  assert.equal((await handle(event)).statusCode, 200)
  event.headers['webhook-id'] = 'u'
  assert.equal((await handle(event)).statusCode, 401)
})
