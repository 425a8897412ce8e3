"""Processes of a data folder count together; what a process has counted outlives it, what it holds does not."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

SET_UP = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "memplatform.settings"
from django.conf import settings
settings.METRICS_DIR = sys.argv[1]
"""
COUNTING = """
from apps.telemetry import metrics

for line in sys.stdin:
    if line == "count\\n":
        metrics.REQUESTS.labels("GET", "/v1/memories", "200").inc()
        metrics.REQUEST_SECONDS.labels("GET", "/v1/memories").observe(0.02)
        metrics.POOL_CONNECTIONS.labels("used").inc()
        print("counted", flush=True)
    else:
        for family in metrics.CountedCollector().collect():
            for sample in family.samples:
                print(sample.name, *sorted(sample.labels.values()), sample.value, sep="|")
        print("end", flush=True)
"""


class Counting:
    """A process that counts."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-c", SET_UP + COUNTING, str(folder)]
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


def test_a_forked_process_counts_in_files_of_its_own(tmp_path: Path) -> None:
    forking = """
import os, sys
from apps.telemetry import metrics
metrics.WORK.labels("run_pipeline", "done").inc()
if os.fork() == 0:
    metrics.WORK.labels("run_pipeline", "done").inc()
    os._exit(0)
os.wait()
print(len(list(metrics._FOLDER.glob("counter_*.db"))), *(
    sample.value for family in metrics.CountedCollector().collect() for sample in family.samples
    if sample.name == "memplatform_work_total"
))
"""
    command = [sys.executable, "-c", SET_UP + forking, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "2 2.0\n"
