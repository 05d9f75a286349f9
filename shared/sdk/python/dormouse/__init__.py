"""Activities of Dormouse workflows in Python: workers, signed webhooks and AWS Lambda, without dependencies."""

from .client import Client, RequestFailed
from .task import LATER, ActivityError, Context, Outcome, TaskLost, Workflow
from .webhook import InvalidSignature, answer_webhook, sign, verify
from .worker import Worker
from .aws_lambda import lambda_handler

__all__ = [
    "LATER",
    "ActivityError",
    "Client",
    "Context",
    "InvalidSignature",
    "Outcome",
    "RequestFailed",
    "TaskLost",
    "Worker",
    "Workflow",
    "answer_webhook",
    "lambda_handler",
    "sign",
    "verify",
]
