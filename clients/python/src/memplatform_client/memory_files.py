"""Files of the Anthropic memory tool as items: directories are labels of the namespace, and a file's name is the key.

What the commands answer is worded as the SDK's own tool words it for a file system.
"""

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from anthropic.lib.tools import ToolError

from memplatform_client.calls import run_item_operations, search_items
from memplatform_client.errors import Conflict, InvalidRequest
from memplatform_client.steps import Steps

P = ParamSpec("P")
ROOT = "/memories"
MOST_LINES = 999_999
NUMBER_WIDTH = len(str(MOST_LINES))
LEVELS = 2  # that a directory shows
AROUND = 2  # lines before and behind a change
PAGE = 200
Operation = Mapping[str, Any]


def _refuses(
    command: "Callable[Concatenate[MemoryFiles, P], Steps[str]]",
) -> "Callable[Concatenate[MemoryFiles, P], Steps[str]]":
    """Tell the model why the server refused a command."""

    @wraps(command)
    def told(files: "MemoryFiles", /, *args: P.args, **options: P.kwargs) -> Steps[str]:
        try:
            return (yield from command(files, *args, **options))
        except (Conflict, InvalidRequest) as error:
            raise ToolError(f"The memory refused this: {error.detail}") from error

    return told


@dataclass(frozen=True, slots=True)
class Place:
    """A path as the model wrote it, and the names of directories and file that it leads through."""

    path: str
    names: tuple[str, ...]

    @property
    def is_root(self) -> bool:
        """Return True for /memories itself."""
        return not self.names


@dataclass(frozen=True, slots=True)
class Found:
    """What is at a place: a file, or the files of a directory by their path below it."""

    file: Mapping[str, Any] | None
    inside: Mapping[tuple[str, ...], Mapping[str, Any]]

    @property
    def exists(self) -> bool:
        """Return True if there is a file or directory."""
        return self.file is not None or bool(self.inside)


class MemoryFiles:
    """The files of an end user. Commands return what the model is told, or raise ToolError."""

    def __init__(self, *, user_id: str) -> None:
        self._user_id = user_id
        self._root = ("memory_tool", user_id)

    @_refuses
    def view(self, path: str, view_range: Sequence[int] | None = None) -> Steps[str]:
        """Show a file with line numbers, or the content of a directory."""
        place = place_of(path)
        found = yield from self._find(place)
        if found.file is not None:
            return _numbered(path, found.file["value"]["text"], view_range)
        if not found.exists and not place.is_root:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return _listing(path, {names: _size(item) for names, item in found.inside.items()})

    @_refuses
    def create(self, path: str, file_text: str) -> Steps[str]:
        """Create a file."""
        place = place_of(path)
        if (yield from self._find(place)).exists or place.is_root:
            raise ToolError(f"File {path} already exists")
        yield from self._check_parents(place)
        yield run_item_operations(operations=[self._put(place, file_text, version=0)])
        return f"File created successfully at: {path}"

    @_refuses
    def str_replace(self, path: str, old_str: str, new_str: str) -> Steps[str]:
        """Replace a text that a file holds once."""
        place, item = yield from self._file(path)
        text = item["value"]["text"]
        lines = [text[:start].count("\n") + 1 for start in _starts(text, old_str)]
        if text.count(old_str) != 1:
            raise ToolError(_not_once(path, old_str, lines if text.count(old_str) else []))
        changed = text.replace(old_str, new_str)
        yield run_item_operations(operations=[self._put(place, changed, version=item["version"])])
        shown = range(max(1, lines[0] - AROUND), lines[0] + AROUND + 1)
        snippet = _with_numbers(
            [(number, line) for number, line in enumerate(changed.split("\n"), 1) if number in shown]
        )
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    @_refuses
    def insert(self, path: str, insert_line: int, insert_text: str) -> Steps[str]:
        """Insert a text behind a line."""
        place, item = yield from self._file(path)
        lines = item["value"]["text"].removesuffix("\n").split("\n") if item["value"]["text"] else []
        if not 0 <= insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(insert_line, insert_text.rstrip("\n"))
        text = "\n".join(lines)
        text += "" if text.endswith("\n") else "\n"
        yield run_item_operations(operations=[self._put(place, text, version=item["version"])])
        return f"The file {path} has been edited."

    @_refuses
    def delete(self, path: str) -> Steps[str]:
        """Delete a file or directory."""
        place = place_of(path)
        if place.is_root:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        results = (yield run_item_operations(operations=self._removal(place)))["results"]
        if not any(each["deleted"] for each in results):
            raise ToolError(f"The path {path} does not exist")
        return f"Successfully deleted {path}"

    @_refuses
    def rename(self, old_path: str, new_path: str) -> Steps[str]:
        """Rename or move a file or directory."""
        old, new = place_of(old_path), place_of(new_path)
        if old.is_root:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        if (yield from self._find(new)).exists or new.is_root:
            raise ToolError(f"The destination {new_path} already exists")
        found = yield from self._find(old)
        if not found.exists:
            raise ToolError(f"The path {old_path} does not exist")
        yield from self._check_parents(new, moved=old)
        yield run_item_operations(operations=[*self._removal(old), *self._puts(new, found)])
        return f"Successfully renamed {old_path} to {new_path}"

    @_refuses
    def clear(self) -> Steps[str]:
        """Delete all files."""
        yield run_item_operations(operations=[{"operation": "clear", "namespace_prefix": self._root}])
        return "All memory cleared"

    def _find(self, place: Place) -> Steps[Found]:
        """Return what is at a place."""
        below = (*self._root, *place.names)
        inside: dict[tuple[str, ...], Mapping[str, Any]] = {}
        while True:
            page = yield search_items(namespace_prefix=below, limit=PAGE, offset=len(inside), order="oldest")
            for item in page["results"]:
                inside[(*item["namespace"][len(below) :], item["key"])] = item
            if len(page["results"]) < PAGE:
                break
        if inside or place.is_root:
            return Found(file=None, inside=inside)
        (outcome,) = (yield run_item_operations(operations=[{"operation": "get", **self._at(place.names)}]))["results"]
        return Found(file=outcome["item"], inside={})

    def _file(self, path: str) -> Steps[tuple[Place, Mapping[str, Any]]]:
        place = place_of(path)
        found = yield from self._find(place)
        if not found.exists and not place.is_root:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        if found.file is None:
            raise ToolError(f"The path {path} is not a file.")
        return place, found.file

    def _check_parents(self, place: Place, *, moved: Place | None = None) -> Steps[None]:
        """Refuse a path that leads through a file, or into the directory that is moved."""
        parents = [place.names[:depth] for depth in range(1, len(place.names))]
        if moved and moved.names in parents:
            raise ToolError(f"The destination {place.path} is within {moved.path}")
        if not parents:
            return
        gets = [{"operation": "get", **self._at(names)} for names in parents]
        if any(each["item"] for each in (yield run_item_operations(operations=gets))["results"]):
            raise ToolError(f"The path {place.path} leads through a file")

    def _at(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {"namespace": (*self._root, *names[:-1]), "key": names[-1]}

    def _put(self, place: Place, text: str, *, version: int) -> Operation:
        value = {"text": text}
        owned = {"user_id": self._user_id, "value": value, "expected_version": version}
        return {"operation": "put", **self._at(place.names), **owned}

    def _puts(self, place: Place, found: Found) -> Iterable[Operation]:
        """Return the operations that store what was found at another place."""
        files = {(): found.file} if found.file else found.inside
        for names, item in files.items():
            yield self._put(Place(place.path, (*place.names, *names)), item["value"]["text"], version=0)

    def _removal(self, place: Place) -> list[Operation]:
        """Return the operations that delete a file or directory."""
        return [
            {"operation": "delete", **self._at(place.names)},
            {"operation": "clear", "namespace_prefix": (*self._root, *place.names)},
        ]


def place_of(path: str) -> Place:
    """Return the place of a path. Raises ToolError outside of /memories."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    resolved = posixpath.normpath(f"{ROOT}/{path.removeprefix(ROOT).lstrip('/')}")
    if resolved != ROOT and not resolved.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return Place(path, tuple(resolved.split("/")[2:]))


def _starts(text: str, part: str) -> Iterable[int]:
    """Yield where a part begins in a text, overlapping ones as well."""
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + 1) if start < len(text) else -1


def _not_once(path: str, old_str: str, lines: Sequence[int]) -> str:
    if not lines:
        return f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
    places = ", ".join(map(str, lines))
    return (
        f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {places}. "
        "Please ensure it is unique"
    )


def _numbered(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines.")
    first, last = 1, len(lines)
    if view_range and len(view_range) == 2:
        first, last = max(1, view_range[0]), last if view_range[1] == -1 else view_range[1]
    shown = list(enumerate(lines, 1))[first - 1 : last]
    return f"Here's the content of {path} with line numbers:\n{_with_numbers(shown)}"


def _with_numbers(lines: Iterable[tuple[int, str]]) -> str:
    return "\n".join(f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in lines)


def _listing(path: str, sizes: Mapping[tuple[str, ...], int]) -> str:
    """List a directory; the size of a directory is that of its files."""
    totals: dict[tuple[str, ...], int] = {}
    for names, size in sizes.items():
        for depth in range(1, len(names) + 1):
            totals[names[:depth]] = totals.get(names[:depth], 0) + size
    lines = [f"{_size_text(sum(sizes.values()))}\t{path}"]
    for names in sorted(totals):
        if len(names) <= LEVELS and not any(name.startswith(".") for name in names):
            lines.append(f"{_size_text(totals[names])}\t{path}/{'/'.join(names)}{'' if names in sizes else '/'}")
    header = f"Here're the files and directories up to {LEVELS} levels deep in {path}, excluding hidden items:"
    return "\n".join([header, *lines])


def _size(item: Mapping[str, Any]) -> int:
    return len(item["value"]["text"].encode())


def _size_text(size: int) -> str:
    """Return a number of bytes in the largest unit in which it is at least 1."""
    amount, units = float(size), iter("BKMG")
    unit = next(units)
    while amount >= 1024 and unit != "G":
        amount, unit = amount / 1024, next(units)
    return f"{int(amount)}{unit}" if amount == int(amount) else f"{amount:.1f}{unit}"
