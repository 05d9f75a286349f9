"""A task as its handler sees it, and what a handler can answer."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import logging
import typing
from datetime import datetime
from threading import Event
from typing import Any, Callable, Dict, Optional

log = logging.getLogger("dormouse")


class _Later:
    """Says that the answer comes later, by `Client.tell` or the REST API."""

    def __repr__(self) -> str:
        return "LATER"


LATER = _Later()


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A named outcome with its outputs: `return Outcome("Declined", {"reason": "…"})`."""

    name: str
    outputs: Any = None


class ActivityError(Exception):
    """Fails the attempt. `type` is a stable name; with `retryable=False` no attempt follows."""

    def __init__(self, type: str, message: str = "", retryable: bool = True) -> None:
        super().__init__(message or type)
        self.type = type
        self.message = message or type
        self.retryable = retryable


class TaskLost(Exception):
    """The task is not this worker's any more: cancelled, timed out, or leased to another worker. Stop working on it."""


@dataclasses.dataclass(frozen=True)
class Workflow:
    """The workflow instance that the task belongs to."""

    definition_id: str
    instance_id: str
    correlation_id: Optional[str]
    tenant_id: Optional[str]


class Context:
    """The facts of a task beside its input, and its heartbeat."""

    def __init__(self, task: dict, beat: Optional[Callable[[str, Any], None]] = None) -> None:
        workflow = task.get("workflow") or {}
        deadline = task.get("deadline")
        self.task = task
        self.task_id: str = task["taskId"]
        self.type: str = task["type"]
        self.version: int = task.get("version") or 1
        self.attempt: int = task.get("attempt") or 1
        #: The same for every attempt: pass it to services that deduplicate.
        self.idempotency_key: str = task.get("idempotencyKey") or self.task_id
        self.deadline: Optional[datetime] = _time(deadline) if deadline else None
        #: What the last heartbeat of an earlier attempt told, or `None`.
        self.heartbeat_details: Any = task.get("heartbeatDetails")
        self.heartbeat_ms: Optional[int] = task.get("heartbeatMs")
        self.workflow = Workflow(
            workflow.get("definitionId") or "", workflow.get("instanceId") or "",
            workflow.get("correlationId"), workflow.get("tenantId"),
        )
        self._beat = beat
        self._lost = Event()
        self._stopping = Event()

    def heartbeat(self, details: Any = None) -> None:
        """Extends the lease and stores `details` for the next attempt; `None` leaves the earlier details.

        Raises `TaskLost` if the task is not this worker's any more. A server that cannot be reached is no error.
        """
        if self._beat is not None and not self._lost.is_set():
            self._beat(self.task_id, details)
        if self._lost.is_set():
            raise TaskLost(f"the task {self.task_id} is not this worker's any more")

    @property
    def is_lost(self) -> bool:
        """Whether the task is not this worker's any more. The worker's own heartbeats find out."""
        return self._lost.is_set()

    @property
    def is_stopping(self) -> bool:
        """Whether the worker was asked to stop. The handler has the grace time to finish."""
        return self._stopping.is_set()


def _time(text: str) -> Optional[datetime]:
    head, _, fraction = text.rstrip("Z").partition(".")
    try:
        return datetime.fromisoformat(f"{head}.{(fraction + '000000')[:6]}+00:00")
    except ValueError:
        return None


class Handler:
    """A function that does the tasks of one activity type."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._takes_context = _positional(function) != 1
        try:
            hints = typing.get_type_hints(function)
        except Exception:  # An annotation that cannot be resolved is no reason not to work.
            hints = {}
        names = list(inspect.signature(function).parameters)
        hint = hints.get(names[0]) if names else None
        self._input = hint if dataclasses.is_dataclass(hint) else None

    def answer(self, task: dict, context: Context) -> Any:
        """Does a task: the body of its answer (`{outputs, outcome}` or `{error}`), or `LATER`.

        Raises `TaskLost` if the handler has seen that the task is lost.
        """
        try:
            arguments = [self._read(task.get("input") or {})]
            if self._takes_context:
                arguments.append(context)
            result = self._function(*arguments)
            if inspect.isawaitable(result):
                result = asyncio.run(_awaited(result))
            return LATER if result is LATER else _body(result)
        except TaskLost:
            raise
        except ActivityError as error:
            return failure(error.type, error.message, error.retryable)
        except Exception as error:  # Whatever goes wrong is told; the type's `retry` decides what follows.
            log.exception("the handler of %s failed", context.type)
            return failure(type(error).__name__, str(error))

    def _read(self, given: Dict[str, Any]) -> Any:
        if self._input is None:
            return given
        fields = [field for field in dataclasses.fields(self._input) if field.init]
        missing = [
            field.name for field in fields
            if field.name not in given
            and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        if missing:
            message = f"the handler's {self._input.__name__} needs {', '.join(missing)}, which the activity type does not declare"
            raise ActivityError("InvalidInput", message, retryable=False)
        return self._input(**{field.name: given[field.name] for field in fields if field.name in given})


def _positional(function: Callable[..., Any]) -> int:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in kinds for parameter in inspect.signature(function).parameters.values())


async def _awaited(result: Any) -> Any:
    return await result


def failure(type: str, message: str, retryable: bool = True) -> dict:
    """The answer of an attempt that failed."""
    return {"error": {"type": type, "message": message, "retryable": retryable}}


def _body(result: Any) -> dict:
    outcome, outputs = None, result
    if isinstance(result, Outcome):
        outcome, outputs = result.name, result.outputs
    if dataclasses.is_dataclass(outputs) and not isinstance(outputs, type):
        outputs = dataclasses.asdict(outputs)
    if outputs is not None and not isinstance(outputs, dict):
        message = f"a handler returns its outputs as a dict or a dataclass, and not as {type(outputs).__name__}"
        return failure("InvalidAnswer", message, retryable=False)
    body: Dict[str, Any] = {"outputs": outputs or {}}
    if outcome is not None:
        body["outcome"] = outcome
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        return failure("InvalidAnswer", f"the outputs cannot be written as JSON: {error}", retryable=False)
    return body
