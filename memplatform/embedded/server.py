"""Start, stop and inspect the embedded PostgreSQL 18 of a data folder."""

import contextlib
import fcntl
import os
import shlex
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE
from memplatform.embedded.errors import CommandFailed, NotAnswering, PathUnusable
from memplatform.embedded.home import PORT, Home, existing_home, prepared_home
from memplatform.embedded.owner import Owner, owner_of
from memplatform.embedded.programs import last_lines, run

SUPERUSER = "postgres"
DATABASE = "memplatform"
# See memplatform/database_roles.py. The folder of the socket is private to the owner, so no role has a password.
_CREATE_ROLES = f"""
CREATE ROLE {APP_ROLE} LOGIN; CREATE ROLE {SYSTEM_ROLE};
GRANT {SYSTEM_ROLE} TO {APP_ROLE} WITH INHERIT FALSE, SET TRUE
"""
PATIENCE = 60  # seconds for a start (including crash recovery) or a stop
ATTEMPTS = 5  # attempts to start, as the backends of a killed server release its shared memory with a delay
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",  # a search reads pages scattered over the rows of all end users
    "jit": "off",  # all queries are short: compiling them costs more than it saves
}


@dataclass(frozen=True, slots=True)
class ConnectionParams:
    """The connection parameters; `host` is the private folder of the server's socket."""

    host: str
    port: int
    user: str
    name: str


class Status(StrEnum):
    """The state of the server of a data folder."""

    ABSENT = "absent"
    STOPPED = "stopped"
    RUNNING = "running"


def up(data_dir: Path) -> ConnectionParams:
    """Ensure that the server runs and its database exists. Safe to call concurrently from many processes.

    1. Create the folder and the data directory if missing.
    2. Start the server unless it accepts connections.
    3. Create the database and the roles of the application if missing.
    Raises EmbeddedError.
    """
    owner = owner_of(data_dir=data_dir)
    home = prepared_home(data_dir=data_dir, owner=owner)
    with _locked(home, owner):
        _ensure_cluster(home, owner)
        home.stopped.unlink(missing_ok=True)
        existing = _answering(home, owner)
        if DATABASE not in existing:
            _query(home, owner, f"CREATE DATABASE {DATABASE}")
        if APP_ROLE not in existing:
            _query(home, owner, _CREATE_ROLES)
    return ConnectionParams(host=str(home.sockets), port=PORT, user=SUPERUSER, name=DATABASE)


def down(data_dir: Path) -> None:
    """Stop the server if it is running; open transactions are rolled back. Raises EmbeddedError."""
    home = existing_home(data_dir=data_dir)
    if home is None:
        return
    owner = owner_of(data_dir=home.path)
    with _locked(home, owner):
        home.stopped.touch()
        if _is_ours(home):
            run(owner=owner, program="pg_ctl", arguments=[*_at(home), "-m", "fast", "-w", "-t", str(PATIENCE), "stop"])


def status(data_dir: Path) -> Status:
    """Return the state of the server; `running` means that it accepted a connection."""
    home = existing_home(data_dir=data_dir)
    if home is None:
        return Status.ABSENT
    answered = _is_ours(home) and _names(home, owner_of(data_dir=home.path)) is not None
    return Status.RUNNING if answered else Status.STOPPED


def has_crashed(data_dir: Path) -> bool:
    """Return True if the server was started and is gone, though nobody has stopped it."""
    home = existing_home(data_dir=data_dir)
    return home is not None and home.cluster.exists() and not home.stopped.exists() and not _is_ours(home)


def remove(data_dir: Path) -> None:
    """Stop the server and delete all its data. Raises EmbeddedError."""
    down(data_dir)
    home = existing_home(data_dir=data_dir)
    if home is None:
        return
    for folder in {home.path, home.sockets}:
        shutil.rmtree(folder, ignore_errors=folder != home.path)
    if data_dir.is_symlink():
        data_dir.unlink()


@contextlib.contextmanager
def _locked(home: Home, owner: Owner) -> Iterator[None]:
    """Hold the folder's lock, which serialises starts and stops."""
    try:
        handle = os.open(home.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise PathUnusable(f"{home.lock}: {error.strerror}") from error
    with os.fdopen(handle) as file:
        if owner.is_other:
            os.fchown(file.fileno(), owner.uid, owner.gid)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _ensure_cluster(home: Home, owner: Owner) -> None:
    """Create the data directory under a temporary name first, so that an interrupted initdb leaves no partial one."""
    if home.cluster.exists():
        return
    if home.unfinished.exists():
        shutil.rmtree(home.unfinished)
    locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    access = [f"--username={SUPERUSER}", "--auth-local=trust", "--auth-host=reject"]
    run(owner=owner, program="initdb", arguments=["-D", str(home.unfinished), *locale, *access])
    home.unfinished.rename(home.cluster)


def _answering(home: Home, owner: Owner) -> frozenset[str]:
    """Return what `_names` does; start the server if needed, and wait while it starts, recovers or stops."""
    starts = 0
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if _is_ours(home):
            names = _names(home, owner)
            if names is not None:
                return names
        elif starts == ATTEMPTS:
            raise CommandFailed(f"PostgreSQL did not start: {_log_end(home)} (log: {home.log})")
        elif _start(home, owner):
            continue
        else:
            starts += 1
        time.sleep(0.1)  # there is no notification when it accepts connections or a killed server's backends are gone
    raise NotAnswering(f"PostgreSQL in {home.path} runs but does not answer: {_log_end(home)} (log: {home.log})")


def _start(home: Home, owner: Owner) -> bool:
    """Try to start the server; return False on failure, whose reason is in the server's log."""
    _replace_stale_pids(home)
    settings = SETTINGS | {"unix_socket_directories": str(home.sockets), "port": str(PORT)}
    options = shlex.join(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))
    command = [*_at(home), "-l", str(home.log), "-w", "-t", str(PATIENCE), "-o", options, "start"]
    try:
        run(owner=owner, program="pg_ctl", arguments=command)
    except CommandFailed:
        return False
    return True


def _at(home: Home) -> list[str]:
    return ["-D", str(home.cluster)]


def _names(home: Home, owner: Owner) -> frozenset[str] | None:
    """Return the names of the databases and roles, or None if the server does not accept connections."""
    names = "SELECT datname FROM pg_database UNION ALL SELECT rolname FROM pg_roles"
    try:
        return frozenset(_query(home, owner, names).splitlines())
    except CommandFailed:
        return None


def _query(home: Home, owner: Owner, sql: str) -> str:
    connection = ["-h", str(home.sockets), "-p", str(PORT), "-U", SUPERUSER, "-d", "postgres"]
    return run(owner=owner, program="psql", arguments=["-X", "-A", "-t", *connection, "-c", sql]).stdout


def _is_ours(home: Home) -> bool:
    """Return True if the recorded process is a server on this data directory, not a process that reuses its number.

    The command line can be read even where root may not inspect other users' processes, as in containers.
    """
    try:
        program, *arguments = psutil.Process(_recorded_pid(home)).cmdline()
    except (psutil.Error, ValueError):  # it is dead, a zombie or inaccessible, or there is no number
        return False
    return Path(program).name == "postgres" and str(home.cluster) in arguments


def _recorded_pid(home: Home) -> int:
    """Return the process number in the server's pid file. Raises ValueError if there is none."""
    try:
        return int((home.cluster / "postmaster.pid").read_text().partition("\n")[0])
    except OSError as error:
        raise ValueError("no pid file") from error


def _replace_stale_pids(home: Home) -> None:
    """Replace numbers in the lock files that now belong to another process or a zombie.

    PostgreSQL would take such a process for a running server. The number of this process is safe, because pg_ctl tells
    the server to ignore it (PG_GRANDPARENT_PID, see CreateLockFile in PostgreSQL's miscinit.c). The files are not
    deleted: one of them names the shared memory that the server has to check for remaining users.
    """
    for file in (home.cluster / "postmaster.pid", home.sockets / f".s.PGSQL.{PORT}.lock"):
        if file.exists():
            rest = file.read_text().partition("\n")[2]
            file.write_text(f"{os.getpid()}\n{rest}")


def _log_end(home: Home) -> str:
    try:
        return last_lines(home.log.read_text(errors="replace"))
    except OSError:
        return "no log was written"
