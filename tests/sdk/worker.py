"""The worker of the tier `sdk` in Python. worker.mjs and worker.rs do the same; each line on stdout is what a test waits for."""

import logging
import os
import sys
import time
from dataclasses import dataclass

from dormouse import ActivityError, Context, Outcome, RequestFailed, Worker

logging.basicConfig(level=logging.INFO, stream=sys.stderr)
worker = Worker("sdk", concurrency=8, wait_s=1, grace_s=float(os.environ["GRACE_MS"]) / 1000)


def say(*words):
    print(*words, flush=True)


@dataclass
class Number:
    n: int


@worker.activity("Acme.Answer")
def answer(input: Number, ctx: Context):
    if input.n == 1000 and ctx.attempt == 1:
        raise ActivityError("Busy", "try again")
    if input.n == 2000:
        raise ActivityError("Broken", "for good", retryable=False)
    if input.n == 3000:
        return {"surprise": 1}
    if input.n == 4000:
        return [input.n]
    if input.n < 0:
        return Outcome("Negative", {"result": {"n": input.n}})
    return {"result": {"n": input.n, "attempt": ctx.attempt, "tenant": ctx.workflow.tenant_id}}


@worker.activity("Acme.Quiet")
def quiet(input: Number, ctx: Context):
    say("begin", ctx.workflow.instance_id)
    until = time.monotonic() + input.n / 1000
    while time.monotonic() < until:
        if ctx.is_lost:
            say("lost", ctx.workflow.instance_id)
            return None
        time.sleep(0.02)
    return {"result": {"n": input.n}}


@worker.activity("Acme.Pages")
async def pages(input: Number, ctx: Context):
    first = (ctx.heartbeat_details or {}).get("page", 0)
    for page in range(first, input.n):
        ctx.heartbeat({"page": page})
        say("page", page, ctx.workflow.instance_id)
        # The first worker hangs here until it is killed.
        while page == 2 and first == 0:
            time.sleep(0.02)
    return {"result": {"first": first}}


@worker.activity("Acme.Twice")
def twice(input: Number, ctx: Context):
    body = {"outputs": {"result": {"n": input.n}}}
    worker.client.tell(ctx.task_id, "complete", body)
    try:
        worker.client.tell(ctx.task_id, "complete", body)
        say("counted twice")
    except RequestFailed as error:
        say("gone", error.is_gone, ctx.workflow.instance_id)
    return body["outputs"]


@worker.activity("Acme.Count")
def count(input: Number):
    return {"result": {"n": input.n}}


say("ready")
worker.run()
say("stopped")
