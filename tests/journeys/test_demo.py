"""The demo shows on an empty folder what the product is for, adds nothing when run again, leaves nothing running."""

import json
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memplatform.demo.client import Client
from memplatform.embedded import socket_directory
from tests.instance import PATIENCE, PROJECT, Instance, free_port, new_instance, wait_for

pytestmark = pytest.mark.journey
UP = "Press Ctrl-C to stop"
# What the examples of a page print at their end: they have reached their purpose.
AT_THE_END = {
    "README.md": "Lyon",
    "docs/quick-start.md": "Lyon",
    "docs/recipes/python.md": "lives in Ghent",
    "docs/webhooks.md": "trace.finished",
    "docs/recipes/chat-agent.md": "You live in Porto.",
    "docs/recipes/items.md": "['display']",
    "docs/recipes/langgraph.md": "Kim lives in Porto.",
    "docs/recipes/mem0.md": "results",
    "clients/python/README.md": "lives in Lyon",
    "docs/imports.md": "'turns': 1",
    "docs/api.md": "204",
}
# The file that the page on imports brings: an export of ChatGPT.
SAID = {
    "id": "m",
    "author": {"role": "user"},
    "create_time": 1.7e9,
    "content": {"content_type": "text", "parts": ["I live in Graz."]},
}
EXPORTED = [{"id": "c", "current_node": "n", "mapping": {"n": {"id": "n", "parent": None, "message": SAID}}}]
# The turns that the dashboard counts, of all projects.
COUNTED = "select sum(amount) from traces_hourlytally where measure = 'turns'"


@dataclass(frozen=True)
class Run:
    """What one run of the demo has printed and found."""

    printed: str
    file: Path

    @cached_property
    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.file.read_text())
        return found

    def memories(self, **wanted: Any) -> list[dict[str, Any]]:
        held = self.result["memories"]
        return [memory for memory in held if all(memory[name] == value for name, value in wanted.items())]


@pytest.fixture(scope="module")
def instance() -> Iterator[Instance]:
    """An instance with nothing in it yet."""
    with new_instance() as made:
        yield made


@pytest.fixture(scope="module")
def taken_port() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.fixture(scope="module")
def staying(instance: Instance, taken_port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The first demo of the folder, which stays up; it was started where its port was taken."""
    file = instance.folder / "first.json"
    process = instance.start(*instance.command("demo", f"--json={file}", f"--port={taken_port}"))
    wait_for(lambda: UP in instance.output, instance=instance, process=process)
    yield process
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def first(instance: Instance, staying: subprocess.Popen[bytes]) -> Run:
    return Run(printed=instance.output, file=instance.folder / "first.json")


@pytest.fixture(scope="module")
def ended(staying: subprocess.Popen[bytes], first: Run) -> int:
    """Press Ctrl-C, and return the status with which the first demo ends."""
    staying.send_signal(signal.SIGINT)
    return staying.wait(timeout=PATIENCE)


@pytest.fixture(scope="module")
def second(instance: Instance, ended: int) -> Run:
    """A second run, to its end."""
    file = instance.folder / "second.json"
    done = instance.run("demo", "--once", f"--json={file}", f"--port={free_port()}")
    assert done.returncode == 0, done.stderr
    return Run(printed=done.stdout, file=file)


def test_the_move_superseded_the_old_city(first: Run) -> None:
    (old,) = first.memories(predicate="lives_in", object_text="Berlin")
    (new,) = first.memories(predicate="lives_in", object_text="Munich")
    assert (old["status"], new["status"]) == ("superseded", "active")
    assert old["superseded_by"] == new["id"]
    assert old["valid_until"] == new["valid_from"]


def test_contradictions_are_links_and_both_sides_stay(first: Run) -> None:
    contradictions = [link for link in first.result["links"] if link["kind"] == "contradicts"]
    assert len(contradictions) >= 2
    offices = [link for link in contradictions if all("open-plan" in side for side in link["between"])]
    assert len(offices) == 1
    assert offices[0]["status"] == "open"
    assert {memory["status"] for memory in first.memories() if "open-plan" in memory["content"]} == {"active"}


@pytest.mark.parametrize("word", ["doctor", "pirate"])
def test_what_was_not_meant_waits_for_a_person(first: Run, word: str) -> None:
    (memory,) = [each for each in first.memories(status="pending_review") if word in each["content"]]
    assert memory["speech_act"] != "asserted"
    assert "not_asserted" in memory["review_reasons"]
    assert not [each for each in first.memories(status="active") if word in each["content"]]


@pytest.mark.parametrize(
    "reason",
    [
        "greeting",
        "farewell",
        "thanks",
        "acknowledgement",
        "emoji_only",
        "code_only",
        "structured_payload",
        "untrusted_role",
    ],
)
def test_chatter_is_rejected_with_its_reason(first: Run, reason: str) -> None:
    assert first.result["funnel"]["rejected"][reason] >= 1


def test_the_funnel_adds_up(first: Run) -> None:
    funnel, memories = first.result["funnel"], first.memories()
    assert funnel["turns"] == first.result["posted"]["turns"] >= 120
    assert sum(funnel["rejected"].values()) < funnel["turns"]
    went = ("discarded", "merged", "stored", "pending_review")
    assert funnel["candidates"] == sum(funnel[name] for name in went)
    assert funnel["stored"] + funnel["pending_review"] == len(memories)
    assert funnel["superseded"] == len(first.memories(status="superseded")) >= 1
    assert funnel["merged"] >= 1
    assert funnel["vectors"] >= len(memories)


def test_the_quick_start_shows_what_is_printed(first: Run) -> None:
    (shown,) = re.findall(r"^```\n(turns received.*?)^```$", (PROJECT / "docs/quick-start.md").read_text(), re.S | re.M)
    printed = re.findall(r"^│ +(\w[\w ]*?) +│ +(\d+) │$", first.printed, re.M)
    assert re.findall(r"^ *(\w[\w ]*?) +(\d+)$", shown, re.M) == printed


def test_the_dashboard_counts_all_turns_at_the_first_look(instance: Instance, first: Run) -> None:
    folder = socket_directory(instance.folder / "postgresql")
    with psycopg.connect(host=str(folder), user="postgres", dbname="memplatform") as connection:
        assert connection.execute(COUNTED).fetchone() == (first.result["posted"]["turns"],)


def test_search_and_context_tell_what_holds_now(first: Run) -> None:
    found = [memory["content"] for memory in first.result["found"]]
    assert any("Munich" in content for content in found)
    assert not any("Berlin" in content for content in found)
    scores = [memory["score"] for memory in first.result["found"]]
    assert scores == sorted(scores, reverse=True)
    assert "peanuts" in first.result["context"]["context"]


def test_everything_is_printed(first: Run) -> None:
    printed = first.printed
    password = first.file.with_name("demo-password").read_text()
    for expected in (
        "Funnel",
        "greeting",
        "superseded",
        "Search:",
        "/console/",
        "/docs/",
        "/v1/docs",
        f"demo / {password}",
    ):
        assert expected in printed


def test_the_sample_is_labelled_as_recorded_and_the_visitor_is_invited(first: Run) -> None:
    assert {memory["extractor"] for memory in first.memories()} == {"recorded:three_weeks"}
    assert "recorded answers of a model (recorded:three_weeks)" in first.printed
    assert "Your turn: " in first.printed
    assert re.search(r"A model also reads .* make demo", first.printed, re.DOTALL)


def test_what_a_visitor_tells_is_not_read_from_recorded_answers(instance: Instance, first: Run, key: str) -> None:
    client = Client(address=(instance.folder / "demo-url").read_text(), key=key)
    for said in ("I live in Oslo.", "I moved to Munich on Saturday."):
        turns = [{"role": "user", "content": said}]
        told = client.post("/v1/turns", {"user_id": "vi", "session_id": "s", "mode": "sync", "turns": turns}).json()
        assert told["stored"] >= 1, told
    read = {memory["extractor"] for memory in client.pages("/v1/memories", user_id="vi")}
    assert read
    assert not [extractor for extractor in read if extractor.startswith("recorded:")]


def test_secrets_are_their_owners_alone(instance: Instance, first: Run) -> None:
    for name in ("demo-key", "demo-password", "secret_key"):
        assert stat.S_IMODE((instance.folder / name).stat().st_mode) == 0o600


def test_it_needs_few_processes(instance: Instance, staying: subprocess.Popen[bytes], first: Run) -> None:
    assert len(instance.processes()) <= 7


def test_it_takes_another_port_and_is_the_only_one(
    instance: Instance, first: Run, staying: subprocess.Popen[bytes], taken_port: int
) -> None:
    assert f"Port {taken_port} is in use" in first.printed
    another = instance.run("demo", "--once")
    assert another.returncode == 1
    assert f"already running in this folder (process {staying.pid})" in another.stderr


@pytest.fixture(scope="module")
def key(instance: Instance, first: Run) -> str:
    return instance.run("createkey", "demo", "--scope=read", "--scope=write", "--scope=admin").stdout.split()[-1]


BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUN_BY = {"sh": ["sh", "-euc"], "python": [sys.executable, "-c"]}


@pytest.mark.parametrize("page", AT_THE_END)
def test_the_examples_of_the_documentation_run(
    instance: Instance, first: Run, key: str, tmp_path: Path, page: str
) -> None:
    (tmp_path / "var").symlink_to(instance.folder)
    for name in ("manage.py", ".venv"):
        (tmp_path / name).symlink_to(PROJECT / name)
    (tmp_path / "conversations.json").write_text(json.dumps(EXPORTED))
    address = (instance.folder / "demo-url").read_text().strip()
    shown = (PROJECT / page).read_text().replace("http://127.0.0.1:8000", address).replace("mp_…", key)
    blocks = [each for each in BLOCK.findall(shown) if "pip install" not in each[1]]
    assert blocks
    printed = ""
    for language, text in blocks:
        done = subprocess.run(
            [*RUN_BY[language], text],
            cwd=tmp_path,
            env={
                **instance.environment,
                "MEMPLATFORM_URL": address,
                "MEMPLATFORM_API_KEY": key,
                "MEM0_TELEMETRY": "False",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, text + done.stderr
        assert "urn:memplatform:problem" not in done.stdout, text + done.stdout
        printed += done.stdout
    assert AT_THE_END[page] in printed


def test_ctrl_c_leaves_nothing_running(instance: Instance, ended: int) -> None:
    assert ended == 0
    assert instance.processes() == []
    assert not list((instance.folder / "run").iterdir())


def test_a_second_run_adds_nothing_and_ends_by_itself(instance: Instance, first: Run, second: Run) -> None:
    assert instance.processes() == []
    assert not list((instance.folder / "run").iterdir())
    assert second.result["posted"]["repeated"] == second.result["posted"]["sessions"]
    assert second.result["funnel"] == first.result["funnel"]
    assert second.result["memories"] == first.result["memories"]
    assert second.result["links"] == first.result["links"]


@pytest.mark.soak
def test_stop_ends_what_a_killed_demo_left(instance: Instance, second: Run) -> None:
    (instance.folder / "output").write_text("")
    demo = instance.start(*instance.command("demo", f"--port={free_port()}"))
    wait_for(lambda: UP in instance.output, instance=instance, process=demo)
    demo.kill()
    demo.wait()
    assert len(instance.processes()) > 2
    stopped = instance.stop()
    assert stopped.returncode == 0, stopped.stderr
    assert instance.processes() == []
