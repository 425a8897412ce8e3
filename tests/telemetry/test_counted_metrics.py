"""Processes of a data folder count together; what a process has counted outlives it, what it holds does not."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

from apps.telemetry.process_slots import ProcessSlots

COUNTING = """
import sys
from pathlib import Path
from apps.telemetry.counted_metrics import CountedMetrics
from apps.telemetry.process_slots import ProcessSlots

metrics = CountedMetrics(ProcessSlots(Path(sys.argv[1])))
for line in sys.stdin:
    if line == "count\\n":
        metrics.count_request("GET", "/v1/memories", 200)
        metrics.time_request("GET", "/v1/memories", 0.02)
        metrics.pool_connections.labels("used").inc()
        print("counted", flush=True)
    else:
        for family in metrics.collect():
            for sample in family.samples:
                print(sample.name, *sorted(sample.labels.values()), sample.value, sep="|")
        print("end", flush=True)
"""


class Counting:
    """A process that counts."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-c", COUNTING, str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def count(self) -> None:
        self._say("count")
        assert self._answers.readline() == "counted\n"

    def told(self) -> dict[str, float]:
        """Return the values of all samples but those of buckets."""
        self._say("tell")
        lines = list(iter(self._answers.readline, "end\n"))
        samples = [line.strip().split("|") for line in lines]
        return {name: float(values[-1]) for name, *values in samples if "bucket" not in name}

    def end(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def _say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    @property
    def _answers(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout


REQUESTS, HELD = "memplatform_http_requests_total", "memplatform_db_pool_connections"


def test_processes_are_added_up_and_killed_ones_leave_their_counts(tmp_path: Path) -> None:
    first, second = Counting(tmp_path), Counting(tmp_path)
    first.count()
    second.count()
    second.count()
    assert (first.told()[REQUESTS], first.told()[HELD]) == (3, 3)
    assert first.told()["memplatform_http_request_duration_seconds_count"] == 3
    second.end()
    assert (first.told()[REQUESTS], first.told()[HELD]) == (3, 1)
    third = Counting(tmp_path)
    third.count()
    assert (first.told()[REQUESTS], first.told()[HELD]) == (4, 2)
    assert len(list(tmp_path.glob("counter_*.db"))) == 2  # the third goes on with the file of the second
    first.end()
    third.end()


def test_a_forked_process_has_a_slot_of_its_own(tmp_path: Path) -> None:
    slots = ProcessSlots(tmp_path)
    mine = slots.mine()
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, slots.mine().encode())
        os._exit(0)
    os.wait()
    theirs = os.read(reading, 100).decode()
    assert theirs not in ("", mine)
    assert slots.is_held(mine)
    assert not slots.is_held(theirs)
    os.close(reading)
    os.close(writing)


def test_one_process_sends_the_sums_on(tmp_path: Path) -> None:
    slots = ProcessSlots(tmp_path)
    assert slots.may_export()
    if (child := os.fork()) == 0:
        os._exit(int(slots.may_export()))
    assert os.waitpid(child, 0)[1] == 0
