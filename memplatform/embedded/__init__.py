"""The embedded PostgreSQL 18 with pgvector: one private server per data folder, without a service to install.

Web, cluster and tests call `up` and never stop the server; `make stop` does. Web and cluster call `keep_running`.
"""

import contextlib
import fcntl
import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import psycopg
import structlog

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE
from memplatform.embedded.programs import EmbeddedError as EmbeddedError
from memplatform.embedded.programs import Owner, last_words, owner_of, run, shared_folder

log = structlog.get_logger(__name__)

PROJECT = Path(__file__).resolve().parents[2]
SUPERUSER = "postgres"
DATABASE = "memplatform"
# See memplatform/database_roles.py. The folder of the socket is private to the owner, so no role has a password.
_FIRST_STATEMENTS = f"""create database {DATABASE}
create role {APP_ROLE} login
create role {SYSTEM_ROLE}
grant {SYSTEM_ROLE} to {APP_ROLE} with inherit false, set true
"""
PATIENCE = 60  # seconds for a start (including crash recovery) or a stop
ATTEMPTS = 5  # attempts to start, as the backends of a killed server release its shared memory with a delay
PORT = 5432
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",  # a search reads pages scattered over the rows of all end users
    "jit": "off",  # all queries are short: compiling them costs more than it saves
    "io_method": "sync",  # without processes that read ahead for long scans
    "max_logical_replication_workers": "0",  # nor one that starts replication
}


class ConnectionParams(NamedTuple):
    """The connection parameters; `host` is the private folder of the server's socket."""

    host: str
    port: int
    user: str
    name: str


def up(data_dir: Path) -> ConnectionParams:
    """Ensure that the server runs, and its database and roles exist; many processes may call it at the same time.

    Raises EmbeddedError.
    """
    owner = owner_of(data_dir=data_dir)
    folder = prepared_folder(data_dir=data_dir, owner=owner)
    with _locked(folder):
        if not (folder / "cluster").exists():
            # Under a temporary name first, so that an interruption leaves no partial one.
            unfinished = folder / "cluster.new"
            shutil.rmtree(unfinished, ignore_errors=True)
            locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
            access = [f"--username={SUPERUSER}", "--auth-local=trust", "--auth-host=reject"]
            run(owner=owner, program="initdb", arguments=["-D", str(unfinished), *locale, *access])
            alone = ["--single", "-D", str(unfinished), "postgres"]
            run(owner=owner, program="postgres", arguments=alone, given=_FIRST_STATEMENTS)
            unfinished.rename(folder / "cluster")
        _start(folder, owner)
    return ConnectionParams(host=str(socket_directory(folder)), port=PORT, user=SUPERUSER, name=DATABASE)


def down(data_dir: Path) -> None:
    """Stop the server if it is running; open transactions are rolled back. Raises EmbeddedError."""
    folder = data_dir.resolve()
    if not (folder / "cluster").exists():
        return
    with _locked(folder):
        if _is_alive(folder):
            command = ["-D", str(folder / "cluster"), "-m", "fast", "-w", "-t", str(PATIENCE), "stop"]
            run(owner=owner_of(data_dir=folder), program="pg_ctl", arguments=command)


def remove(data_dir: Path) -> None:
    """Stop the server and delete all its data. Raises EmbeddedError."""
    down(data_dir)
    folder = data_dir.resolve()
    for path in filter(Path.exists, (folder, socket_directory(folder))):
        shutil.rmtree(path)
    if data_dir.is_symlink():
        data_dir.unlink()


def keep_running(data_dir: Path) -> None:
    """Look every second, in a thread, whether the server has been killed, and start it again.

    A server that was stopped has removed its pid file, and stays stopped.
    """

    def watch() -> None:
        folder = data_dir.resolve()
        while True:
            if (folder / "cluster" / "postmaster.pid").exists() and not _is_alive(folder):
                log.warning("the embedded PostgreSQL is gone and is started again")
                # In a process of its own: one that this process forks meanwhile would hold the lock as well.
                subprocess.run([sys.executable, "-m", "memplatform.embedded", folder], check=False, cwd=PROJECT)
            time.sleep(1)  # there is no notification when a process ends that is not a child

    threading.Thread(target=watch, name="embedded-server", daemon=True).start()


def socket_directory(data_dir: Path) -> Path:
    """Return the folder itself, or one with a short name if a socket's path can't be that long, or have commas."""
    socket = os.fsencode(data_dir / f".s.PGSQL.{PORT}")
    if len(socket) <= 103 and not set(b',"').intersection(socket):
        return data_dir
    # Not TMPDIR, because it must be the same for all processes. The folder is private, and its owner is checked.
    return Path("/tmp") / f"memplatform-{hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]}"  # noqa: S108


def prepared_folder(*, data_dir: Path, owner: Owner) -> Path:
    """Create the data folder and that of the socket, private to the owner; return the former with links resolved.

    A data folder that the server's account can't access (for example below /root) becomes a link into
    /var/lib/memplatform. Raises EmbeddedError.
    """
    try:
        data_dir.parent.mkdir(parents=True, exist_ok=True)
        if not data_dir.exists():
            data_dir.unlink(missing_ok=True)  # a link whose target was deleted
            if owner.is_other and not owner.can_execute(data_dir.parent):
                with contextlib.suppress(FileExistsError):  # a concurrent start was first
                    data_dir.symlink_to(tempfile.mkdtemp(prefix="data-", dir=shared_folder()))
        folder = data_dir.resolve()
        for path in {folder, socket_directory(folder)}:
            _make_private(path, owner)
    except OSError as error:
        raise EmbeddedError(f"the data folder {data_dir} can't be used: {error.strerror}") from error
    return folder


def _make_private(path: Path, owner: Owner) -> None:
    """Create a folder, or take one that is empty or ours; a folder of something else is left alone."""
    path.mkdir(mode=0o700, exist_ok=True)
    if any(path.iterdir()) and not [*path.glob("cluster*"), *path.glob(".s.PGSQL*")]:
        raise EmbeddedError(f"{path} is neither empty nor a folder of the embedded server")
    if owner.is_other and path.lstat().st_uid == 0:  # only root can have created it
        os.chown(path, owner.uid, owner.gid, follow_symlinks=False)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != owner.uid:
        raise EmbeddedError(f"{path} belongs to user id {status.st_uid}, not to the server's user id {owner.uid}")
    path.chmod(0o700)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder, which serializes starts and stops; it ends with the process."""
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _start(folder: Path, owner: Owner) -> None:
    """Start the server if needed, and wait while it starts, recovers or stops until it accepts connections."""
    sockets, output = socket_directory(folder), folder / "server.log"
    settings = SETTINGS | {"unix_socket_directories": str(sockets), "port": str(PORT)}
    options = shlex.join(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))
    command = ["-D", str(folder / "cluster"), "-l", str(output), "-w", "-t", str(PATIENCE), "-o", options, "start"]
    attempts, deadline = 0, time.monotonic() + PATIENCE
    while attempts < ATTEMPTS and time.monotonic() < deadline:
        if not _is_alive(folder):
            attempts += 1
            # Whatever process has the numbers in its lock files by now: PostgreSQL takes any process for a running
            # server except the parent of pg_ctl (CreateLockFile in miscinit.c). The rest of the files is kept: it names
            # the shared memory that must have no users left.
            for file in (folder / "cluster" / "postmaster.pid", sockets / f".s.PGSQL.{PORT}.lock"):
                if file.exists():
                    rest = file.read_text().partition("\n")[2]
                    file.write_text(f"{os.getpid()}\n{rest}")
            with contextlib.suppress(EmbeddedError):  # the reason is in the server's log
                run(owner=owner, program="pg_ctl", arguments=command)
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(host=str(sockets), port=PORT, user=SUPERUSER, dbname="postgres").close()
            return
        time.sleep(0.1)  # there is no notification when it accepts connections
    end = last_words(output.read_text(errors="replace")) if output.exists() else "no log was written"
    raise EmbeddedError(f"PostgreSQL in {folder} does not answer: {end} (log: {output})")


def _is_alive(folder: Path) -> bool:
    """Return True if the recorded process is a server on this data directory, not a process that reuses its number.

    The command line can be read even where root may not inspect other users' processes, as in containers.
    """
    try:
        recorded = int((folder / "cluster" / "postmaster.pid").read_text().partition("\n")[0])
        program, *arguments = psutil.Process(recorded).cmdline()
    except (psutil.Error, OSError, ValueError):  # it is dead, a zombie or inaccessible, or there is no number
        return False
    return Path(program).name == "postgres" and str(folder / "cluster") in arguments
