"""Processes that were started and recorded are ended with their groups; strangers never are."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from memplatform import processes
from memplatform.processes import Record

TWO = ["sh", "-c", "sleep 300 & sleep 300 & wait"]
BREEDING = ["sh", "-c", "trap '' TERM; while :; do sleep 300 & sleep 0.002; done"]
STUBBORN = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(processes, "DATA_DIR", tmp_path)
    yield tmp_path
    for record in processes.recorded():
        processes.end(record, patience=1)


def started(command: list[str], *, members: int) -> Record:
    processes.start(name="sample", command=command, environment=os.environ)
    (record,) = processes.recorded()
    wait_for(lambda: len(processes.family(record)) == members)
    return record


def wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)  # a shell sends no notification


def test_a_process_ends_with_its_whole_group_and_is_forgotten() -> None:
    record = started(TWO, members=3)
    family = processes.family(record)
    processes.end(record)
    assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in family)
    assert processes.recorded() == []


def test_a_group_whose_leader_was_killed_is_ended_too() -> None:
    record = started(TWO, members=3)
    os.kill(record.pid, signal.SIGKILL)
    os.waitpid(record.pid, 0)
    assert len(processes.family(record)) == 2
    assert processes.find("sample") == record
    processes.end(record)
    assert processes.family(record) == []


def test_one_that_does_not_listen_is_killed() -> None:
    record = started(STUBBORN, members=2)
    wait_for(lambda: "ready" in processes.log_of("sample").read_text())
    processes.end(record, patience=0.5)
    assert processes.family(record) == []


def test_what_is_started_while_the_others_are_killed_is_killed_too() -> None:
    processes.start(name="sample", command=BREEDING, environment=os.environ)
    (record,) = processes.recorded()
    wait_for(lambda: len(processes.family(record)) > 3)
    processes.end(record, patience=0.2)
    assert processes.family(record) == []


def test_one_that_only_got_the_number_is_left_alone(tmp_path: Path) -> None:
    elsewhere = subprocess.Popen(["sleep", "300"], cwd=tmp_path, start_new_session=True)
    later = subprocess.Popen(["sleep", "300"], cwd=processes.BASE_DIR, start_new_session=True)
    try:
        processes.record(name="elsewhere", pid=elsewhere.pid)
        (folder := tmp_path / "run").mkdir(exist_ok=True)
        (folder / "later.pid").write_text(f"{later.pid} {time.time() + 1_000}")
        for record in processes.recorded():
            processes.end(record, patience=1)
        assert (elsewhere.poll(), later.poll()) == (None, None)
        assert processes.recorded() == []
    finally:
        for process in (elsewhere, later):
            process.kill()
            process.wait()


@pytest.mark.parametrize("text", ["", "nonsense", "12", "12 x"])
def test_a_file_that_says_nothing_is_removed(folder: Path, text: str) -> None:
    (folder / "run").mkdir()
    (folder / "run" / "odd.pid").write_text(text)
    assert processes.recorded() == []
    assert list((folder / "run").iterdir()) == []
