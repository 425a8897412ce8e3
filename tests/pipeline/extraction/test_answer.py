"""Answers of all kinds: the objects in them, and how each answer is counted."""

import json

import pytest

from apps.pipeline.core.model_calls import AnswerKind, StopReason
from apps.pipeline.extraction.llm.answer import MOST_CHARACTERS, MOST_OBJECTS, parse
from tests.pipeline.answers import answer, listing

ONE = {"type": "fact", "content": "User likes tea."}
TWO = {"type": "fact", "content": "User likes jam.", "tags": []}
WHOLE = json.dumps({"memories": [ONE, TWO]})
EMPTY = '{"memories": []}'


@pytest.mark.parametrize(
    ("text", "kind", "objects"),
    [
        (WHOLE, AnswerKind.MEMORIES, 2),
        (f"```json\n{WHOLE}\n```", AnswerKind.MEMORIES, 2),
        (f"Here is what {{I}} found [2]:\n{WHOLE}\nAnything else?", AnswerKind.MEMORIES, 2),
        (json.dumps([ONE, TWO]), AnswerKind.MEMORIES, 2),
        (json.dumps(ONE), AnswerKind.MEMORIES, 1),
        (f'{{"memories": [], "memories": [{json.dumps(ONE)}]}}', AnswerKind.MEMORIES, 1),
        (json.dumps({"thoughts": "none", "memories": [ONE]}), AnswerKind.MEMORIES, 1),
        (json.dumps({"memories": [ONE, 5, None, "x", [ONE]]}), AnswerKind.MEMORIES, 5),
        ('{"memories": [NaN, Infinity]}', AnswerKind.MEMORIES, 2),
        ('{"memories": []}', AnswerKind.EMPTY, 0),
        ("Nothing here: []", AnswerKind.EMPTY, 0),
        ("", AnswerKind.UNPARSABLE, 0),
        ("There is nothing to remember.", AnswerKind.UNPARSABLE, 0),
        ('{"memories": null}', AnswerKind.UNPARSABLE, 0),
        ('{"facts": [5]}', AnswerKind.UNPARSABLE, 0),
        (json.dumps({"facts": [ONE, TWO]}), AnswerKind.MEMORIES, 2),
        (json.dumps({"memories": ONE}), AnswerKind.MEMORIES, 1),
        (WHOLE.replace("]}]}", "],}, ] ,}"), AnswerKind.MEMORIES, 2),
        (WHOLE.replace("[", "[ // the first, it's about tea\n", 1), AnswerKind.MEMORIES, 2),
        (WHOLE.replace("likes tea", "likes\n\ttea"), AnswerKind.MEMORIES, 2),
        (WHOLE.replace("likes tea", "likes http://tea.example, ] /* and */ more"), AnswerKind.MEMORIES, 2),
        (f'Draft: {{"memories": []}}\nFinal answer: {WHOLE}', AnswerKind.MEMORIES, 2),
        (f"Draft: {WHOLE}\nNone of them lasts, so: {EMPTY}", AnswerKind.EMPTY, 0),
        (f"{WHOLE}\nI left the list of discards empty: []", AnswerKind.MEMORIES, 2),
        (f"<think>I could say {EMPTY} here.</think>{WHOLE}", AnswerKind.MEMORIES, 2),
        (f"I could say {WHOLE}, but no.\n</think>\n{EMPTY}", AnswerKind.EMPTY, 0),
        (f'<think>{{broken: ["x"</think>\n[{json.dumps(ONE)}]', AnswerKind.MEMORIES, 1),
        (f'{{"memories": [{json.dumps(ONE)}, oops, again:\n{WHOLE}', AnswerKind.MEMORIES, 2),
        (WHOLE[:-3], AnswerKind.UNPARSABLE, 0),
        (WHOLE.replace(",", ";"), AnswerKind.UNPARSABLE, 0),
        ("[" * 100_000, AnswerKind.UNPARSABLE, 0),
        ("[" * 150 + "]" * 150 + "\n" + WHOLE, AnswerKind.MEMORIES, 2),
        ('{"memories": [' + "9" * 10_000 + "]}", AnswerKind.UNPARSABLE, 0),
    ],
)
def test_what_is_read(text: str, kind: AnswerKind, objects: int) -> None:
    found = parse(answer(text))
    assert (found.kind, len(found.objects)) == (kind, objects)


def test_ids_beside_the_list_are_read() -> None:
    found = parse(answer('{"ends": ["M3 ", 4, {"id": "m4", "on": "2024-03-08"}, {"on": 5}], "forget": ["m1"]}'))
    ends = (("m3", ""), ("m4", "2024-03-08"))
    assert (found.kind, found.ends, found.forget) == (AnswerKind.EMPTY, ends, ("m1",))


@pytest.mark.parametrize("levels", [150, 5_000])
def test_what_is_nested_too_deep_is_no_memory(levels: int) -> None:
    """Interpreters differ in how much they read."""
    deep = "[" * levels + "]" * levels
    found = parse(answer(f'{{"memories": [{json.dumps(ONE)}, {deep}]}}'))
    assert found.objects == (ONE, None) or (levels == 5_000 and not found.objects)


@pytest.mark.parametrize("cut", range(20, len(WHOLE) - 2))
def test_of_an_answer_that_was_cut_off_the_last_object_is_not_taken(cut: int) -> None:
    found = parse(answer(WHOLE[:cut], stop=StopReason.TRUNCATED))
    assert found.kind in (AnswerKind.TRUNCATED, AnswerKind.EMPTY)
    assert found.objects in ((), (ONE,))
    assert TWO not in found.objects


def test_an_answer_that_is_whole_though_it_reached_the_limit() -> None:
    assert parse(answer(WHOLE, stop=StopReason.TRUNCATED)).objects == (ONE, TWO)


@pytest.mark.parametrize("text", ["", "I can't", WHOLE])
def test_a_refusal_is_one_whatever_it_says(text: str) -> None:
    assert parse(answer(text, stop=StopReason.REFUSED)).kind is AnswerKind.REFUSED


@pytest.mark.parametrize("unit", ["/*", '\\"', '"', "//", ", ", "{", '["', '{"a":', "</think>", "[{", "/"])
def test_long_broken_text_holds_nothing(unit: str) -> None:
    """A quadratic scan of this much text would take many minutes."""
    assert not parse(answer("{" + unit * (MOST_CHARACTERS // len(unit)))).objects


def test_of_ten_thousand_objects_the_first_are_looked_at() -> None:
    found = parse(answer(listing(*([ONE] * 10_000))))
    assert len(found.objects) == MOST_OBJECTS
    assert found.kind in (AnswerKind.MEMORIES, AnswerKind.TRUNCATED)
