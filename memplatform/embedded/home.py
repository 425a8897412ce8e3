"""Where the server keeps its files: one private folder, reachable by its owner."""

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
# Bytes of a socket's whole path that every system takes: macOS holds 104 with the closing NUL, Linux 108.
SOCKET_PATH_LIMIT = 103
# Commas separate folders in PostgreSQL's and libpq's settings, so only names without surprises hold a socket.
SOCKET_CHARACTERS = frozenset(string.ascii_letters + string.digits + "/._- ")
# pg_ctl puts the path between double quotes in a shell command.
SHELL_CHARACTERS = frozenset('$`"\\\n\r')
# The same for every process of a machine, whatever TMPDIR says.
SHORT_FOLDER = Path("/tmp")  # noqa: S108 - what is made in it is private, and its owner is checked
SHARED_STATE = Path("/var/lib/memplatform")


@dataclass(frozen=True, slots=True)
class Home:
    """The server's folder (absolute, without links) and the places inside."""

    path: Path

    @property
    def cluster(self) -> Path:
        """PostgreSQL's data directory."""
        return self.path / "cluster"

    @property
    def unfinished(self) -> Path:
        """Where a new data directory is made before it takes its name."""
        return self.path / "cluster.new"

    @property
    def lock(self) -> Path:
        """The file that starts and stops are serialised by."""
        return self.path / "lock"

    @property
    def log(self) -> Path:
        """What the server writes to its standard error."""
        return self.path / "server.log"

    @property
    def sockets(self) -> Path:
        """The private folder of the server's socket."""
        return socket_directory(self.path)


def socket_directory(data_dir: Path) -> Path:
    """Name the socket's folder for an absolute data folder: itself, or a short one named by its hash."""
    socket = str(data_dir / f".s.PGSQL.{PORT}")
    if len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT and SOCKET_CHARACTERS.issuperset(socket):
        return data_dir
    return SHORT_FOLDER / f"memplatform-{hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]}"


def existing_home(*, data_dir: Path) -> Home | None:
    """Return the home of a data folder that has been used, or None. Raises PathUnusable."""
    home = Home(path=data_dir.resolve())
    try:
        return home if home.lock.exists() else None
    except PermissionError as error:
        raise PathUnusable(f"the data folder {data_dir} belongs to another user") from error


def prepared_home(*, data_dir: Path, owner: Owner) -> Home:
    """Return the home with its folders made, private to the owner.

    A data folder that root's server account can't reach (below /root, say) becomes a link into
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
    """Make the folder if absent and see that it is the owner's alone. Raises PathUnusable."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if owner.is_other and found.st_uid == 0:  # only root could have put it there
        os.chown(path, owner.uid, owner.gid, follow_symlinks=False)
        found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner.uid:
        raise PathUnusable(f"{path} belongs to user id {found.st_uid}, not to the server's user id {owner.uid}")
    if stat.S_IMODE(found.st_mode) != 0o700:
        path.chmod(0o700)


def shared_folder() -> Path:
    """Return the machine-wide folder that every account may enter, made if absent. Only for root."""
    SHARED_STATE.mkdir(parents=True, exist_ok=True)
    SHARED_STATE.chmod(0o755)
    return SHARED_STATE


def _place(data_dir: Path, owner: Owner) -> None:
    """Make the folder where the owner can reach it, unless it is there."""
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    if data_dir.is_symlink() and not data_dir.exists():
        data_dir.unlink()  # what it led to is gone
    if data_dir.is_dir():
        return
    if owner.is_other and not can_execute(owner=owner, path=data_dir.parent):
        _link_to_shared_state(data_dir)
    else:
        data_dir.mkdir(mode=0o700, exist_ok=True)


def _link_to_shared_state(data_dir: Path) -> None:
    target = Path(tempfile.mkdtemp(prefix="data-", dir=shared_folder()))
    try:
        data_dir.symlink_to(target)
    except FileExistsError:  # another start was first: its folder counts
        target.rmdir()
