"""The files of the server: one private folder that its owner can access."""

import hashlib
import os
import stat
import string
import tempfile
from dataclasses import dataclass
from pathlib import Path

from memplatform.embedded.errors import PathUnusable
from memplatform.embedded.owner import Owner, can_execute

PORT = 5432
# Maximum length of a socket's path in bytes on every system: macOS allows 104 with the final NUL, Linux 108.
SOCKET_PATH_LIMIT = 103
# Sockets are only placed in folders with plain names: commas separate folders in PostgreSQL's and libpq's settings.
SOCKET_CHARACTERS = frozenset(string.ascii_letters + string.digits + "/._- ")
# pg_ctl puts the path between double quotes in a shell command.
SHELL_CHARACTERS = frozenset('$`"\\\n\r')
# Not TMPDIR, because it must be the same for all processes.
SHORT_FOLDER = Path("/tmp")  # noqa: S108 - subfolders are private, and their owner is checked
SHARED_STATE = Path("/var/lib/memplatform")


@dataclass(frozen=True, slots=True)
class Home:
    """The server's folder (absolute, links resolved) and the paths inside."""

    path: Path

    @property
    def cluster(self) -> Path:
        """PostgreSQL's data directory."""
        return self.path / "cluster"

    @property
    def unfinished(self) -> Path:
        """The temporary name of a data directory that initdb has not finished."""
        return self.path / "cluster.new"

    @property
    def lock(self) -> Path:
        """The lock file that serialises starts and stops."""
        return self.path / "lock"

    @property
    def stopped(self) -> Path:
        """The file that says that somebody has stopped the server, so that nobody starts it again by himself."""
        return self.path / "stopped"

    @property
    def log(self) -> Path:
        """The server's standard error."""
        return self.path / "server.log"

    @property
    def sockets(self) -> Path:
        """The private folder of the server's socket."""
        return socket_directory(self.path)


def socket_directory(data_dir: Path) -> Path:
    """Return the socket's folder for an absolute data folder: the folder itself, or a short path with its hash."""
    socket = str(data_dir / f".s.PGSQL.{PORT}")
    if len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT and SOCKET_CHARACTERS.issuperset(socket):
        return data_dir
    return SHORT_FOLDER / f"memplatform-{hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]}"


def existing_home(*, data_dir: Path) -> Home | None:
    """Return the home of a data folder, or None if it has not been used yet. Raises PathUnusable."""
    home = Home(path=data_dir.resolve())
    try:
        return home if home.lock.exists() else None
    except PermissionError as error:
        raise PathUnusable(f"the data folder {data_dir} belongs to another user") from error


def prepared_home(*, data_dir: Path, owner: Owner) -> Home:
    """Create the folders, private to the owner, and return the home.

    A data folder that the server's account can't access (for example below /root) becomes a link into
    /var/lib/memplatform. Raises PathUnusable.
    """
    try:
        _place(data_dir, owner)
        home = Home(path=data_dir.resolve())
        _check_ours(home)
        make_private(path=home.path, owner=owner)
        make_private(path=home.sockets, owner=owner)
    except OSError as error:
        raise PathUnusable(f"the data folder {data_dir} can't be used: {error.strerror}") from error
    return home


def _check_ours(home: Home) -> None:
    if SHELL_CHARACTERS.intersection(str(home.path)):
        raise PathUnusable(f"the path {str(home.path)!r} has a character that PostgreSQL's start command can't take")
    if any(home.path.iterdir()) and not home.lock.exists():
        raise PathUnusable(f"{home.path} is neither empty nor a folder of the embedded server")


def make_private(*, path: Path, owner: Owner) -> None:
    """Create the folder if it is missing, and restrict it to the owner. Raises PathUnusable."""
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    if owner.is_other and status.st_uid == 0:  # only root can have created it
        os.chown(path, owner.uid, owner.gid, follow_symlinks=False)
        status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != owner.uid:
        raise PathUnusable(f"{path} belongs to user id {status.st_uid}, not to the server's user id {owner.uid}")
    if stat.S_IMODE(status.st_mode) != 0o700:
        path.chmod(0o700)


def shared_folder() -> Path:
    """Return the machine-wide folder that every account may enter; create it if missing. Only for root."""
    SHARED_STATE.mkdir(parents=True, exist_ok=True)
    SHARED_STATE.chmod(0o755)
    return SHARED_STATE


def _place(data_dir: Path, owner: Owner) -> None:
    """Create the folder where the owner can access it, unless it exists."""
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    if data_dir.is_symlink() and not data_dir.exists():
        data_dir.unlink()  # its target was deleted
    if data_dir.is_dir():
        return
    if not owner.is_other or can_execute(owner=owner, path=data_dir.parent):
        data_dir.mkdir(mode=0o700, exist_ok=True)
        return
    target = Path(tempfile.mkdtemp(prefix="data-", dir=shared_folder()))
    try:
        data_dir.symlink_to(target)
    except FileExistsError:  # a concurrent start was first; use its folder
        target.rmdir()
