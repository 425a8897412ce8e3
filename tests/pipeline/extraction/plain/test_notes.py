"""Notes: which messages leave one, and what it holds."""

from datetime import UTC, datetime

from apps.pipeline.core.enums import Grounding, MemoryType, Precision, Role
from apps.pipeline.extraction.plain.extractor import extract
from apps.pipeline.extraction.plain.notes import MOST_CHARACTERS, NOTE, SAID
from tests.pipeline.builders import turn
from tests.pipeline.extraction.plain.plain_helper import POLICY, note, session, told

_STORY = "My mother had her hip done in May and she has stayed with us in the spare room since then."
_NO_NOTE = (
    "What is the capital of Peru?",
    "Thanks a lot, that helps!",
    "ok",
    "",
    "I live in Lyon.",  # the table tells all of it
    "Hi! I live in Lyon.",
    "If I had a dog, I would call him Rex and walk him in the park every morning.",
    "Let's role-play: you are my boss. My daughter has asthma and my wife works nights at the hospital.",
    "Oh great, another form. I simply LOVE forms, my wife and I fill in three every night.",
    "My daughter has asthma and my wife works nights at the hospital. Just kidding.",
    f'She wrote me this: "{_STORY}"',
    f"> {_STORY}",
    f"```\n{_STORY}\n```",
    "Remember that summer in Rome?",
    "Do you remember that I asked about Rome?",
    "Remember that my PIN code is [secret:pin].",
)


def test_some_messages_leave_no_note() -> None:
    assert {text: found for text in _NO_NOTE if (found := note(text))} == {}


def test_a_note_quotes_the_user_and_tells_when() -> None:
    (found,) = told(_STORY)
    assert (found.type, found.predicate, found.tags) == (MemoryType.EVENT, SAID, (NOTE,))
    assert found.subject.is_speaker
    assert found.object.literal == found.evidence == _STORY
    assert found.content == f"User said: {_STORY}"
    assert (found.event_at, found.event_precision) == (datetime(2025, 6, 2, tzinfo=UTC), Precision.DAY)
    assert (found.grounding, found.stateful) == (Grounding.SUPPORTED, False)


def test_what_is_asked_to_be_remembered_is_kept() -> None:
    for text in (
        "Remember that the spare key is under the pot.",
        "Please remember: bins go out on odd weeks.",
        "Can you keep in mind that Ada hates bananas.",
        "don't forget that the boiler leaks",
    ):
        assert note(text) == text


def test_the_answered_question_stands_in_front() -> None:
    asked = "Good to hear. Which bank are you with?"
    assert note("The Sparkasse, since my first job in 2009", asked=asked) == (
        "asked: Which bank are you with? said: The Sparkasse, since my first job in 2009"
    )
    assert note(_STORY, asked="Good to hear.") == _STORY


def test_jokes_and_others_words_are_left_out_of_a_note() -> None:
    told_between = f'{_STORY} I wish I was a bird. Her doctor said "no stairs" for six weeks.'
    assert note(told_between) == f"{_STORY} … Her doctor said … for six weeks."


def test_a_note_is_short() -> None:
    sentences = [f"My cousin number {place} moved to Leeds in 2019 with her two sons." for place in range(30)]
    found = note(" ".join(sentences))
    assert 300 < len(found) <= MOST_CHARACTERS
    assert found.split(" … ")[0].startswith("My cousin number")
    assert len(note(f"My wife {'and my son ' * 100}moved to Leeds.")) <= MOST_CHARACTERS


def test_a_message_leaves_statements_and_at_most_one_note() -> None:
    found = told(f"I live in Lyon. {_STORY} My brother came back from the army in June and sleeps badly.")
    assert [each.predicate for each in found] == ["lives_in", SAID]


def test_only_users_outside_of_scenes_are_quoted() -> None:
    assert extract(turn=turn(_STORY, role=Role.ASSISTANT), policy=POLICY) == ()
    *before, last = session("Let's role-play: you are my nurse and I'm the patient.", _STORY)
    assert extract(turn=last, policy=POLICY, before=before) == ()
