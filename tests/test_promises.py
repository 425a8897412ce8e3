"""Each promise of docs/testing.md has tests, and each test file holds a promise."""

from tests.promises import ROOT, promises, promises_of

FOLDERS = ("tests", "clients/python/tests")


def test_each_promise_has_tests_that_exist() -> None:
    table = promises()
    assert len(table) > 30
    assert [name for name, paths in table.items() if not paths] == []
    assert [path for paths in table.values() for path in paths if not (ROOT / path).exists()] == []


def test_each_test_file_holds_a_promise() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("test_*.py")]
    assert len(files) > 100
    assert [str(file.relative_to(ROOT)) for file in files if not promises_of(file)] == []
