"""Failpoints: places before and after each stage of the funnel at which a test injects faults.

They wrap the functions that are the stages, in the test's own process or a fork of it.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from django.db import OperationalError, connection

from apps.pipeline import flow
from apps.pipeline.core import persist
from apps.pipeline.core.enums import Stage
from apps.pipeline.extraction import extract
from apps.pipeline.indexing import index
from apps.pipeline.prefilter import pre_filter

MODULES = {
    Stage.PRE_FILTER: pre_filter,
    Stage.EXTRACT: extract,
    Stage.PERSIST: persist,
    Stage.INDEX: index,
}  # the others are in flow.SETTLING


class Harm(StrEnum):
    """The kind of fault."""

    EXCEPTION = "exception"
    SIGKILL = "SIGKILL"
    CONNECTION = "terminated connection"


class Injected(Exception):
    """The error that a failpoint raises."""


@dataclass(slots=True)
class Failpoint:
    """A place at which a fault is injected, the first time that it is passed."""

    stage: Stage
    after: bool
    harm: Harm
    passed: int = 0

    def __str__(self) -> str:
        return f"{self.harm} {'after' if self.after else 'before'} {self.stage}"

    def arrive(self, stage: Stage, *, after: bool) -> None:
        if (stage, after) != (self.stage, self.after):
            return
        self.passed += 1
        if self.passed == 1:
            _do(self.harm)


def _do(harm: Harm) -> None:
    match harm:
        case Harm.EXCEPTION:
            raise Injected("here")
        case Harm.SIGKILL:
            os.kill(os.getpid(), signal.SIGKILL)
        case Harm.CONNECTION:  # noticed by the next statement, as when a server goes away
            with contextlib.suppress(OperationalError), connection.cursor() as cursor:
                cursor.execute("select pg_terminate_backend(pg_backend_pid())")


@contextmanager
def armed(point: Failpoint) -> Iterator[None]:
    """Activate a failpoint within the block."""

    def around(stage: Stage, run: Callable[..., Any]) -> Callable[..., Any]:
        def surrounded(*given: Any, **named: Any) -> Any:
            point.arrive(stage, after=False)
            result = run(*given, **named)
            point.arrive(stage, after=True)
            return result

        return surrounded

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow, "SETTLING", tuple((stage, around(stage, run)) for stage, run in flow.SETTLING))
        for stage, module in MODULES.items():
            patch.setattr(module, "run", around(stage, module.run))
        yield


def in_a_fork(do: Callable[[], object]) -> int:
    """Run something in a child process; return its exit code, negative when a signal ended it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            do()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
