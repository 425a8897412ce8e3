"""Conversion between statements and the columns of memories; the only place that knows both."""

from collections.abc import Callable, Mapping
from dataclasses import fields
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
from apps.pipeline.core.statement import STATEMENT_FIELDS, Mention, ObjectValue, Statement, StoredMemory

# Columns with the name of their field; subject and object have columns of their own, and origins are rows.
_STATEMENT_FIELDS = tuple(name for name in STATEMENT_FIELDS if name not in ("subject", "object"))
_STORED_FIELDS = tuple(each.name for each in fields(StoredMemory) if each.name not in (*STATEMENT_FIELDS, "origins"))
_REFERENCES = ("subject_id", "object", "object_text")
_STATEMENT_COLUMNS = (*_REFERENCES, *_STATEMENT_FIELDS)
STORED_COLUMNS = (*_STATEMENT_COLUMNS, *_STORED_FIELDS)
_FIELDS = frozenset((*_STATEMENT_FIELDS, *_STORED_FIELDS))

_READ: dict[str, Callable[[Any], Any]] = {
    "type": MemoryType,
    "polarity": Polarity,
    "event_precision": lambda value: Precision(value) if value else None,
    "tags": tuple,
    "speech_act": SpeechAct,
    "source_confidence": SourceConfidence,
    "grounding": Grounding,
    "status": Status,
    "role": Role,
    "further_sources": tuple,
}
_WRITE: dict[str, Callable[[Any], Any]] = {
    "event_precision": lambda value: value or "",
    "tags": list,
    "confidence_parts": dict,
    "metadata": dict,
    "further_sources": list,
}


def statement_columns(statement: Statement) -> dict[str, Any]:
    """Return all columns of a statement."""
    return write_columns(statement.statement_fields())


def write_columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of some fields of a statement or a stored memory."""
    columns = {name: _WRITE[name](value) if name in _WRITE else value for name, value in values.items()}
    columns = {name: value for name, value in columns.items() if name in _FIELDS}
    if "subject" in values:
        columns["subject_id"] = values["subject"].entity_id
    if "object" not in values:
        return columns
    value: ObjectValue = values["object"]
    written: dict[str, Any] = {}
    if value.entity is not None and value.entity.entity_id is not None:
        written = {"entity": show(Prefix.ENTITY, value.entity.entity_id)}
    elif value.items:
        written = {"list": list(value.items)}
    elif value.text:
        written = {"literal": value.text}
    return columns | {"object": written, "object_text": value.text}


def read_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of some columns; columns without a field are left out."""
    read = {name: _READ[name](value) if name in _READ else value for name, value in columns.items() if name in _FIELDS}
    if "subject_id" in columns:
        read["subject"] = Mention(text="", entity_id=columns["subject_id"])
    if "object" not in columns:
        return read
    written, text = columns["object"], columns.get("object_text", "")
    if "entity" in written:
        mention = Mention(text=text, entity_id=parse(Prefix.ENTITY, written["entity"]))
        return read | {"object": ObjectValue(entity=mention)}
    if "list" in written:
        return read | {"object": ObjectValue(items=tuple(written["list"]))}
    return read | {"object": ObjectValue(literal=written.get("literal") or text or None)}


def read_statement(row: Any, **changes: Any) -> Statement:
    """Return the statement of a row of the model, with some of its columns replaced."""
    return Statement(**read_columns({name: getattr(row, name) for name in _STATEMENT_COLUMNS} | changes))
