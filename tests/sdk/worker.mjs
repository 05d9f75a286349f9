// The worker of the tier `sdk` in JavaScript: does what worker.py does.

import { setTimeout as sleep } from 'node:timers/promises'

import { ActivityError, Outcome, Worker } from '../../shared/sdk/typescript/src/index.js'

const log = { info: console.error, warn: console.error, error: console.error }
const worker = new Worker('sdk', { concurrency: 8, waitMs: 1_000, graceMs: Number(process.env.GRACE_MS), log })
const say = (...words) => console.log(...words)

worker.activity('Acme.Answer', async ({ n }, ctx) => {
  if (n === 1000 && ctx.attempt === 1) throw new ActivityError('Busy', 'try again')
  if (n === 2000) throw new ActivityError('Broken', 'for good', { retryable: false })
  if (n === 3000) return { surprise: 1 }
  if (n === 4000) return [n]
  if (n < 0) return new Outcome('Negative', { result: { n } })
  return { result: { n, attempt: ctx.attempt, tenant: ctx.workflow.tenantId } }
})

worker.activity('Acme.Quiet', async ({ n }, ctx) => {
  say('begin', ctx.workflow.instanceId)
  try {
    await sleep(n, undefined, { signal: ctx.signal })
  } catch (error) {
    if (ctx.signal.aborted) say('lost', ctx.workflow.instanceId)
    throw error
  }
  return { result: { n } }
})

worker.activity('Acme.Pages', async ({ n }, ctx) => {
  const first = ctx.heartbeatDetails?.page ?? 0
  for (let page = first; page < n; page += 1) {
    await ctx.heartbeat({ page })
    say('page', page, ctx.workflow.instanceId)
    // The first worker hangs here until it is killed.
    while (page === 2 && first === 0) await sleep(20)
  }
  return { result: { first } }
})

worker.activity('Acme.Twice', async ({ n }, ctx) => {
  const body = { outputs: { result: { n } } }
  await worker.client.tell(ctx.taskId, 'complete', body)
  try {
    await worker.client.tell(ctx.taskId, 'complete', body)
    say('counted twice')
  } catch (error) {
    say('gone', error.isGone ? 'True' : 'False', ctx.workflow.instanceId)
  }
  return body.outputs
})

worker.activity('Acme.Count', ({ n }) => ({ result: { n } }))

say('ready')
await worker.run()
say('stopped')
