"""What needs no server: `PYTHONPATH=. python3 -m unittest discover -s tests`."""

import base64
import json
import logging
import time
import unittest
from dataclasses import dataclass

from dormouse import LATER, ActivityError, Client, Context, InvalidSignature, Outcome, Worker
from dormouse import answer_webhook, lambda_handler, sign, verify
from dormouse.client import RequestFailed
from dormouse.testing import run

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
logging.getLogger("dormouse").setLevel(logging.CRITICAL)


@dataclass
class Charge:
    amount: float
    card: str
    note: str = "none"


@dataclass
class Receipt:
    charged: float


def example():
    worker = Worker("payments")

    @worker.activity("Acme.Charge")
    def charge(input: Charge, ctx: Context):
        if input.card == "none":
            raise ActivityError("InvalidCard", "digits, please", retryable=False)
        if input.amount > 1000:
            return Outcome("Declined")
        return Receipt(input.amount)

    @worker.activity("Acme.Pages")
    async def pages(input, ctx: Context):
        for page in range(ctx.heartbeat_details or 0, 3):
            ctx.heartbeat(page + 1)
        return {"key": ctx.idempotency_key}

    @worker.activity("Acme.Later")
    def later(input):
        return LATER

    @worker.activity("Acme.Odd")
    def odd(input):
        return input["value"] if input["value"] != "nan" else {"x": float("nan")}

    return worker


def task(type, input=None):
    return {"taskId": "t", "type": type, "attempt": 1, "input": input or {}, "deadline": "2026-11-23T08:00:00.5Z", "workflow": {}}


class Handlers(unittest.TestCase):
    def test_a_handler_runs_without_a_server(self):
        worker = example()
        self.assertEqual(run(worker, "Acme.Charge", {"amount": 5, "card": "42", "more": 1}).outputs, {"charged": 5})
        self.assertEqual(run(worker, "Acme.Charge", {"amount": 5000, "card": "42"}).outcome, "Declined")
        error = run(worker, "Acme.Charge", {"amount": 5, "card": "none"}).error
        self.assertEqual((error["type"], error["retryable"]), ("InvalidCard", False))
        missing = run(worker, "Acme.Charge", {"amount": 5}).error
        self.assertEqual((missing["type"], missing["retryable"]), ("InvalidInput", False))
        self.assertIn("card", missing["message"])
        self.assertTrue(run(worker, "Acme.Later").is_later)
        self.assertEqual(run(worker, "Acme.Odd").error["type"], "KeyError")

    def test_heartbeats_are_told_and_a_lost_task_ends_its_handler(self):
        worker = example()
        self.assertEqual(run(worker, "Acme.Pages").heartbeats, [1, 2, 3])
        self.assertEqual(run(worker, "Acme.Pages", heartbeat_details=2).heartbeats, [3])
        lost = run(worker, "Acme.Pages", lost_after=1)
        self.assertEqual((lost.is_lost, lost.heartbeats), (True, [1]))

    def test_nonsense_is_a_final_error_that_says_so(self):
        for value in ([1], "text", 3, "nan"):
            error = run(example(), "Acme.Odd", {"value": value}).error
            self.assertEqual((error["type"], error["retryable"]), ("InvalidAnswer", False), value)

    def test_a_type_has_one_handler(self):
        worker = example()
        with self.assertRaises(ValueError):
            worker.activity("Acme.Odd")(lambda input: None)

    def test_the_deadline_is_a_time(self):
        context = Context(task("Acme.Odd"))
        self.assertEqual(context.deadline.isoformat(), "2026-11-23T08:00:00.500000+00:00")

    def test_only_answers_of_the_server_say_that_a_task_is_gone(self):
        self.assertTrue(RequestFailed(409, "bookmarkGone", "").is_gone)
        self.assertTrue(RequestFailed(409, "bookmarkNotYetOpen", "").is_retryable)
        wrong_address = RequestFailed(404, "noSuchRoute", "")
        self.assertFalse(wrong_address.is_gone or wrong_address.is_retryable)
        self.assertTrue(RequestFailed(0, "unreachable", "").is_retryable)
        with self.assertRaises(ValueError):
            Client("ftp://nowhere")


class Webhooks(unittest.TestCase):
    def test_the_specifications_own_example_verifies(self):
        body, at = b'{"test": 2432232314}', 1614265330
        headers = {
            "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp": str(at),
            "Webhook-Signature": "v1a,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        verify(headers, body, ["whsec_AAAA", SECRET], now_s=at)
        for change, content, now in [({}, b"{}", at), ({}, body, at + 301), ({"Webhook-Signature": "v1,é"}, body, at)]:
            with self.assertRaises(InvalidSignature):
                verify({**headers, **change}, content, SECRET, now_s=now)
        with self.assertRaises(InvalidSignature):
            verify({**headers, "Webhook-Timestamp": "\u00b2"}, body, SECRET, now_s=at)

    def test_a_signed_task_is_done_and_answered(self):
        def ask(body, secret=SECRET):
            now = int(time.time())
            headers = {"webhook-id": "t", "webhook-timestamp": str(now), "webhook-signature": sign(secret, "t", now, body)}
            return answer_webhook(example(), headers, body, SECRET)

        status, answer = ask(json.dumps(task("Acme.Charge", {"amount": 1, "card": "42"})).encode())
        self.assertEqual((status, json.loads(answer)), (200, {"outputs": {"charged": 1}}))
        self.assertEqual(ask(json.dumps(task("Acme.Later")).encode()), (202, b""))
        self.assertEqual(ask(b"[]")[0], 400)
        self.assertEqual(ask(b"{}", "whsec_AAAA")[0], 401)


class Lambda(unittest.TestCase):
    def test_one_function_does_many_types(self):
        handle = lambda_handler(example(), SECRET)
        self.assertEqual(handle(task("Acme.Charge", {"amount": 1, "card": "42"}), None), {"outputs": {"charged": 1}})
        self.assertEqual(handle(task("Acme.Later"), None), "later")
        self.assertEqual(handle(task("Acme.None"), None)["error"]["type"], "UnknownActivity")
        self.assertEqual(handle({"Records": []}, None)["error"]["type"], "InvalidTask")

    def test_a_function_url_is_verified(self):
        handle = lambda_handler(example(), SECRET)
        body, now = json.dumps(task("Acme.Charge", {"amount": 1, "card": "42"})).encode(), int(time.time())
        event = {
            "requestContext": {}, "isBase64Encoded": True, "body": base64.b64encode(body).decode(),
            "headers": {"webhook-id": "t", "webhook-timestamp": str(now), "webhook-signature": sign(SECRET, "t", now, body)},
        }
        self.assertEqual(handle(event)["statusCode"], 200)
        event["headers"]["webhook-id"] = "u"
        self.assertEqual(handle(event)["statusCode"], 401)


if __name__ == "__main__":
    unittest.main()
