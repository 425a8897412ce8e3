"""The account that owns the server, as PostgreSQL refuses to run as root."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memplatform.embedded.errors import OwnerUnavailable

ACCOUNT = "memplatform"


@dataclass(frozen=True, slots=True)
class Owner:
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


def owner_of(*, data_dir: Path) -> Owner:
    """Choose the owner: the current user; for root, the owner of the data folder or else a system account.

    Raises OwnerUnavailable if root can neither find nor create that account.
    """
    if os.geteuid() != 0:
        return Owner(uid=os.geteuid(), gid=os.getegid())
    return _folder_owner(data_dir) or _find_account(ACCOUNT) or _create_account()


def can_execute(*, owner: Owner, path: Path) -> bool:
    """Return True if the owner may enter this folder or run this program, given the permissions of its parents."""
    command = ["test", "-x", str(path)]
    try:
        return subprocess.run(command, check=False, cwd="/", **owner.as_user()).returncode == 0
    except PermissionError as error:
        raise OwnerUnavailable(f"root may not switch to user id {owner.uid} here: {error}") from error


def _folder_owner(data_dir: Path) -> Owner | None:
    if not data_dir.exists():
        return None
    uid = data_dir.stat().st_uid
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:  # initdb refuses users without an entry
        return None
    return None if uid == 0 else Owner(uid=uid, gid=entry.pw_gid)


def _find_account(account: str) -> Owner | None:
    try:
        entry = pwd.getpwnam(account)
    except KeyError:
        return None
    return Owner(uid=entry.pw_uid, gid=entry.pw_gid)


def _create_account() -> Owner:
    hint = f"PostgreSQL does not run as root: create a system user named {ACCOUNT!r}, or start as an ordinary user"
    useradd = shutil.which("useradd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if useradd is None:
        raise OwnerUnavailable(f"{hint} (no useradd found)")
    command = [useradd, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT]
    made = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    owner = _find_account(ACCOUNT)  # also succeeds if a concurrent start has created it
    if owner is None:
        raise OwnerUnavailable(f"{hint} (useradd: {made.stderr.strip()})")
    return owner
