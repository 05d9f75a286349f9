"""Runs a handler without a server."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from .task import LATER, Context, TaskLost

if TYPE_CHECKING:
    from .worker import Worker


@dataclasses.dataclass
class Result:
    """What a handler did."""

    outcome: Optional[str] = None
    outputs: Dict[str, Any] = dataclasses.field(default_factory=dict)
    error: Optional[Dict[str, Any]] = None
    is_later: bool = False
    is_lost: bool = False
    heartbeats: List[Any] = dataclasses.field(default_factory=list)


def run(
    worker: Worker,
    type: str,
    input: Optional[Dict[str, Any]] = None,
    *,
    attempt: int = 1,
    heartbeat_details: Any = None,
    lost_after: Optional[int] = None,
) -> Result:
    """Runs the handler of a type. `lost_after` lets the task be lost with the heartbeat after so many."""
    result = Result()
    task = {
        "taskId": "test", "type": type, "version": 1, "attempt": attempt, "input": input or {}, "deadline": None,
        "heartbeatMs": None, "heartbeatDetails": heartbeat_details, "idempotencyKey": "test",
        "workflow": {"definitionId": "test", "instanceId": "test", "correlationId": None, "tenantId": "default"},
    }

    def beat(_task_id: str, details: Any) -> None:
        if lost_after is not None and len(result.heartbeats) >= lost_after:
            context._lost.set()
        else:
            result.heartbeats.append(details)

    context = Context(task, beat)
    try:
        answer = worker.handler(type).answer(task, context)
    except TaskLost:
        result.is_lost = True
        return result
    if answer is LATER:
        result.is_later = True
    else:
        result.error = answer.get("error")
        result.outcome = answer.get("outcome")
        result.outputs = answer.get("outputs") or {}
    return result
