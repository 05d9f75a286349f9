"""AWS Lambda: one function for many activity types, invoked by a `lambda` handler or by its function URL (`http`)."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any, Callable, Optional

from .task import LATER, failure
from .webhook import answer_webhook

if TYPE_CHECKING:
    from .worker import Worker


def lambda_handler(worker: Worker, secret: Optional[str] = None) -> Callable[[Any, Any], Any]:
    """The function for Lambda's setting "Handler".

    Requests through a function URL are verified with `secret` [default: `DORMOUSE_WEBHOOK_SECRET`]. Heartbeats need
    `DORMOUSE_URL` and `DORMOUSE_API_KEY`.
    """

    def handle(event: Any, _context: Any = None) -> Any:
        if isinstance(event, dict) and "requestContext" in event:
            return _over_http(worker, event, secret or os.environ.get("DORMOUSE_WEBHOOK_SECRET"))
        if not isinstance(event, dict) or not isinstance(event.get("taskId"), str) or not isinstance(event.get("type"), str):
            return failure("InvalidTask", "the event is no task of Dormouse", retryable=False)
        answer = worker.answer(event)
        return "later" if answer is LATER else answer

    return handle


def _over_http(worker: Worker, event: dict, secret: Optional[str]) -> dict:
    if not secret:
        return {"statusCode": 500, "body": "set DORMOUSE_WEBHOOK_SECRET"}
    body = event.get("body") or ""
    raw = base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()
    status, answer = answer_webhook(worker, event.get("headers") or {}, raw, secret)
    return {"statusCode": status, "headers": {"content-type": "application/json"}, "body": answer.decode()}
