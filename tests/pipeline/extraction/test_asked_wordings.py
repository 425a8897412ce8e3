"""What users ask in ordinary words: to forget something, not to store something, or nothing of the kind."""

import tomllib
from pathlib import Path
from uuid import UUID

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.conflict.forgetting import named_by
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import Reason
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.extraction import extract
from apps.pipeline.prefilter import pre_filter
from tests.pipeline.builders import candidate, draft_of, known, ports_of, resolved, turn

ROWS = tomllib.loads(Path(__file__).with_name("asked_wordings.toml").read_text(encoding="utf-8"))
PORTS = ports_of(InMemoryStore())
USER = UUID(int=50)


def _known(number: int, predicate: str, content: str) -> StoredMemory:
    told = turn(content)
    value = content.removesuffix(".").split()[-1]
    fact = candidate(content, source=told, predicate=predicate, value=value)
    return known(resolved(fact, subject_id=USER), memory_id=UUID(int=number), source=told)


KNOWN = {name: _known(100 + place, *row) for place, (name, row) in enumerate(ROWS["known"].items())}


def read(text: str) -> Draft:
    screened = pre_filter.run(draft_of([], turns=[turn(text)]))
    (draft,) = extract.run([screened], PORTS)
    return draft


def forgotten(draft: Draft) -> set[str]:
    names: set[str] = set()
    for request in draft.forget_requests:
        if request.names_all or request.points:
            names.add("all" if request.names_all else "last")
            continue
        sure, perhaps = named_by(request, list(KNOWN.values()), user=USER)
        names |= {name for name, each in KNOWN.items() if each in sure}
        names |= {f"{name}?" for name, each in KNOWN.items() if each in perhaps}
    return names


@pytest.mark.parametrize("row", ROWS["forget"], ids=lambda row: row["say"])
def test_a_request_names_what_is_known(row: dict[str, str]) -> None:
    assert forgotten(read(row["say"])) == {row["names"]}


@pytest.mark.parametrize("row", ROWS["not_to_store"], ids=lambda row: row["say"])
def test_what_is_not_to_be_stored_gives_no_candidate(row: dict[str, str]) -> None:
    draft = read(row["say"])
    keeps = row.get("keeps", "")
    assert [each.evidence for each in draft.candidates if each.evidence.strip(" .") not in keeps] == []
    assert [each.content for each in draft.turns] == ([keeps] if keeps else [])
    assert Reason.ASKED_NOT_TO_STORE in [each.reason for each in draft.drops]


@pytest.mark.parametrize("say", ROWS["nothing"]["say"])
def test_what_asks_nothing_of_the_kind(say: str) -> None:
    draft = read(say)
    assert forgotten(draft) == set()
    assert Reason.ASKED_NOT_TO_STORE not in [each.reason for each in draft.drops]


def test_a_later_wish_keeps_out_the_message_that_waits() -> None:
    policy_of = draft_of([], turns=[turn("I live in Lyon.", position=0)])
    later = draft_of([], turns=[turn("Don't save what I just said.", position=1)])
    drafts = extract.run([pre_filter.run(policy_of), pre_filter.run(later)], PORTS)
    assert [draft.candidates for draft in drafts] == [(), ()]
    assert [draft.forget_requests for draft in drafts] == [(), ()]
