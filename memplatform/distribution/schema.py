"""Tables, constraints and triggers of a database, as values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UniqueRule:
    """A primary key or a unique constraint or index. `constraint` is empty for an index without a constraint."""

    name: str
    columns: tuple[str, ...]
    constraint: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A reference of one column; `rules` is what follows the columns in its definition, such as DEFERRABLE."""

    name: str
    table: str
    column: str
    target: str
    target_column: str
    rules: str = ""


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger; `definition` is the statement that creates it, `is_always` that it runs while rows are replicated."""

    name: str
    table: str
    definition: str
    is_always: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `kind` is what Citus knows about it: empty, "distributed", "reference" or "local"."""

    name: str
    columns: frozenset[str]
    primary_key: UniqueRule
    uniques: tuple[UniqueRule, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    policies: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a database by name, and the references between them."""

    tables: dict[str, Table]
    foreign_keys: tuple[ForeignKey, ...]
