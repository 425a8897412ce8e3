"""Codec between statements and columns of the database; the only place that knows both."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.pipeline.core.enums import (
    Grounding,
    MemoryType,
    Polarity,
    Precision,
    Role,
    SourceConfidence,
    SpeechAct,
    Status,
)
from apps.pipeline.core.identifiers import Prefix, parse, show
from apps.pipeline.core.statement import Mention, ObjectValue, Statement, StoredMemory


def _json(value: Any) -> Any:
    """Parse JSON, which hand-written SQL returns as text."""
    return json.loads(value) if isinstance(value, str) else value


def _unchanged(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Column:
    """The column of the field with the same name: how its value is read and written."""

    name: str
    read: Callable[[Any], Any] = _unchanged
    write: Callable[[Any], Any] = _unchanged


# Without subject and object: see write_columns and _read_references.
_STATEMENT = (
    Column("type", read=MemoryType),
    Column("predicate"),
    Column("content"),
    Column("polarity", read=Polarity),
    Column("stateful"),
    Column("event_at"),
    Column("event_precision", read=lambda value: Precision(value) if value else None, write=lambda value: value or ""),
    Column("importance"),
    Column("topic"),
    Column("tags", read=tuple, write=list),
    Column("language"),
    Column("speech_act", read=SpeechAct),
    Column("source_confidence", read=SourceConfidence),
    Column("grounding", read=Grounding),
    Column("reliability"),
    Column("adjustment"),
    Column("extractor"),
    Column("evidence"),
)
_STORED = (
    Column("id"),
    Column("version"),
    Column("status", read=Status),
    Column("canonical_hash"),
    Column("confidence"),
    Column("role", read=Role),
    Column("said_at"),
    Column("valid_from"),
    Column("valid_until"),
    Column("confidence_parts", read=_json, write=dict),
    Column("private_to"),
    Column("agent_id"),
    Column("app_id"),
    Column("run_id"),
    Column("metadata", read=_json, write=dict),
    Column("further_sources", read=lambda value: tuple(_json(value)), write=list),
)
_REFERENCES = ("subject_id", "object", "object_text")
_BY_NAME = {column.name: column for column in (*_STORED, *_STATEMENT)}
_CONVERTED = tuple((name, column.read) for name, column in _BY_NAME.items() if column.read is not _unchanged)
_STATEMENT_COLUMNS = (*_REFERENCES, *(column.name for column in _STATEMENT))
_SELECTED = (*_REFERENCES, *_BY_NAME)


def select_stored(*, owner: str = "%(end_user)s") -> str:
    """Return the columns that `read_stored` needs, from memories of `owner` as `m`.

    Citus finds the shard of a subquery only where the end user is named in it; `m.end_user_id` is for several of them.
    """
    return f"""
select {", ".join(f"m.{name}" for name in _SELECTED)},
       array(select distinct origin.session_id || '|' || (origin.said_at at time zone 'utc')::date
             from memories_memoryorigin origin
             where origin.end_user_id = {owner} and origin.memory_id = m.id and not origin.withdrawn)
"""  # noqa: S608  (only names of this module)


STORED_WIDTH = len(_SELECTED) + 1  # columns of select_stored()


def statement_columns(statement: Statement) -> dict[str, Any]:
    """Return all columns of a statement."""
    return write_columns(statement.statement_fields())


def write_columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of some fields of a statement or a stored memory."""
    columns = {name: _BY_NAME[name].write(value) for name, value in fields.items() if name in _BY_NAME}
    if "subject" in fields:
        columns["subject_id"] = fields["subject"].entity_id
    if "object" in fields:
        columns |= {"object": write_object(fields["object"]), "object_text": fields["object"].text}
    return columns


def read_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of some columns; columns without a field are left out."""
    fields = {name: _BY_NAME[name].read(value) for name, value in columns.items() if name in _BY_NAME}
    return {**_read_references(columns), **fields}


def is_stored(column: str) -> bool:
    """Return True if a stored memory has a field for a column."""
    return column in _BY_NAME or column in _REFERENCES


def read_statement(row: Any, **changes: Any) -> Statement:
    """Return the statement of a row of the model, with some of its columns replaced."""
    return Statement(**read_columns({name: getattr(row, name) for name in _STATEMENT_COLUMNS} | changes))


def read_stored(row: Sequence[Any]) -> StoredMemory:
    """Return the memory of a row that was selected with select_stored()."""
    fields = dict(zip(_SELECTED, row, strict=False))
    subject_id, value, text = (fields.pop(name) for name in _REFERENCES)
    for name, read in _CONVERTED:
        fields[name] = read(fields[name])
    fields["origins"] = tuple(
        (session, day) for session, _, day in (text.partition("|") for text in row[STORED_WIDTH - 1])
    )
    return StoredMemory(
        subject=Mention(text="", entity_id=subject_id), object=_read_object(_json(value), text), **fields
    )


def write_object(value: ObjectValue) -> dict[str, Any]:
    """Write the object of a triple as {"literal"}, {"entity"} or {"list"}; nothing is an empty object."""
    if value.entity is not None and value.entity.entity_id is not None:
        return {"entity": show(Prefix.ENTITY, value.entity.entity_id)}
    if value.items:
        return {"list": list(value.items)}
    return {"literal": value.text} if value.text else {}


def _read_object(value: Mapping[str, Any], text: str) -> ObjectValue:
    if "entity" in value:
        return ObjectValue(entity=Mention(text=text, entity_id=parse(Prefix.ENTITY, value["entity"])))
    if "list" in value:
        return ObjectValue(items=tuple(value["list"]))
    return ObjectValue(literal=value.get("literal") or text or None)


def _read_references(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Read the subject, and the object from its two columns."""
    fields: dict[str, Any] = {}
    if "subject_id" in columns:
        fields["subject"] = Mention(text="", entity_id=columns["subject_id"])
    if "object" in columns:
        fields["object"] = _read_object(_json(columns["object"]), columns.get("object_text", ""))
    return fields
