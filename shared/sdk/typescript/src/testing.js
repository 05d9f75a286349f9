// Runs a handler without a server.

import { Context, LATER, TaskLost, answerOf } from './task.js'

export async function run(worker, type, input = {}, { attempt = 1, heartbeatDetails, lostAfter = Infinity } = {}) {
  const handler = worker.handler(type)
  if (!handler) throw new Error(`there is no handler of ${type}`)
  const heartbeats = []
  const task = {
    taskId: 'test', type, version: 1, attempt, input, heartbeatDetails, idempotencyKey: 'test',
    workflow: { definitionId: 'test', instanceId: 'test', tenantId: 'default' },
  }
  const context = new Context(task, async (of, details) => {
    if (heartbeats.length >= lostAfter) of.lose()
    else heartbeats.push(details)
  })
  const result = { outcome: undefined, outputs: {}, error: undefined, isLater: false, isLost: false, heartbeats }
  try {
    const answer = await answerOf(handler, task, context)
    if (answer === LATER) return { ...result, isLater: true }
    return { ...result, outcome: answer.outcome, outputs: answer.outputs ?? {}, error: answer.error }
  } catch (error) {
    if (error instanceof TaskLost) return { ...result, isLost: true }
    throw error
  }
}
