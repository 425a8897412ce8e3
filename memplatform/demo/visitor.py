"""Let the visitor type sentences into the terminal, show what becomes of each, and name a model on this machine.

The demo's process goes on as this program: waiting for the visitor takes a third of the memory without Django.
"""

import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NoReturn

import httpx2
import psutil

from memplatform import processes
from memplatform.demo.client import Client, DemoFailed
from memplatform.demo.services import SIGNALS, Services, end_services
from memplatform.settings import DATA_DIR

DEMO = "demo"  # the name of the record of its process
USER_ID = "you"
LOOK_SECONDS = 1.0  # between two looks whether the server still runs
_LINE_BYTES = 65_536
_MODELS_TIMEOUT = 0.3  # seconds
# Servers of models: name, address, the path that lists the models, the key of the list and the key of a model's name.
SERVERS = (
    ("Ollama", "http://127.0.0.1:11434", "/api/tags", "models", "name"),
    ("LM Studio", "http://127.0.0.1:1234", "/v1/models", "data", "id"),
)
_MODEL_NAME = re.compile(r"[\w.:/@-]+")


def go_on_as_visitor(services: Services) -> NoReturn:
    """Replace this process by one that only waits for the visitor; the server stays its child."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until they are handled again
    command = [sys.executable, "-m", "memplatform.demo.visitor", services.address, str(services.process.pid)]
    os.execv(sys.executable, command)  # noqa: S606  (there is no shell to pass by)


def main(address: str, pid: int) -> None:
    """Show what becomes of each sentence until a signal asks to stop; then stop the server, the child `pid`."""
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        services = Services(address, psutil.Process(pid))
        client = Client(address, (DATA_DIR / "demo-key").read_text())
        visitor = Visitor(client, input=sys.stdin.fileno() if can_type() else None)
        while True:
            services.check()
            for line in visitor.listen(seconds=LOOK_SECONDS):
                sys.stdout.write(f"{line}\n")
    except KeyboardInterrupt:
        pass
    except (DemoFailed, psutil.NoSuchProcess) as failed:
        sys.exit(str(failed))
    finally:
        end_services(uninterrupted=True)
        processes.forget(DEMO)


def can_type() -> bool:
    """Return True if the demo runs in a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


class Visitor:
    """Reads sentences and posts them as turns of one session; without an input it only waits."""

    def __init__(self, client: Client, input: int | None) -> None:
        self.client = client
        self.input = input  # a file descriptor; None after its end
        self.session_id = f"typed-{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}"

    def listen(self, *, seconds: float) -> Iterator[str]:
        """Wait for a sentence, and yield lines about what became of it."""
        if self.input is None:
            time.sleep(seconds)  # interrupted by signals
            return
        if not select.select([self.input], [], [], seconds)[0]:
            return
        typed = os.read(self.input, _LINE_BYTES)
        if not typed:
            self.input = None
        elif text := typed.decode(errors="replace").strip():
            turn = {"role": "user", "content": text, "occurred_at": datetime.now(UTC).isoformat()}
            body = {"user_id": USER_ID, "session_id": self.session_id, "mode": "sync", "turns": [turn]}
            try:
                yield from lines_of(self.client.post("/v1/turns", body).json())
            except DemoFailed as failed:
                yield str(failed)


def lines_of(answer: dict[str, Any]) -> list[str]:
    """Return a line for each outcome of a turn."""
    if "outcomes" not in answer:
        return ["accepted; the console shows what becomes of it"]
    told = (f"{each['outcome']}: {each['content'] or each['reason']}" for each in answer["outcomes"])
    return list(told) or [answer["error"] or answer["status"]]


def local_model() -> str | None:
    """Say how to start the demo with the first model found; None without a server that answers at once."""
    for server, address, path, models, name in SERVERS:
        try:
            listed = httpx2.get(address + path, timeout=_MODELS_TIMEOUT, trust_env=False).raise_for_status().json()
            names = [str(each[name]) for each in listed[models]]
        except (httpx2.HTTPError, ValueError, LookupError, TypeError):  # no server, or another one
            continue
        for found in names:
            if _MODEL_NAME.fullmatch(found) and "embed" not in found:
                return f"{server} runs here: MODEL=openai:{found} OPENAI_BASE_URL={address}/v1 make demo"
    return None


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
