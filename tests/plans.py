"""What a statement's plan says of the rows that it read."""

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection


def plan(sql: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of a statement's plan, with the rows that each has read; the statement is carried out."""
    with connection.cursor() as cursor:
        cursor.execute(f"explain (analyze, format json) {sql}", values)
        (answer,) = cursor.fetchone()
    document = json.loads(answer) if isinstance(answer, str) else answer
    return list(_nodes(document[0]["Plan"]))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def rows_read(nodes: list[dict[str, Any]], table: str) -> float:
    """Return how many rows of a table came out of it or were filtered away."""
    reads = [node for node in nodes if node.get("Relation Name") == table and "Scan" in node["Node Type"]]
    assert reads
    return sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in reads)


def reads_of(nodes: list[dict[str, Any]], index: str) -> float:
    """Return how many rows an index gave, whether they were then kept or not."""
    uses = [node for node in nodes if node.get("Index Name") == index]
    return sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in uses)


def indexes(nodes: list[dict[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in nodes if "Index Name" in node}
