"""The rows of an exported project in blocks: those of the project first, then those of one end user each."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, Field

from apps.common.errors import Unfit
from apps.imports.readers.entries import ImportProblem, bounded_name, unquoted
from apps.imports.readers.files import PROJECT_SCHEMA, file_lines
from apps.imports.transfers.project_tables import END, END_USER, OF_END_USER, OF_PROJECT, SCHEMA_VERSION
from apps.pipeline.core.input_validation import BadInput, check_json, visible_text
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact_json

_KINDS = {END_USER, END, *(table.kind for table in (*OF_PROJECT, *OF_END_USER))}
_Row = dict[str, Any]
MOST_DEPTH = 64  # of the JSON in a row


@dataclass
class RowBlock:
    """Rows that are loaded in one transaction; `user` is the line of their end user, empty for rows of the project.

    `project` is the identifier of the project that was exported, empty in files of servers before.
    """

    at: str
    project: str
    user: _Row = field(default_factory=dict)
    rows: dict[str, list[_Row]] = field(default_factory=dict)

    @property
    def user_id(self) -> str:
        """Return the user_id of the end user."""
        return str(self.user.get("user_id", ""))


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an export: a row of the table `kind`, and whose it is."""

    kind: str
    row: _Row
    end_user_id: str | None = None


_decoder = msgspec.json.Decoder(_Line)


def row_blocks(content: bytes) -> Iterator[RowBlock | ImportProblem]:
    """Yield the blocks of a file, and the lines that can't be read. Raises Unfit for a file of another schema."""
    lines = file_lines(content)
    head = _checked_head(next(lines, None))
    ends = head.get("ends") is True  # files of servers before have no last line
    told = head.get("project")
    project = str(told.get("id", "")) if isinstance(told, dict) else ""
    has_ended = False
    block, owner = RowBlock("the project", project), None
    for number, raw in lines:
        line = _read(at := f"line {number}", raw)
        if isinstance(line, ImportProblem):
            yield line
        elif line.kind == END:
            has_ended = True
        elif line.kind == END_USER:
            yield block
            block, owner = RowBlock(f"the end user of {at}", project, user=line.row), line.end_user_id
        elif line.end_user_id != owner:  # the line with which its end user begins could not be read
            yield ImportProblem(at, "belongs to an end user that the file does not name before")
        else:
            block.rows.setdefault(line.kind, []).append(line.row)
    yield block
    if ends and not has_ended:
        yield ImportProblem("the end of the file", "is missing: the file is not complete")


def _checked_head(line: tuple[int, bytes] | None) -> _Row:
    """Return what the first line says. Raises Unfit."""
    head: Any = None
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        head = msgspec.json.decode(line[1] if line else b"")
    if not isinstance(head, dict) or head.get("schema") != PROJECT_SCHEMA:
        raise Unfit("the file is no export of a project")
    version = head.get("version")
    if version != SCHEMA_VERSION:
        told = version if isinstance(version, int | None) else "another"
        raise Unfit(f"the file has version {told} of the schema; version {SCHEMA_VERSION} is read")
    return head


def _read(at: str, raw: bytes) -> _Line | ImportProblem:
    """Return a line with a row of a known kind."""
    try:
        line = _decoder.decode(raw)
        check_json(line.row, max_depth=MOST_DEPTH)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return ImportProblem(at, f"is no row: {unquoted(error)}")
    except BadInput as bad:
        return ImportProblem(at, str(bad))  # without the place, which names keys of the row
    if line.kind not in _KINDS:
        return ImportProblem(at, "is of no known kind")
    if line.kind == END_USER:
        try:
            user_id = line.row.get("user_id")
            bounded_name(user_id if isinstance(user_id, str) else "", at="user_id")
        except BadInput:
            return ImportProblem(at, "has no valid user_id")
    return line


def stored_texts(field: "Field[Any, Any]", value: Any, *, policy: RedactionPolicy, redacts: bool = True) -> Any:
    """Return the value of a column without invisible characters, and without what the policy masks or drops.

    A name, that is, a text of limited length, stays on one line and within its length.
    """
    of = field.base_field if isinstance(field, ArrayField) else field
    most = of.max_length if isinstance(of, CharField) else None
    cleaned = _cleaned(value, is_name=most is not None)
    told = redact_json(cleaned, policy=policy) if redacts else cleaned
    if most is None:
        return told
    return [each[:most] for each in told] if isinstance(told, list) else told[:most]


def _cleaned(value: Any, *, is_name: bool) -> Any:
    if isinstance(value, str):
        text = visible_text(value)
        return " ".join(text.split("\n")) if is_name else text
    if isinstance(value, list | tuple):
        return [_cleaned(each, is_name=is_name) for each in value]
    if isinstance(value, Mapping):
        return {visible_text(key): _cleaned(each, is_name=is_name) for key, each in value.items()}
    return value
