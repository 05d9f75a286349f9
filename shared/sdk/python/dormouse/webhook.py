"""Handlers of the kind `http`: requests signed as Standard Webhooks has it, verified and answered."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, Iterable, List, Mapping, Optional, Tuple, Union

from .task import LATER

if TYPE_CHECKING:
    from .worker import Worker

#: By how much the time of a message may differ from ours, in seconds.
TOLERANCE_S = 300


class InvalidSignature(Exception):
    """The request was not signed with one of the secrets, or not within five minutes."""


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("a webhook secret is base64, usually after `whsec_`")
    return key


def sign(secret: str, message_id: str, timestamp_s: int, body: bytes) -> str:
    """The value of `webhook-signature`."""
    content = b".".join([message_id.encode(), str(timestamp_s).encode(), body])
    return "v1," + base64.b64encode(hmac.new(_key(secret), content, hashlib.sha256).digest()).decode()


def verify(
    headers: Mapping[str, str], body: bytes, secrets: Union[str, Iterable[str]], now_s: Optional[float] = None
) -> None:
    """Checks a request by its raw body. Several secrets count while one replaces another.

    Raises `InvalidSignature`.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        raise InvalidSignature("the request has no `webhook-timestamp`")
    if abs(int(timestamp) - (time.time() if now_s is None else now_s)) > TOLERANCE_S:
        raise InvalidSignature(f"its time is not within {TOLERANCE_S} seconds of ours")
    all_secrets: List[str] = [secrets] if isinstance(secrets, str) else list(secrets)
    expected = [sign(secret, message_id, int(timestamp), body).encode() for secret in all_secrets]
    for mark in given.get("webhook-signature", "").split(" ")[:10]:
        if any(hmac.compare_digest(mark.encode(), right) for right in expected):
            return
    raise InvalidSignature("its signature is wrong")


def answer_webhook(
    worker: Worker, headers: Mapping[str, str], body: bytes, secrets: Union[str, Iterable[str]]
) -> Tuple[int, bytes]:
    """Verifies a request, does its task, and returns status and body of the response (JSON)."""
    try:
        verify(headers, body, secrets)
    except InvalidSignature as error:
        return 401, json.dumps({"detail": str(error)}).encode()
    try:
        task = json.loads(body)
        if not isinstance(task, dict) or not isinstance(task.get("taskId"), str) or not isinstance(task.get("type"), str):
            raise ValueError("it is no task")
    except ValueError as error:
        return 400, json.dumps({"detail": f"the body cannot be read: {error}"}).encode()
    answer = worker.answer(task)
    if answer is LATER:
        return 202, b""
    return 200, json.dumps(answer).encode()
