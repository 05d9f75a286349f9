"""Requests to the server, over connections that stay open. Nothing here knows what a task means."""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import threading
from typing import Any, List, Optional, Tuple
from urllib.parse import quote, urlsplit

_RETRYABLE = (408, 425, 429)
_RETRYABLE_CODES = ("bookmarkNotYetOpen", "inProgress")
_GONE_CODES = ("noSuchTask", "noSuchInstance", "bookmarkGone", "instanceEnded", "instanceDeleted")


class RequestFailed(Exception):
    """A request without a useful answer. `status` is 0 if there was no answer at all."""

    def __init__(self, status: int, code: str, message: str, retry_after: Optional[float] = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status == 0 or self.status >= 500 or self.status in _RETRYABLE or self.code in _RETRYABLE_CODES

    @property
    def is_gone(self) -> bool:
        """Whether the task does not exist any more: answered, taken away, or its instance ended."""
        return self.code in _GONE_CODES


def _local_key() -> Optional[str]:
    """The key that a local server writes into its data folder."""
    try:
        with open(os.path.join(os.environ.get("DORMOUSE_DATA") or "dormouse-data", "cli-key"), encoding="utf-8") as file:
            return file.read().strip() or None
    except OSError:
        return None


class Client:
    """The task routes of a server. Threads may share a client.

    The address is `DORMOUSE_URL` [default: http://127.0.0.1:7070], the key `DORMOUSE_API_KEY`, else the key of the local
    server's data folder (`DORMOUSE_DATA` [default: ./dormouse-data]).
    """

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None) -> None:
        address = urlsplit(url or os.environ.get("DORMOUSE_URL") or "http://127.0.0.1:7070")
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError("the server's address is an http or https URL, such as http://127.0.0.1:7070")
        self._scheme = address.scheme
        self._host = address.hostname
        self._port = address.port
        self._prefix = address.path.rstrip("/") + "/elsa/api"
        self._key = api_key or os.environ.get("DORMOUSE_API_KEY") or _local_key()
        self._idle: List[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def poll(self, queue: str, types: List[str], max: int, wait_ms: int, worker_id: str) -> List[dict]:
        """Leases up to `max` tasks. Waits up to `wait_ms` for the first one."""
        body = {"queue": queue, "types": types, "max": max, "waitMs": wait_ms, "workerId": worker_id}
        return self.post("/tasks/poll", body, timeout=wait_ms / 1000 + 30).get("tasks") or []

    def tell(self, task_id: str, verb: str, body: dict) -> dict:
        """Sends `complete`, `fail` or `heartbeat` for a task, once."""
        return self.post(f"/tasks/{quote(task_id, safe='')}/{verb}", body)

    def post(self, path: str, body: Any, timeout: float = 30) -> dict:
        """Posts JSON and returns the answer.

        Raises `RequestFailed` for every answer but 2xx and for a broken connection.
        """
        data = json.dumps(body, allow_nan=False).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json, application/problem+json"}
        if self._key:
            headers["Authorization"] = f"ApiKey {self._key}"
        try:
            status, retry_after, answer = self._exchange(path, data, headers, timeout)
        except (OSError, http.client.HTTPException) as error:
            raise RequestFailed(0, "unreachable", f"no answer from the server: {error!r}") from error
        try:
            parsed = json.loads(answer) if answer.strip() else {}
        except ValueError:
            parsed = {}
        if not isinstance(parsed, dict):
            parsed = {}
        if 200 <= status < 300:
            return parsed
        message = parsed.get("detail") or parsed.get("title") or f"the server answered {status}"
        raise RequestFailed(status, str(parsed.get("code") or ""), str(message), retry_after)

    def _exchange(self, path: str, data: bytes, headers: dict, timeout: float) -> Tuple[int, Optional[float], bytes]:
        while True:
            connection, is_used = self._connection(timeout)
            try:
                connection.request("POST", self._prefix + path, data, headers)
                response = connection.getresponse()
                answer = response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                # The server may close an idle connection at any time. A fresh one tells whether it is there. Every
                # request here may be repeated; a timeout is not such a case.
                if is_used and not isinstance(error, socket.timeout):
                    continue
                raise
            with self._lock:
                if not response.will_close and len(self._idle) < 64:
                    self._idle.append(connection)
                else:
                    connection.close()
            try:
                retry_after = float(response.headers.get("Retry-After") or "")
            except ValueError:
                retry_after = None
            return response.status, retry_after, answer

    def _connection(self, timeout: float) -> Tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            connection.timeout = timeout
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            return connection, True
        if self._scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=context), False
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout), False
