"""Turns that are posted in order for many end users, and the expected state."""

import http.client
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

PATIENCE = 300.0  # seconds until a turn must have been accepted, whatever is being killed
POSTERS = 8
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CITIES = "Lisbon Porto Oslo Bergen Madrid Rome Turin Vienna Graz Dublin".split()
TRADES = ("nurse", "teacher", "baker", "carpenter")
DISHES = ("ramen", "paella", "couscous", "dumplings", "gnocchi")


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of one end user with a key that makes it safe to send again."""

    user: str
    number: int
    content: str

    @property
    def session(self) -> str:
        return f"day {self.number // 10}"

    @property
    def said_at(self) -> datetime:
        return NOON + timedelta(minutes=self.number)

    @property
    def body(self) -> dict[str, Any]:
        said = self.said_at.isoformat()
        turn = {"role": "user", "content": self.content, "turn_id": f"t{self.number}", "occurred_at": said}
        return {"user_id": self.user, "session_id": self.session, "turns": [turn], "mode": "async"}


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to an accepted message."""

    message: Message
    trace_id: str


def conversation(*, user: str, turns: int) -> list[Message]:
    """Return statements of which some contradict, some repeat and some hold no memory."""
    return [Message(user=user, number=number, content=_content(number)) for number in range(turns)]


def _content(number: int) -> str:
    match number % 5:
        case 0:
            return f"I live in {CITIES[number // 5 % len(CITIES)]}."
        case 1:
            return f"I work as a {TRADES[number // 5 % len(TRADES)]}."
        case 2:
            return f"I love {DISHES[number // 5 % len(DISHES)]}."
        case 3:
            return "I am allergic to peanuts."
        case _:
            return "thank you so much"


def post(
    conversations: Sequence[Sequence[Message]], *, port: int, key: str, pause: float = 0.0, second_port: int = 0
) -> list[Receipt]:
    """Post conversations at the same time, each in its order, every message until it is accepted.

    With two servers the messages of a conversation take turns, and one that is refused goes to the other server.
    """
    ports = [port, second_port or port]
    with ThreadPoolExecutor(POSTERS) as pool:
        posted = pool.map(lambda messages: list(_post_all(messages, ports, key, pause)), conversations)
        return [receipt for receipts in posted for receipt in receipts]


def _post_all(messages: Sequence[Message], ports: list[int], key: str, pause: float) -> Iterator[Receipt]:
    for message in messages:
        yield Receipt(message=message, trace_id=_insist(message, ports, key))
        time.sleep(pause)  # so that posting lasts as long as the trouble


def _insist(message: Message, ports: list[int], key: str) -> str:
    deadline = time.monotonic() + PATIENCE
    seen, servers = "", cycle(ports[message.number % 2 :] + ports[: message.number % 2])
    while time.monotonic() < deadline:
        try:
            status, answer = _send(message, next(servers), key)
        except (OSError, http.client.HTTPException, ValueError) as error:
            seen = repr(error)
        else:
            if status == 202:
                return str(answer["trace_id"])
            assert status in (409, 429) or status >= 500, answer
            seen = f"{status} {answer}"
        time.sleep(0.2)  # the server is being restarted
    raise AssertionError(f"{message} was not accepted: {seen}")


def _send(message: Message, port: int, key: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
    try:
        headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Idempotency-Key": f"{message.user} {message.number}",
        }
        connection.request("POST", "/v1/turns", json.dumps(message.body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()
