"""Commands of the Anthropic memory tool, in an order in which each finds what it needs, or is refused."""

import re
from collections.abc import Callable
from typing import Any

from anthropic.lib.tools import ToolError

LONG = "x" * 1_700
COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/none.txt"},
    {"command": "create", "path": "/memories/kim.md", "file_text": "# Kim\nlives in Lyon\nlikes tea\n"},
    {"command": "create", "path": "/memories/kim.md", "file_text": "again"},
    {"command": "create", "path": "/memories/work/plan ü.md", "file_text": LONG},
    {"command": "create", "path": "/memories/work/a/b/deep.md", "file_text": ""},
    {"command": "create", "path": "/memories/.hidden", "file_text": "no"},
    {"command": "create", "path": "/memories/work", "file_text": "a directory"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/"},
    {"command": "view", "path": "/memories/work"},
    {"command": "view", "path": "/memories/kim.md"},
    {"command": "view", "path": "/memories/work/../kim.md"},
    {"command": "view", "path": "/memories/kim.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/kim.md", "view_range": [2, -1]},
    {"command": "view", "path": "/memories/kim.md", "view_range": [9, 12]},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "str_replace", "path": "/memories/kim.md", "old_str": "Lyon", "new_str": "Porto\nsince May"},
    {"command": "str_replace", "path": "/memories/kim.md", "old_str": "Lyon", "new_str": "Porto"},
    {"command": "str_replace", "path": "/memories/kim.md", "old_str": "i", "new_str": "y"},
    {"command": "str_replace", "path": "/memories/none.md", "old_str": "i", "new_str": "y"},
    {"command": "str_replace", "path": "/memories/work", "old_str": "i", "new_str": "y"},
    {"command": "insert", "path": "/memories/kim.md", "insert_line": 0, "insert_text": "first\n"},
    {"command": "insert", "path": "/memories/kim.md", "insert_line": 5, "insert_text": "last"},
    {"command": "insert", "path": "/memories/kim.md", "insert_line": 9, "insert_text": "no"},
    {"command": "insert", "path": "/memories/work/a/b/deep.md", "insert_line": 0, "insert_text": "one\n\n"},
    {"command": "insert", "path": "/memories/none.md", "insert_line": 0, "insert_text": "no"},
    {"command": "view", "path": "/memories/kim.md"},
    {"command": "view", "path": "/memories/work/a/b/deep.md"},
    {"command": "rename", "old_path": "/memories/kim.md", "new_path": "/memories/people/kim.md"},
    {"command": "rename", "old_path": "/memories/kim.md", "new_path": "/memories/lee.md"},
    {"command": "rename", "old_path": "/memories/people/kim.md", "new_path": "/memories/work"},
    {"command": "rename", "old_path": "/memories/work", "new_path": "/memories/job/old"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "view", "path": "/memories/job"},
    {"command": "delete", "path": "/memories/job/old/a"},
    {"command": "delete", "path": "/memories/none"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/people/kim.md"},
    {"command": "view", "path": "/memories/job"},
    {"command": "view", "path": "/memories/people/kim.md"},
]
# A file system has a size of its own for a directory; here it is that of the files.
_SIZE_OF_DIRECTORY = re.compile(r"^\S+(?=\t/\S*/$)|(?<=items:\n)\S+", re.MULTILINE)


def told(call: Callable[[dict[str, Any]], Any], command: dict[str, Any]) -> str:
    """Return what the model is told, without sizes of directories."""
    try:
        return _SIZE_OF_DIRECTORY.sub("", call(command))
    except ToolError as error:
        return f"error: {error.content}"
