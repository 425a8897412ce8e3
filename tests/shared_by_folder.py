"""Fixtures that the files of a folder share, until the worker goes on with another folder.

Those of pytest's scope "session" stay to the end of the run, and processes that wait for nothing cost as well.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

import pytest

Made = TypeVar("Made")


def shared_by_folder(
    request: pytest.FixtureRequest, *, key: pytest.StashKey[Made], make: Callable[[], AbstractContextManager[Made]]
) -> Made:
    """Return what was made for the folder of this file, or make it."""
    folder = request.node.getparent(pytest.Directory)
    assert folder is not None
    if key not in folder.stash:
        ending = ExitStack()
        folder.stash[key] = ending.enter_context(make())
        ending.callback(folder.stash.__delitem__, key)
        folder.addfinalizer(ending.close)
    return folder.stash[key]
