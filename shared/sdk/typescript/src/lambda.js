// AWS Lambda: one function for many activity types, invoked by a `lambda` handler or by its function URL (`http`).

import { LATER, failure, isTask } from './task.js'
import { answerWebhook } from './webhook.js'

export function lambdaHandler(worker, { secret } = {}) {
  return async (event) => {
    if (event !== null && typeof event === 'object' && 'requestContext' in event) {
      return overHttp(worker, event, secret ?? process.env.DORMOUSE_WEBHOOK_SECRET)
    }
    if (!isTask(event)) return failure('InvalidTask', 'the event is no task of Dormouse', false)
    const answer = await worker.answer(event)
    return answer === LATER ? 'later' : answer
  }
}

async function overHttp(worker, event, secret) {
  if (!secret) return { statusCode: 500, body: 'set DORMOUSE_WEBHOOK_SECRET' }
  const raw = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  const { status, body } = await answerWebhook(worker, event.headers ?? {}, raw, secret)
  return { statusCode: status, headers: { 'content-type': 'application/json' }, body }
}
