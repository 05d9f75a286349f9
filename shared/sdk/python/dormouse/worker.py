"""A worker: leases tasks of a queue, runs their handlers beside each other, and answers until the server has heard it."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from typing import Any, Callable, Dict, Optional, TypeVar, Union

from .client import Client, RequestFailed
from .task import LATER, Context, Handler, TaskLost, failure, log

_F = TypeVar("_F", bound=Callable[..., Any])
_POLL_MAX = 50
_TYPES_MAX = 50


class Worker:
    """The handlers of activity types, and the loop that serves them.

    - `concurrency`: handlers that run at a time, in threads [default: 8]
    - `wait_s`: seconds that a request for tasks waits at the server; a stop waits for its end [default: 5, at most 20]
    - `grace_s`: seconds that running handlers have after SIGTERM or SIGINT [default: 30]
    """

    def __init__(
        self,
        queue: str = "default",
        *,
        client: Optional[Client] = None,
        concurrency: int = 8,
        wait_s: float = 5,
        grace_s: float = 30,
        worker_id: Optional[str] = None,
    ) -> None:
        if concurrency < 1 or not 0 <= wait_s <= 20 or grace_s < 0:
            raise ValueError("concurrency is at least 1, wait_s from 0 to 20, grace_s at least 0")
        self.queue = queue
        self.worker_id = worker_id or f"{socket.gethostname()}-{os.getpid()}"[-200:]
        self._client = client
        self._concurrency = concurrency
        self._wait_s = wait_s
        self._grace_s = grace_s
        self._handlers: Dict[str, Handler] = {}
        self._running: Dict[str, Context] = {}
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._is_over = threading.Event()

    def activity(self, type: str) -> Callable[[_F], _F]:
        """Declares the handler of an activity type: `@worker.activity("Acme.ChargeCard")`.

        The function is called with the input (a dict, or the dataclass that its annotation names) and, if it takes a
        second argument, the `Context`. It returns the outputs (a dict or a dataclass), an `Outcome`, or `LATER`.
        """

        def declare(function: _F) -> _F:
            if type in self._handlers:
                raise ValueError(f"{type} has a handler already")
            if len(self._handlers) >= _TYPES_MAX:
                raise ValueError(f"a worker does at most {_TYPES_MAX} activity types")
            self._handlers[type] = Handler(function)
            return function

        return declare

    def handler(self, type: str) -> Handler:
        """The handler of a type. Raises `KeyError` if there is none."""
        return self._handlers[type]

    def answer(self, task: dict) -> Any:
        """Does one task that came by a webhook or a Lambda invocation: the body of the answer, or `LATER`."""
        handler = self._handlers.get(task["type"])
        if handler is None:
            return failure("UnknownActivity", f"there is no handler of {task['type']} here", retryable=False)
        context = Context(task)
        if os.environ.get("DORMOUSE_URL") or self._client is not None:
            context._beat = lambda _id, details: self._beat(context, details)
        try:
            return handler.answer(task, context)
        except TaskLost as lost:
            return failure("TaskLost", str(lost))

    def stop(self) -> None:
        """Asks a running worker to stop, from any thread: no new polls, and running handlers have the grace time."""
        self._stop.set()
        with self._changed:
            for context in self._running.values():
                context._stopping.set()
            self._changed.notify_all()

    def run(self) -> None:
        """Works until SIGTERM or SIGINT (if called from the main thread) or `stop`.

        Handlers that have not finished within the grace time are failed as retryable.
        """
        if not self._handlers:
            raise ValueError("the worker has no handlers")
        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                before[number] = signal.signal(number, lambda *_: threading.Thread(target=self.stop).start())
        poller = threading.Thread(target=self._poll_until_stopped, name="dormouse-poll", daemon=True)
        poller.start()
        try:
            self._stop.wait()
        finally:
            self._stop.set()
            # A second signal ends the process at once.
            for number, handler in before.items():
                signal.signal(number, handler)
        self._drain(poller)

    @property
    def client(self) -> Client:
        """The client of the server."""
        if self._client is None:
            self._client = Client()
        return self._client

    def _drain(self, poller: threading.Thread) -> None:
        until = time.monotonic() + self._grace_s
        # Tasks that the last request brings are leased, so they are done as well.
        poller.join(self._grace_s)
        with self._changed:
            while self._running and time.monotonic() < until:
                self._changed.wait(max(0.0, until - time.monotonic()))
            left = list(self._running.values())
        self._is_over.set()
        for context in left:
            context._lost.set()
            log.warning("the worker stops before %s is done: another attempt follows", context.task_id)
            body = failure("WorkerStopped", "the worker was stopped before the task was done")
            try:
                self.client.tell(context.task_id, "fail", body)
            except RequestFailed as error:
                log.warning("the server could not be told about %s: %s", context.task_id, error)

    def _poll_until_stopped(self) -> None:
        pause = _Pause(0.2, 10)
        types = sorted(self._handlers)
        while not self._stop.is_set():
            with self._changed:
                while len(self._running) >= self._concurrency and not self._stop.is_set():
                    self._changed.wait()
                room = min(self._concurrency - len(self._running), _POLL_MAX)
            if self._stop.is_set():
                return
            try:
                tasks = self.client.poll(self.queue, types, room, int(self._wait_s * 1000), self.worker_id)
            except RequestFailed as error:
                log.warning("no tasks: %s", error)
                self._stop.wait(pause.next(error))
                continue
            pause.reset()
            for task in tasks:
                self._begin(task)

    def _begin(self, task: dict) -> None:
        context = Context(task)
        context._beat = lambda _id, details: self._beat(context, details)
        with self._changed:
            self._running[context.task_id] = context
            if self._stop.is_set():
                context._stopping.set()
        done = threading.Event()
        if context.heartbeat_ms:
            threading.Thread(target=self._keep_alive, args=(context, done), daemon=True).start()
        threading.Thread(target=self._work, args=(task, context, done), daemon=True).start()

    def _work(self, task: dict, context: Context, done: threading.Event) -> None:
        try:
            answer = self._handlers[context.type].answer(task, context)
            if answer is not LATER and not context.is_lost:
                self._tell(context, answer)
        except TaskLost as lost:
            log.info("%s", lost)
        except Exception:
            log.exception("the task %s has no answer", context.task_id)
        finally:
            done.set()
            with self._changed:
                self._running.pop(context.task_id, None)
                self._changed.notify_all()

    def _tell(self, context: Context, answer: dict) -> None:
        """Sends the answer until the server has heard it. The same answer twice is a no-op there."""
        pause = _Pause(0.1, 5)
        while not self._is_over.is_set() and not context.is_lost:
            verb = "fail" if "error" in answer else "complete"
            try:
                self.client.tell(context.task_id, verb, answer)
                return
            except RequestFailed as error:
                if error.is_gone:
                    log.info("the answer for %s does not count: %s", context.task_id, error)
                    return
                if error.is_retryable:
                    log.warning("the answer for %s is sent again: %s", context.task_id, error)
                    self._is_over.wait(pause.next(error))
                elif verb == "fail":
                    log.error("the answer for %s is rejected: %s", context.task_id, error)
                    return
                else:
                    # Such as outputs that are too large for the server.
                    answer = failure("AnswerRejected", str(error), retryable=False)

    def _keep_alive(self, context: Context, done: threading.Event) -> None:
        """Sends a heartbeat at each third of the time that the server allows."""
        while not done.wait((context.heartbeat_ms or 0) / 3000) and not context.is_lost:
            self._beat(context, None)

    def _beat(self, context: Context, details: Any) -> None:
        try:
            self.client.tell(context.task_id, "heartbeat", {"details": details})
        except RequestFailed as error:
            if error.is_gone:
                context._lost.set()
            else:
                log.warning("no heartbeat for %s: %s", context.task_id, error)


class _Pause:
    """Pauses that double up to a bound, with jitter. A server that names a time is waited for."""

    def __init__(self, first_s: float, most_s: float) -> None:
        self._first_s, self._most_s = first_s, most_s
        self._next_s = first_s

    def next(self, error: Union[RequestFailed, None] = None) -> float:
        """Seconds until the next attempt."""
        pause = self._next_s * random.uniform(0.5, 1.0)
        self._next_s = min(self._next_s * 2, self._most_s)
        asked = error.retry_after if error is not None and error.retry_after is not None else 0.0
        return max(pause, min(asked, 60.0))

    def reset(self) -> None:
        """Begins with the shortest pause again."""
        self._next_s = self._first_s
