"""Processes of this checkout: started in groups of their own, recorded in the data folder, ended as groups."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from memplatform.settings import BASE_DIR, DATA_DIR

PATIENCE = 20.0  # seconds that a process gets to finish what it has in hand
REST_PATIENCE = 3.0  # seconds for what a leader left behind
KILLS = 2  # the second is for what a process started between being seen and being killed
CLOCK_STEP = 2.0  # seconds by which the start of a process may seem to move when the machine's clock is set


@dataclass(frozen=True, slots=True)
class Record:
    """A process that this checkout started; where it leads a group, `pid` is the group's number too."""

    name: str
    pid: int
    started: float  # seconds since 1970


def start(*, name: str, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command in the checkout, in a group of its own, its output in the data folder; record it."""
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
            start_new_session=True,  # Ctrl-C in the terminal is for us alone; we end the others in good order
        )
    record(name=name, pid=process.pid)
    return process


def log_of(name: str) -> Path:
    """Return the file that a process's output goes to."""
    return DATA_DIR / "log" / f"{name}.log"


def record(*, name: str, pid: int) -> None:
    """Write down a process, so that it can be ended later by another one."""
    _folder().mkdir(parents=True, exist_ok=True)
    (_folder() / f"{name}.pid").write_text(f"{pid} {psutil.Process(pid).create_time()}")


def recorded() -> list[Record]:
    """Return what is written down, by name; files that say nothing are removed."""
    found = []
    for file in sorted(_folder().glob("*.pid"), key=lambda file: file.stem):
        try:
            pid, started = file.read_text().split()
            found.append(Record(name=file.stem, pid=int(pid), started=float(started)))
        except ValueError:
            file.unlink(missing_ok=True)
    return found


def find(name: str) -> Record | None:
    """Return the record of this name if its process, or any of its group, still runs."""
    return next((each for each in recorded() if each.name == name and family(each)), None)


def family(record: Record) -> list[psutil.Process]:
    """Return the live process of a record and its group; never a stranger that only got its number."""
    return [process for process in psutil.process_iter() if _belongs(process, record)]


def end(record: Record, *, patience: float = PATIENCE) -> None:
    """Ask the leader to end, then what it left behind, kill what does not listen, and forget the record."""
    leader = [process for process in family(record) if process.pid == record.pid]
    _send(leader, signal.SIGTERM, wait=patience)
    _send(family(record), signal.SIGTERM, wait=min(patience, REST_PATIENCE))
    for _ in range(KILLS):
        _send(family(record), signal.SIGKILL, wait=REST_PATIENCE)
    forget(record.name)


def forget(name: str) -> None:
    """Strike out a record."""
    (_folder() / f"{name}.pid").unlink(missing_ok=True)


def _folder() -> Path:
    return DATA_DIR / "run"


def _belongs(process: psutil.Process, record: Record) -> bool:
    try:
        numbered = record.pid in (process.pid, os.getpgid(process.pid))
        ours = numbered and Path(process.cwd()) == BASE_DIR
        return ours and process.create_time() > record.started - CLOCK_STEP
    except (psutil.Error, OSError):  # gone meanwhile, a zombie, or another user's
        return False


def _send(to: Sequence[psutil.Process], number: signal.Signals, *, wait: float) -> None:
    for process in to:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)
    psutil.wait_procs(to, timeout=wait)
