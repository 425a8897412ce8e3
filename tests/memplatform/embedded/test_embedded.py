"""The embedded server, with real processes: starts, kills, stale files, odd paths, other users."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from memplatform import embedded
from memplatform.embedded import ConnectionParams, socket_directory
from tests.memplatform.embedded.servers import ask, is_running, postmaster

PROJECT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "memplatform.embedded"]


def kill(process: psutil.Process) -> None:
    process.send_signal(signal.SIGKILL)
    psutil.wait_procs([process], timeout=60)


def test_first_start_makes_a_private_server_with_its_database(folder: Path) -> None:
    found = embedded.up(folder)
    assert found == ConnectionParams(host=str(folder), port=5432, user="postgres", name="memplatform")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (
        ask(found, "SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = 'memplatform'")
        == "bC.UTF-8"
    )
    assert ask(found, "SHOW jit") == "off"
    assert ask(found, "SHOW listen_addresses") == ""
    assert ask(found, "SELECT name FROM pg_available_extensions WHERE name = 'vector'") == "vector"


def test_second_start_keeps_server_and_data(made: Path) -> None:
    found = embedded.up(made)
    ask(found, "CREATE TABLE kept AS SELECT 7 AS number; SELECT 1")
    server = postmaster(made).pid
    assert embedded.up(made) == found
    assert postmaster(made).pid == server
    embedded.down(made)
    assert not is_running(made)
    assert ask(embedded.up(made), "SELECT number FROM kept") == "7"


def test_starts_again_after_a_kill(made: Path) -> None:
    ask(embedded.up(made), "CREATE TABLE kept AS SELECT 7 AS number; SELECT 1")
    kill(postmaster(made))
    assert not is_running(made)
    assert ask(embedded.up(made), "SELECT number FROM kept") == "7"


@pytest.mark.soak
def test_its_users_start_it_again_after_a_crash_but_not_after_a_stop(made: Path) -> None:
    ask(embedded.up(made), "CREATE TABLE kept AS SELECT 7 AS number; SELECT 1")
    watch = (
        f"import pathlib, time; from memplatform import embedded; embedded.keep_running(pathlib.Path({str(made)!r}))"
    )
    user = subprocess.Popen([sys.executable, "-c", f"{watch}; time.sleep(600)"], cwd=PROJECT)
    try:
        kill(postmaster(made))
        deadline = time.monotonic() + 60
        while not is_running(made) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert ask(embedded.up(made), "SELECT number FROM kept") == "7"
        embedded.down(made)
        time.sleep(2.5)
        assert not is_running(made)
    finally:
        user.kill()
        user.wait()


@pytest.mark.soak
@pytest.mark.parametrize("same_user", [True, False])
def test_a_reused_pid_is_neither_taken_for_the_server_nor_stopped(made: Path, same_user: bool) -> None:
    embedded.up(made)
    files = [made / "cluster" / "postmaster.pid", made / ".s.PGSQL.5432.lock"]
    stale = [file.read_text().partition("\n")[2] for file in files]
    owner = made.stat()
    embedded.down(made)
    switch = {"user": owner.st_uid, "group": owner.st_gid} if same_user and os.geteuid() == 0 else {}
    stranger = subprocess.Popen(["sleep", "60"], **switch)
    try:
        for file, rest in zip(files, stale, strict=True):
            file.write_text(f"{stranger.pid}\n{rest}")
            os.chown(file, owner.st_uid, owner.st_gid)
        embedded.down(made)
        assert not is_running(made)
        assert ask(embedded.up(made), "SELECT 1") == "1"
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.soak
def test_an_interrupted_first_start_leaves_nothing_that_looks_whole(made: Path) -> None:
    (made / "cluster").rename(made / "cluster.new")
    (made / "cluster.new" / "global").rename(made / "cluster.new" / "gone")
    assert ask(embedded.up(made), "SELECT 1") == "1"


@pytest.mark.soak
def test_a_server_that_is_stopping_is_started_again(made: Path) -> None:
    embedded.up(made)
    server = postmaster(made)
    server.send_signal(signal.SIGINT)
    assert ask(embedded.up(made), "SELECT 1") == "1"


def test_starts_at_the_same_time_make_one_server(folder: Path) -> None:
    with ThreadPoolExecutor(max_workers=4) as pool:
        starts = [pool.submit(subprocess.run, [*COMMAND, str(folder)], cwd=PROJECT, check=True) for _ in range(4)]
        for start in starts:
            start.result(timeout=120)
    assert ask(embedded.up(folder), "SELECT count(*) FROM pg_database WHERE datname = 'memplatform'") == "1"


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "socket_inside"),
    [("with spaces, 'quotes' & more", False), ("with spaces", True), ("long" * 40, False)],
)
def test_odd_and_long_paths_work(folder: Path, stopped: Path, name: str, socket_inside: bool) -> None:
    odd = folder.parent / name / "data"
    odd.parent.mkdir()
    subprocess.run(["cp", "-a", str(stopped), str(odd)], check=True)
    found = embedded.up(odd)
    assert ask(found, "SELECT 1") == "1"
    assert (found.host == str(odd)) is socket_inside
    assert Path(found.host).stat().st_mode & 0o777 == 0o700
    assert Path(found.host).stat().st_uid == odd.stat().st_uid
    embedded.remove(odd)
    assert not odd.exists()
    assert not Path(found.host).exists()


@pytest.mark.soak
def test_two_folders_are_two_servers(folder: Path, stopped: Path) -> None:
    for name in ("one", "two"):
        subprocess.run(["cp", "-a", str(stopped), str(folder.with_name(name))], check=True)
    first, second = embedded.up(folder.with_name("one")), embedded.up(folder.with_name("two"))
    ask(first, "CREATE TABLE here AS SELECT 1; SELECT 1")
    assert ask(second, "SELECT to_regclass('here')") == "None"


def test_a_folder_of_something_else_is_left_alone(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    (folder / "letter.txt").write_text("mine")
    with pytest.raises(embedded.EmbeddedError, match="neither empty"):
        embedded.up(folder)
    assert folder.stat().st_mode & 0o777 == 0o755
    assert not is_running(folder)


def test_a_server_that_can_not_start_says_why(made: Path) -> None:
    with (made / "cluster" / "postgresql.conf").open("a") as settings:
        settings.write("\nno_such_setting = 1\n")
    with pytest.raises(embedded.EmbeddedError, match="configuration file"):
        embedded.up(made)


@pytest.mark.soak
def test_the_command_line_reports_the_address_and_errors(made: Path) -> None:
    up = subprocess.run([*COMMAND, str(made)], cwd=PROJECT, check=True, capture_output=True, text=True)
    assert up.stdout == f"host='{made}' port=5432 user=postgres dbname=memplatform\n"
    failed = subprocess.run([*COMMAND, "/proc/x/data"], cwd=PROJECT, check=False, capture_output=True, text=True)
    assert failed.returncode == 1
    assert failed.stderr.startswith("embedded PostgreSQL: the data folder /proc/x/data can't be used")
    assert failed.stderr.count("\n") == 1


def test_missing_programs_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memplatform.embedded.programs.PACKAGE", "not_installed_here")
    with pytest.raises(embedded.EmbeddedError, match="run `make env`, or set DATABASE_URL"):
        embedded.up(folder)


@pytest.mark.parametrize(
    ("data_dir", "inside"),
    [
        ("/srv/memplatform/var/postgresql", True),
        ("/srv/with space/data", True),
        ("/" + "a" * 88, True),
        ("/" + "a" * 89, False),
        ("/" + "ä" * 45, False),
        ("/srv/a,b", False),
    ],
)
def test_socket_directory(data_dir: str, inside: bool) -> None:
    found = socket_directory(Path(data_dir))
    assert (found == Path(data_dir)) is inside
    assert len(bytes(found / ".s.PGSQL.5432")) <= 103
    assert found == socket_directory(Path(data_dir))
