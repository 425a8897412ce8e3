"""Convert rows of an export to rows of this database."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Field, ForeignKey, JSONField, Model, UUIDField

from apps.imports.readers.entries import MOST_CONTENT
from apps.imports.transfers.identifier_map import IdentifierMap
from apps.imports.transfers.project_tables import TransferTable
from apps.imports.transfers.row_blocks import stored_texts
from apps.items.models import StoredItem
from apps.memories.codec import read_statement
from apps.memories.models import EntityAlias, EntityChange, Memory
from apps.pipeline.core.canonical import canonical_hash, canonical_text, salted_hash
from apps.traces.models import ConfigurationVersion, PreFilterRule
from apps.traces.policies import active_policy

MOST_TEXT = 2 * MOST_CONTENT  # characters: a placeholder may be longer than what it replaces
_IN_CAPITALS = re.compile(r"(?:[A-Z][a-z]+)+")
_PERSON = re.compile(r"person:(\d+)")
_ACTORS = frozenset({"actor", "undone_by", "author", "labeller"})  # columns that name who did something


class BadRow(ValueError):
    """A row does not fit its table."""


def in_snake_case(value: Any) -> Any:
    """Return a text, or the keys of JSON, as enumerations are written: servers before wrote some as "NotSupported"."""
    if isinstance(value, dict):
        return {
            in_snake_case(name): in_snake_case(each) if isinstance(each, dict) else each for name, each in value.items()
        }
    is_former = isinstance(value, str) and _IN_CAPITALS.fullmatch(value)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", value).lower() if is_former else value


class RowLoader:
    """Makes rows of one project, and of one end user at a time, from those of an export."""

    def __init__(self, *, project_id: UUID, identifiers: IdentifierMap) -> None:
        self._project_id = project_id
        self._ids = identifiers
        self._redaction = active_policy(project_id=project_id).redaction

    def follow_policy(self) -> None:
        """Redact by the policy that is active now."""
        self._redaction = active_policy(project_id=self._project_id).redaction

    def row(self, table: TransferTable, given: dict[str, Any], *, end_user_id: UUID | None) -> Model:
        """Return a row, not saved. Raises BadRow."""
        chosen = [field.attname for field in _given(table, given) if field.flatchoices]
        given = {**given, **{name: in_snake_case(given[name]) for name in chosen}}
        values = {field.attname: self._value(table, field, given[field.attname]) for field in _given(table, given)}
        names = {field.name for field in table.model._meta.concrete_fields}
        if "project" in names:
            values["project_id"] = self._project_id
        if "end_user" in names:
            values["end_user_id"] = end_user_id
        made = table.model(**values)
        try:
            self._check(table, given, made)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadRow(f"{table.kind} with other values than are known") from error
        return made

    def _check(self, table: TransferTable, given: dict[str, Any], made: Model) -> None:
        """Read a row as the product reads it, and set what follows from its values. Raises ValueError and others."""
        if isinstance(made, ConfigurationVersion):
            made.as_policy()
        elif isinstance(made, PreFilterRule):
            made.as_rule()
        elif isinstance(made, Memory):
            made.canonical_hash = self._hash(table, given, made)
        elif isinstance(made, EntityAlias | EntityChange) and made.alias != given["alias"]:
            made.folded = canonical_text(made.alias)[:255]

    def words(self, table: TransferTable, field: "Field[Any, Any]", value: Any) -> Any:
        """Return a column of texts as the project stores it. Raises BadRow."""
        redacts = self._redaction.items or table.model is not StoredItem
        try:
            told = stored_texts(field, value, policy=self._redaction, redacts=redacts)
        except TypeError as error:
            raise BadRow(f"{field.attname} does not fit") from error
        if field.attname == "content" and len(told) > MOST_TEXT:
            raise BadRow(f"{field.attname} is longer than {MOST_TEXT:,} characters")
        return told

    def _value(self, table: TransferTable, field: "Field[Any, Any]", value: Any) -> Any:
        """Return the value of a column. Raises BadRow."""
        if value is None:
            return None
        if field.attname in table.texts:
            value = self.words(table, field, value)
        if isinstance(field, JSONField):
            return self._ids.json(value) if field.attname in table.identifying else value
        return self._plain(field, value)

    def _plain(self, field: "Field[Any, Any]", value: Any) -> Any:
        """Return the value of a column that is no JSON. Raises BadRow."""
        try:
            read = (field.target_field if isinstance(field, ForeignKey) else field).to_python(value)
        except (ValidationError, TypeError, ValueError) as error:
            raise BadRow(f"{field.attname} does not fit") from error
        if field.flatchoices and read and read not in dict(field.flatchoices):
            raise BadRow(f"{field.attname} has a value that is not known")
        if isinstance(field, ForeignKey) and not self._ids.holds(read, model=field.related_model):
            raise BadRow(f"{field.attname} refers to a row that the file does not hold")
        if isinstance(field, UUIDField | ForeignKey):
            return self._ids.new(read)
        if field.attname in _ACTORS and isinstance(read, str):
            return self._ids.text(_PERSON.sub(r"person:elsewhere-\1", read))
        return read

    def _hash(self, table: TransferTable, given: dict[str, Any], made: Memory) -> str:
        """Return the hash of a memory, which is that of its entities' identifiers; a salted one stays salted."""
        former = Memory(**{field.attname: given[field.attname] for field in _given(table, given)})
        former.subject_id = UUID(given["subject_id"]) if given.get("subject_id") else None
        hashed = canonical_hash(read_statement(made))
        is_redacted = made.content != former.content or made.object_text != former.object_text
        if canonical_hash(read_statement(former)) == given.get("canonical_hash") and not is_redacted:
            return hashed
        return salted_hash(hashed, memory_id=made.pk)


def _given(table: TransferTable, given: dict[str, Any]) -> Iterator["Field[Any, Any]"]:
    """Yield the columns that a row has; one that it lacks was added by a later version, and gets its default."""
    return (field for field in table.fields if field.attname in given)


def identifier_of(row: dict[str, Any]) -> UUID:
    """Return the identifier of a row. Raises BadRow."""
    try:
        return UUID(row["id"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRow("has no id") from error
