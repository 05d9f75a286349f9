// What must compile, and what must not: checked by tsc, never run.

import { ActivityError, LATER, Outcome, Worker, lambdaHandler, verify } from '../src/index.js'
import { run } from '../src/testing.js'

interface Charge {
  amount: number
  card: string
}

const worker = new Worker('payments', { concurrency: 16 })

worker.activity('Acme.ChargeCard', async (input: Charge, ctx) => {
  if (input.amount > 1000) return new Outcome('Declined')
  if (ctx.attempt > 3) throw new ActivityError('Busy', 'try later', { retryable: false })
  await ctx.heartbeat({ page: 1 })
  return { receipt: { charged: input.amount.toFixed(2), at: ctx.deadline?.toISOString() } }
})
worker.activity('Acme.Untyped', (input) => ({ twice: input.n * 2 }))
worker.activity('Acme.Later', () => LATER)
// @ts-expect-error outputs have names
worker.activity('Acme.Wrong', () => 3)
// @ts-expect-error the input has no such member
worker.activity('Acme.Wrong', (input: Charge) => ({ x: input.amuont }))

export const handler = lambdaHandler(worker)
export const twice = async (): Promise<number> => (await run(worker, 'Acme.Untyped', { n: 1 })).outputs.twice
verify(new Headers(), 'x', ['whsec_AAAA'])
