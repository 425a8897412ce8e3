"""The static part of a prompt is split into sections completely."""

from typing import Any
from uuid import UUID

from apps.pipeline.core.enums import Status
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.prompts.extract import STATIC
from apps.pipeline.prompts.sections import ShownTurn, known_section, numbered, turns_section
from apps.traces.selectors import sections_of
from tests.pipeline.builders import candidate, known, turn


def test_sections_are_named_by_their_tags() -> None:
    text = 'Read this.\n\n<one>\nfirst\n</one>\n\n<two>\n<inner a="1">\nx\n</inner>\n</two>\n'
    assert sections_of(text) == {"introduction": "Read this.", "one": "first", "two": '<inner a="1">\nx\n</inner>'}


def test_a_text_without_sections_is_its_introduction() -> None:
    assert sections_of("Just words") == {"introduction": "Just words"}
    assert sections_of("") == {}


def test_the_extraction_prompt_has_its_sections() -> None:
    sections = sections_of(STATIC)
    wanted = ["output_schema", "type_rules", "quality_rules", "grounding_rules", "safety_rules", "examples"]
    assert [name for name in sections if name in wanted] == wanted
    assert sum(map(len, sections.values())) > 0.95 * len(STATIC)


def shown(content: str, number: int, **changes: Any) -> StoredMemory:
    source = turn(content)
    made = candidate(content, source=source, predicate=changes.pop("predicate", "says"))
    return known(made, memory_id=UUID(int=number), source=source, **changes)


def test_a_known_memory_is_a_line_with_its_id_date_predicate_and_mark() -> None:
    home = shown("User lives in Ghent.", 1, predicate="lives_in")
    pilot = shown("User is a pilot.", 2, predicate="works_as", status=Status.PENDING_REVIEW)
    swims = shown("User can swim.", 3, predicate="")
    assert known_section(entities={}, memories=numbered("m", [home, pilot, swims])) == (
        "<known_memories>\n"
        "m1 | 2025-06-02 | lives_in | User lives in Ghent.\n"
        "m2 | 2025-06-02 | unconfirmed | works_as | User is a pilot.\n"
        "m3 | 2025-06-02 | User can swim.\n"
        "</known_memories>"
    )


def test_the_topic_of_a_request_is_shown_with_its_turns() -> None:
    told = ShownTurn("t1", turn("I moved."), topic='trips & "travel"')
    assert ' topic="trips &amp; &quot;travel&quot;" new="true">' in turns_section(turns=[told], most_characters=100)
