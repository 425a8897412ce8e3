"""A thread pool limits its threads, passes on exceptions, and does not delay the exit of its process."""

import subprocess
import sys
import threading

import pytest

from apps.worker.thread_pool import ThreadPool

PATIENCE = 60.0


def test_each_result_is_handed_on() -> None:
    crew = ThreadPool(3)
    futures = [crew.submit(lambda number=number: number * 2) for number in range(20)]
    assert [future.result(PATIENCE) for future in futures] == [number * 2 for number in range(20)]
    crew.dismiss()


def test_what_goes_wrong_is_handed_on_and_the_next_is_done() -> None:
    crew = ThreadPool(1)
    failing, working = crew.submit(lambda: 1 // 0), crew.submit(lambda: 1)
    with pytest.raises(ZeroDivisionError):
        failing.result(PATIENCE)
    assert working.result(PATIENCE) == 1
    crew.dismiss()


def test_no_more_work_at_once_than_there_are_members() -> None:
    crew, may_end, begun = ThreadPool(2), threading.Event(), threading.Semaphore(0)

    def wait() -> int:
        begun.release()
        return int(may_end.wait(PATIENCE))

    futures = [crew.submit(wait) for _ in range(3)]
    assert begun.acquire(timeout=PATIENCE)
    assert begun.acquire(timeout=PATIENCE)
    assert not futures[2].done()
    assert not begun.acquire(blocking=False)
    may_end.set()
    assert [future.result(PATIENCE) for future in futures] == [1, 1, 1]
    crew.dismiss()


def test_members_leave_once_they_are_dismissed() -> None:
    crew = ThreadPool(2)
    named = [crew.submit(threading.get_ident) for _ in range(4)]
    members = [thread for thread in threading.enumerate() if thread.ident in {each.result(PATIENCE) for each in named}]
    crew.dismiss()
    for member in members:
        member.join(PATIENCE)
    assert not any(member.is_alive() for member in members)


def test_a_process_ends_while_a_member_still_works() -> None:
    program = (
        "import threading; from apps.worker.thread_pool import ThreadPool; ThreadPool(1).submit(threading.Event().wait)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=PATIENCE)
    assert done.returncode == 0
