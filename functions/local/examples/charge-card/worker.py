#!/usr/bin/env python3
"""A worker for the activity Acme.ChargeCard, with nothing but Python.

DORMOUSE_URL and DORMOUSE_API_KEY say which server, as for the command `dormouse`. Without a key it takes the one in the data
folder of a local server (DORMOUSE_DATA, else ./dormouse-data). With a number as its argument it stops after so many tasks.
"""

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request

URL = (os.environ.get("DORMOUSE_URL") or "http://127.0.0.1:7070").rstrip("/") + "/elsa/api"


def local_key():
    """The key that a local server keeps in its data folder."""
    try:
        with open(os.path.join(os.environ.get("DORMOUSE_DATA") or "dormouse-data", "cli-key"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return None


KEY = os.environ.get("DORMOUSE_API_KEY") or local_key()


def ask(path, body):
    """Posts JSON: the status, and what was answered."""
    headers = {"Content-Type": "application/json"}
    if KEY:
        headers["Authorization"] = f"ApiKey {KEY}"
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def tell(task, verb, body):
    """Tells about a task until it is known that the server has heard it, or that it is not ours any more."""
    while True:
        try:
            status, answer = ask(f"/tasks/{task['taskId']}/{verb}", body)
        except OSError:
            status, answer = 503, {}
        if status < 500 and status != 429:
            if status >= 400:
                print(f"not counted: {answer.get('detail')}", file=sys.stderr)
            return status < 400
        time.sleep(1)


def charge(task):
    """The work itself. Whoever charges twice under one idempotency key charges once."""
    amount, card = task["input"]["amount"], task["input"]["card"]
    if not card.isdigit():
        return "fail", {"error": {"type": "InvalidCard", "message": "a card's number is made of digits"}}
    if amount > 1000:
        return "complete", {"outcome": "Declined"}
    receipt = {"charged": amount, "key": task["idempotencyKey"]}
    return "complete", {"outcome": "Done", "outputs": {"receipt": receipt}}


def work(task):
    """Does a task, and says every few seconds that it is still at it."""
    done = threading.Event()

    def beat():
        while not done.wait(3):
            tell(task, "heartbeat", {})

    threading.Thread(target=beat, daemon=True).start()
    try:
        verb, body = charge(task)
    except Exception as error:  # Whatever goes wrong in there is told, and tried again by the type's rules.
        verb, body = "fail", {"error": {"type": type(error).__name__, "message": str(error)}}
    finally:
        done.set()
    tell(task, verb, body)


def main():
    left = int(sys.argv[1]) if len(sys.argv) > 1 else None
    request = {"queue": "payments", "types": ["Acme.ChargeCard"], "max": 1, "waitMs": 20000, "workerId": f"python-{os.getpid()}"}
    while left is None or left > 0:
        try:
            status, answer = ask("/tasks/poll", request)
        except OSError as error:
            status, answer = 503, {"detail": str(error)}
        if status != 200:
            print(f"no tasks: {answer.get('detail')}", file=sys.stderr)
            time.sleep(2)
            continue
        for task in answer["tasks"]:
            work(task)
            left = left - 1 if left is not None else None


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
