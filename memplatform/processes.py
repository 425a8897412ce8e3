"""Child processes of this checkout: started in their own process groups, recorded in pid files, ended as groups."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from memplatform.settings import BASE_DIR, DATA_DIR

PATIENCE = 20.0  # seconds for a graceful shutdown
REST_PATIENCE = 3.0  # seconds for processes that the leader of the group left behind
KILLS = 2  # the second is for what a process started between being seen and being killed
CLOCK_STEP = 2.0  # tolerated seconds between recorded and reported start, as setting the clock changes the latter


@dataclass(frozen=True, slots=True)
class Record:
    """A process that this checkout started; `pid` is also the number of the process group that it leads."""

    name: str
    pid: int
    started: float  # seconds since 1970


def start(*, name: str, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command in its own process group, with its output in a log file, and record it."""
    log = log_of(name)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=BASE_DIR,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches only this process, which ends its children gracefully
        )
    record(name=name, pid=process.pid)
    return process


def log_of(name: str) -> Path:
    """Return the log file of a process."""
    return DATA_DIR / "log" / f"{name}.log"


def record(*, name: str, pid: int) -> None:
    """Record a process, so that another process can end it later."""
    _folder().mkdir(parents=True, exist_ok=True)
    (_folder() / f"{name}.pid").write_text(f"{pid} {psutil.Process(pid).create_time()}")


def recorded() -> list[Record]:
    """Return all records, sorted by name; invalid files are removed."""
    records = []
    for file in sorted(_folder().glob("*.pid"), key=lambda file: file.stem):
        try:
            pid, started = file.read_text().split()
            records.append(Record(name=file.stem, pid=int(pid), started=float(started)))
        except ValueError:
            file.unlink(missing_ok=True)
    return records


def find(name: str) -> Record | None:
    """Return the record with this name if any process of its group is running."""
    return next((each for each in recorded() if each.name == name and family(each)), None)


def family(record: Record) -> list[psutil.Process]:
    """Return the running processes of a record's group, without unrelated processes that reuse its number."""
    running = []
    for process in psutil.process_iter():
        # One that has exited, is a zombie, or belongs to another user fails.
        with contextlib.suppress(psutil.Error, OSError):
            has_number = record.pid in (process.pid, os.getpgid(process.pid))
            is_ours = has_number and Path(process.cwd()) == BASE_DIR
            if is_ours and process.create_time() > record.started - CLOCK_STEP:
                running.append(process)
    return running


def end(record: Record, *, patience: float = PATIENCE) -> None:
    """Terminate the leader, then the rest of its group, kill what remains, and delete the record."""
    leader = [process for process in family(record) if process.pid == record.pid]
    _send(leader, signal.SIGTERM, wait=patience)
    _send(family(record), signal.SIGTERM, wait=min(patience, REST_PATIENCE))
    for _ in range(KILLS):
        _send(family(record), signal.SIGKILL, wait=REST_PATIENCE)
    forget(record.name)


def forget(name: str) -> None:
    """Delete a record."""
    (_folder() / f"{name}.pid").unlink(missing_ok=True)


def _folder() -> Path:
    return DATA_DIR / "run"


def _send(processes: Sequence[psutil.Process], number: signal.Signals, *, wait: float) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)
    psutil.wait_procs(processes, timeout=wait)
