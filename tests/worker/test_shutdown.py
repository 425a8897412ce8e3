"""The stop flag is shared with child processes; a deadline passes without being set."""

import os
import time

from apps.worker.shutdown import Deadline, StopFlag


def test_a_child_sees_what_its_parent_sets_and_the_other_way_round() -> None:
    flag = StopFlag()
    assert not flag.is_set()
    child = os.fork()
    if not child:
        flag.set()
        os._exit(0)
    os.waitpid(child, 0)
    assert flag.is_set()
    flag.clear()
    assert not flag.is_set()


def test_a_deadline_is_set_from_its_moment_on() -> None:
    assert Deadline(time.monotonic()).is_set()
    assert not Deadline(time.monotonic() + 3_600).is_set()
