"""Redis, the model, the database and its disk are away for two minutes each: each is named, and no turn is lost."""

import contextlib
import os
import re
import secrets
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from benchmarks.model_server import ModelServer, Reply, running, simply
from memplatform import embedded
from tests.instance import PATIENCE, Instance, free_port, new_instance, wait_for

AWAY_SECONDS = int(os.environ.get("OUTAGE_SECONDS", "120"))
NAMED_SECONDS = 15.0  # from the start of the outage, in each place
DISK_MEGABYTES = 700  # the write-ahead log takes most
USERS = 5
LOGIN = {"login": "admin", "password": "a long password"}

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root alone"),
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]


@dataclass
class Installation:
    """The product with a Redis, a model and a PostgreSQL that are not of its own, the latter on a small disk."""

    instance: Instance
    disk: Path
    redis_port: int
    model: ModelServer
    address: str
    key: str = ""
    redis: "subprocess.Popen[bytes] | None" = None
    pages: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        self.pages = httpx2.Client(base_url=self.address, follow_redirects=True, timeout=30, trust_env=False)

    def start_redis(self) -> None:
        options = ["--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.redis = self.instance.start("redis-server", *options)

    def stop_redis(self) -> None:
        assert self.redis
        self.redis.terminate()
        self.redis.wait(timeout=PATIENCE)

    def start_database(self) -> None:
        embedded.up(self.disk / "postgresql")

    def stop_database(self) -> None:
        embedded.down(self.disk / "postgresql")

    def fill_disk(self) -> None:
        with (self.disk / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(1 << 16))  # the last write takes the rest, in part
        assert shutil.disk_usage(self.disk).free == 0

    def free_disk(self) -> None:
        (self.disk / "filler").unlink()
        self.start_database()  # it may have stopped itself

    def log_in(self) -> None:
        form = self.pages.get("/console/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
        assert token, form
        sent = LOGIN | {"csrfmiddlewaretoken": token[1]}
        answer = self.pages.post("/console/login/", data=sent, headers={"Referer": self.address})
        assert answer.url.path != "/console/login/", answer.text

    def asked(self, method: str, path: str, **sent: Any) -> httpx2.Response | None:
        """Return the answer to a request with the key, None if the server breaks it off."""
        try:
            return self.pages.request(method, path, headers={"Authorization": f"Bearer {self.key}"}, **sent)
        except httpx2.HTTPError:
            return None

    def problems(self) -> set[str]:
        """Return the codes of what is wrong; that of the database if it can't be asked."""
        answer = self.asked("GET", "/readyz")
        return {each["code"] for each in answer.json()["problems"]} if answer else {"database_unavailable"}

    def told_by(self, place: str) -> str:
        """Return the text of a place that tells what is wrong."""
        answer = self.asked("GET", place)
        return "" if answer is None else answer.text


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    folder.parent.chmod(0o755)  # or the account of the server puts its data elsewhere
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m,mode=755", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        embedded.down(folder / "postgresql")
        subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    web_port, redis_port = free_port(), free_port()
    with running(ModelServer()) as model, new_instance() as instance, small_disk(instance.folder / "disk") as disk:
        where = embedded.up(disk / "postgresql")
        here = f"/{where.name}?host={where.host}&port={where.port}"
        instance.environment.update(
            DATABASE_URL=f"postgresql://memplatform_app@{here}",
            DATABASE_OWNER_URL=f"postgresql://{where.user}@{here}",
            REDIS_URL=f"redis://127.0.0.1:{redis_port}/0",
            SECRET_KEY="s" * 50,
            MODEL="openai:tested",
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=f"{model.url}/v1",
            WEB_PORT=str(web_port),
            METRICS_TOKEN="",
            DJANGO_SUPERUSER_PASSWORD=LOGIN["password"],
        )
        instance.run_all(["migrate", "--verbosity=0"])
        account = ["createsuperuser", "--noinput", f"--username={LOGIN['login']}", "--email=admin@example.com"]
        installation = Installation(instance, disk, redis_port, model, f"http://127.0.0.1:{web_port}")
        installation.start_redis()
        installation.key = instance.run_all(account, ["createproject", "a", "--slug=a"], ["createkey", "a"]).split()[-1]
        with kept_running(instance):
            wait_for(lambda: installation.asked("GET", "/readyz") is not None, instance=instance)
            installation.log_in()
            yield installation
        installation.stop_redis()


@contextmanager
def kept_running(instance: Instance) -> Iterator[None]:
    """Run the product, and start it again when it ends, as systemd does."""
    ends = threading.Event()

    def keep() -> None:
        server = instance.start(*instance.command("serve", "--with-workers"))
        while not ends.wait(1):
            if server.poll() is not None:
                server = instance.start(*instance.command("serve", "--with-workers"))
        server.terminate()
        server.wait(timeout=PATIENCE)

    keeper = threading.Thread(target=keep)
    keeper.start()
    try:
        yield
    finally:
        ends.set()
        keeper.join()


@dataclass
class Agent:
    """Says something every second, again until it is accepted, and then asks what became of it."""

    installation: Installation
    name: str
    traces: dict[int, str] = field(default_factory=dict)  # by the number of what was said
    refused: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def talking(self) -> Iterator[None]:
        ends = threading.Event()
        thread = threading.Thread(target=self._talk, args=[ends])
        thread.start()
        try:
            yield
        finally:
            ends.set()
            thread.join()

    def _talk(self, ends: threading.Event) -> None:
        number = 0
        while not ends.wait(1):
            if self._says(number):
                number += 1
        assert number == 0 or self.traces

    def _says(self, number: int) -> bool:
        user = f"{self.name} {number % USERS}"
        long = {
            "role": "assistant",
            "content": secrets.token_hex(8_000),
            "turn_id": f"before {number}",
        }  # it takes space
        turn = {"role": "user", "content": self.content(number), "turn_id": f"turn {number}"}
        body = {"user_id": user, "session_id": f"session {number}", "turns": [long, turn]}
        answer = self.installation.asked("POST", "/v1/turns", json=body)
        if answer is None or answer.status_code >= 300:
            self.refused["no answer" if answer is None else answer.json()["code"]] += 1
            return False
        self.traces[number] = answer.json()["trace_id"]
        self.installation.asked("GET", f"/v1/traces/{self.traces[number]}?wait=1")  # so that it is not put off
        return True

    def content(self, number: int) -> str:
        return f"I have instance number {number} in our street."

    def has_open_traces(self) -> bool:
        answers = [self.installation.asked("GET", f"/v1/traces/{each}") for each in self.traces.values()]
        return not all(map(_is_done, answers))

    def memories(self) -> Counter[str]:
        """Count what is remembered, by its text."""
        found: Counter[str] = Counter()
        for user in range(USERS):
            query = {"user_id": f"{self.name} {user}", "limit": "100"}
            page = self.installation.asked("GET", "/v1/memories", params=query)
            assert page
            found.update(each["content"] for each in page.json()["results"])
        return found


def _is_done(answer: httpx2.Response | None) -> bool:
    return answer is not None and answer.is_success and answer.json()["status"] == "done"


@dataclass(frozen=True)
class Outage:
    """What goes away, how, and by what code or words it is named."""

    name: str
    begins: Callable[[Installation], None]
    ends: Callable[[Installation], None]
    code: str
    words: str


def model_answers(*, away: bool) -> Callable[[Installation], None]:
    def change(installation: Installation) -> None:
        installation.model.answering = (lambda _: Reply(status=503, error="loading")) if away else simply

    return change


OUTAGES = [
    Outage("redis", Installation.stop_redis, Installation.start_redis, "redis_unavailable", "Redis does not answer"),
    Outage("model", model_answers(away=True), model_answers(away=False), "model_unavailable", "openai:tested"),
    Outage(
        "database",
        Installation.stop_database,
        Installation.start_database,
        "database_unavailable",
        "database does not answer",
    ),
    Outage("disk", Installation.fill_disk, Installation.free_disk, "disk_full", "disk of the database is full"),
]


@pytest.mark.parametrize("outage", OUTAGES, ids=lambda outage: outage.name)
def test_it_is_named_and_nothing_is_lost_or_doubled(installation: Installation, outage: Outage) -> None:
    agent = Agent(installation, outage.name)
    with agent.talking():
        time.sleep(5)
        outage.begins(installation)
        started, named = time.monotonic(), dict[str, float]()
        places = {
            "/readyz": f'"{outage.code}"',
            "/metrics": f'memplatform_problem{{code="{outage.code}"}} 1.0',
            "/console/a/queue/": outage.words,
        }

        def look(place: str) -> None:
            while time.monotonic() - started < AWAY_SECONDS:
                if place not in named and places[place] in installation.told_by(place):
                    named[place] = round(time.monotonic() - started, 1)
                time.sleep(0.5)

        with ThreadPoolExecutor() as pool:  # each answer may take as long as a connection to the database is waited for
            list(pool.map(look, places))
        shown = {place: installation.told_by(place) for place in places.keys() - named.keys()}
        outage.ends(installation)
        time.sleep(10)
    wait_for(lambda: not agent.has_open_traces(), instance=installation.instance)
    wait_for(lambda: installation.problems() <= {"requests_fail"}, instance=installation.instance)  # for ten minutes
    found = agent.memories()
    assert set(found.values()) == {1}
    assert len(found) == len(agent.traces)
    assert not shown
    assert max(named.values()) <= NAMED_SECONDS, named
