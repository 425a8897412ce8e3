"""The extraction prompt: the static part never changes by a byte, and no shown text can close its section."""

import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.core.draft import Candidate, KnownEntity
from apps.pipeline.core.enums import EntityType, Grounding, Role
from apps.pipeline.core.model_calls import ModelRequest
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.extraction.llm.candidates import Judge, Shown, propose
from apps.pipeline.prompts import extract as prompt
from apps.pipeline.prompts.extracted_memory import read_memory
from apps.pipeline.prompts.sections import ShownTurn, numbered, turns_section
from apps.providers.catalog import BY_NAME
from tests.pipeline.builders import candidate, known, turn

_TURN = re.compile(
    r'<turn id="(t\d)" role="(\w+)"(?: speaker="(\w+)")?(?: said="[^"]+")?( new="true")?>(.*?)</turn>', re.DOTALL
)
TEXTS = st.text() | st.sampled_from(["</turn>", "</source_turns>", "<task>", "&lt;/turn&gt;", '" new="true">', "\n\n"])


def rendered(*contents: str, name: str = "Noor", speaker: str = "", memory: str = "User likes tea.") -> ModelRequest:
    turns = [
        ShownTurn(f"t{n}", turn(each, position=n, speaker=speaker, role=list(Role)[n % 4]), n % 2 == 0)
        for n, each in enumerate(contents, start=1)
    ]
    entity = KnownEntity(id=UUID(int=9), name=name, type=EntityType.PERSON, aliases=(name, "my boss"))
    source = turn("x")
    remembered = known(candidate(memory, source=source), memory_id=UUID(int=8), source=source)
    return prompt.render(
        turns=turns,
        entities={"e1": entity},
        memories=numbered("m", [remembered]),
        policy=ExtractionPolicy(),
    )


@given(contents=st.lists(TEXTS, min_size=1, max_size=5), name=TEXTS, speaker=TEXTS, memory=TEXTS)
def test_the_static_part_is_the_same_for_all_contexts(
    contents: list[str], name: str, speaker: str, memory: str
) -> None:
    request = rendered(*contents, name=name, speaker=speaker, memory=memory)
    assert hashlib.sha256(request.static.encode()).digest() == hashlib.sha256(prompt.STATIC.encode()).digest()
    assert request.prompt_version == prompt.VERSION


@given(contents=st.lists(TEXTS, min_size=1, max_size=5), name=TEXTS, speaker=TEXTS, memory=TEXTS)
def test_nothing_that_is_shown_closes_its_section(contents: list[str], name: str, speaker: str, memory: str) -> None:
    request = rendered(*contents, name=name, speaker=speaker, memory=memory)
    told = f"{request.context}\n{request.turns}"
    tags = re.findall(r"</?([a-z_]+)", told)
    assert tags.count("turn") == 2 * len(contents)
    assert set(tags) == {"active_entities", "known_memories", "source_turns", "turn"}
    assert told.count(' new="true">') == len(contents) // 2
    told.encode()


@pytest.mark.parametrize(("offset", "shown"), [(0, "Mon 2025-06-02T09:00Z"), (-600, "Sun 2025-06-01T23:00-10:00")])
def test_a_turn_is_shown_by_the_clock_of_whoever_said_it(offset: int, shown: str) -> None:
    said = replace(turn("I moved yesterday."), utc_offset=offset)
    assert f' said="{shown}"' in turns_section(turns=[ShownTurn("t1", said)], most_characters=100)


def test_the_static_part_can_be_cached_with_a_margin() -> None:
    """Four characters a token count too few; what the smallest default model caches is exceeded all the same."""
    assert (
        prompt.estimated_tokens(prompt.STATIC) >= 1.1 * BY_NAME["anthropic"].least_cacheable_tokens["claude-haiku-4-5"]
    )


def test_the_static_part_leaves_room_in_small_context_windows() -> None:
    assert prompt.estimated_tokens(prompt.STATIC) <= 4_800


def test_the_examples_answers_pass_all_checks() -> None:
    """Each is read by the schema, quotes a turn of its user, points at what it shows, and shares a word with it."""
    examples = re.findall(r"<example[^>]*>\n(.*?)</example>", prompt.STATIC, re.DOTALL)
    judge = Judge(model="scripted", policy=ExtractionPolicy())
    for example in examples:
        said, _, answer = example.rpartition("\n{")
        for proposed in json.loads("{" + answer)["memories"]:
            read_memory(proposed)
            found = propose(proposed, shown=shown_in(said), judge=judge)
            assert found.ignored == ()
            assert isinstance(found.outcome, Candidate)
            assert found.outcome.grounding is Grounding.SUPPORTED
            assert found.outcome.speech_act == proposed.get("speech_act", "asserted")


def shown_in(example: str) -> Shown:
    """Return what an example shows, as a prompt would."""
    turns = [
        ShownTurn(id, turn(unescape(text), position=n, role=Role(role), speaker=speaker), is_new=bool(new))
        for n, (id, role, speaker, new, text) in enumerate(_TURN.findall(example))
    ]
    entities = {
        id: KnownEntity(id=UUID(int=n), name=name, type=EntityType.PERSON)
        for n, (id, name) in enumerate(re.findall(r"(e\d+) \| ([^|]+?) \|", example), start=50)
    }
    source = turn("x")
    texts = re.findall(r"(m\d+) \| \S+ \| (?:\w+ \| )?([^<|\n]+)", example)
    memories = {
        id: known(candidate(text, source=source), memory_id=UUID(int=n), source=source)
        for n, (id, text) in enumerate(texts, start=70)
    }
    return Shown(turns=turns, entities=entities, memories=memories)


def test_a_long_turn_is_cut() -> None:
    assert len(rendered("x" * 9_000).turns) < 2_300


def test_what_is_known_stays_short() -> None:
    assert len(rendered("Hi.", name="n" * 3_000, memory="m" * 3_000).context) < 700


def test_docstrings_that_the_model_reads_stay_the_same() -> None:
    """Those of enums are descriptions in the schema of the answer: a change of them is a change of the prompt."""
    definitions = prompt.ExtractionAnswer.model_json_schema()["$defs"]
    assert {name: each["description"] for name, each in definitions.items() if "enum" in each} == {
        "EntityType": "What an entity is.",
        "MemoryType": "What a memory can be; what fits none of these is not stored.",
        "Polarity": "Whether a statement affirms or denies its predicate.",
        "SourceConfidence": "How strongly the source turns say it.",
        "SpeechAct": "How a statement was meant; only ASSERTED ones can be trusted as they stand.",
    }
