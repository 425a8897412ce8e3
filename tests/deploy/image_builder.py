"""Carries out a Dockerfile without a container engine: each stage is a folder, in which commands run by chroot.

Needs root, debootstrap, and the right to make namespaces. Understands what our Dockerfile uses, and no more.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

BASES = {"debian:bookworm-slim": "bookworm", "debian:trixie-slim": "trixie"}
CERTIFICATES = "/usr/local/share/pip-certificates.crt"
TOLD = ("EXPOSE", "HEALTHCHECK", "VOLUME")  # instructions for engines


def missing() -> str:
    """Return what this machine lacks to build; empty if nothing."""
    if os.geteuid() != 0:
        return "needs root"
    if lacking := [name for name in ("debootstrap", "unshare", "chroot") if shutil.which(name) is None]:
        return f"needs {', '.join(lacking)}"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "may not make namespaces"


@dataclass
class Stage:
    """A root folder and how commands run in it."""

    root: Path
    workdir: str = "/"
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "root"
    command: list[str] = field(default_factory=list)

    def argv(self, command: list[str], *, data: Path | None = None, **environment: str) -> list[str]:
        """Return the command line of a command in the root, with /proc; with `data` as /data and all else read-only."""
        mounts = [f"mount --bind {self.root} {self.root}"]
        if data is not None:
            mounts += [
                f"mount -o remount,ro,bind {self.root}",
                f"mount -t tmpfs tmpfs {self.root}/tmp",
                f"mount --bind {data} {self.root}/data",
            ]
        mounts += [f"mount -t tmpfs tmpfs {self.root}/dev/shm", f"mount -t proc proc {self.root}/proc"]
        settings = {"PATH": os.defpath + ":/usr/sbin:/sbin", "HOME": "/tmp", **self.environment, **environment}
        inner = shlex.join(["env", "-i", *(f"{name}={value}" for name, value in settings.items()), *command])
        entered = shlex.join(["chroot", f"--userspec={self.ids()}", str(self.root), "sh", "-c", self._in_place(inner)])
        script = " && ".join([*mounts, f"exec {entered}"])
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]

    def run(self, command: list[str]) -> None:
        """Run a step of the build."""
        argv = self.argv(command, **self.certificates())
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"

    def certificates(self) -> dict[str, str]:
        """Return the variable that names the certificates of a proxy, where this machine has one."""
        return {"PIP_CERT": CERTIFICATES} if (self.root / CERTIFICATES.lstrip("/")).exists() else {}

    def ids(self) -> str:
        """Return user and group as numbers, from the root's own list."""
        for line in (self.root / "etc/passwd").read_text().splitlines():
            name, _, uid, gid, *_ = line.split(":")
            if name == self.user:
                return f"{uid}:{gid}"
        raise AssertionError(f"no user {self.user}")

    def _in_place(self, inner: str) -> str:
        return f"cd {shlex.quote(self.workdir)} && exec {inner}"


def build(dockerfile: Path, folder: Path) -> Stage:
    """Carry out a Dockerfile with its folder as the context; return the last stage."""
    stages: dict[str, Stage] = {}
    current: Stage | None = None
    for line in _instructions(dockerfile.read_text()):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            base, *named = re.split(r" AS ", rest)
            name = named[0] if named else "image"
            current = stages[name] = Stage(_begun(base, stages, folder / name))
        else:
            assert current is not None, line
            _carry_out(word, rest, current, stages, dockerfile.parent)
    assert current is not None
    return current


def _instructions(text: str) -> list[str]:
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def _begun(base: str, stages: dict[str, Stage], root: Path) -> Path:
    if base in stages:
        subprocess.run(["cp", "-a", str(stages[base].root), str(root)], check=True)
        return root
    return empty_root(base, root)


def empty_root(base: str, root: Path) -> Path:
    """Install the least Debian into a folder and return it."""
    subprocess.run(["debootstrap", "--variant=minbase", BASES[base], str(root)], check=True, capture_output=True)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    if certificates := os.environ.get("PIP_CERT"):  # of a proxy that this machine reaches the index through
        shutil.copy(certificates, root / CERTIFICATES.lstrip("/"))
    return root


def _carry_out(word: str, rest: str, stage: Stage, stages: dict[str, Stage], context: Path) -> None:
    match word:
        case "RUN":
            stage.run(["sh", "-c", rest])
        case "COPY":
            _copy(shlex.split(rest), stage, stages, context)
        case "WORKDIR":
            stage.workdir = rest
            (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "ENV":
            stage.environment |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        case "USER":
            stage.user = rest
        case "CMD":
            stage.command = json.loads(rest)
        case _:
            assert word in TOLD, word


def _copy(words: list[str], stage: Stage, stages: dict[str, Stage], context: Path) -> None:
    """Copy files, and the contents of folders, as engines do."""
    if words[0].startswith("--from="):
        context, words = stages[words[0].removeprefix("--from=")].root, words[1:]
    *sources, target = words
    into = stage.root / str(Path(stage.workdir) / target).lstrip("/")
    for source in sources:
        path = context / source.lstrip("/")
        if path.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.py[cod]") if "opt" not in path.parts else None
            shutil.copytree(path, into, symlinks=True, dirs_exist_ok=True, ignore=ignored)
        else:
            shutil.copy2(path, into)
