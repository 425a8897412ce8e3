"""The filter for small talk: turns without statements, which the model is not asked about.

A closed list: a turn is small talk if all its sentences are. Sentences that match no expression or are in another
language than English are not small talk; nor are turns with code, quotes, numbers, days, wishes how to be answered, or
anything that the patterns find.
"""

from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction import patterns, small_talk_phrases
from apps.pipeline.extraction.patterns import speech_act
from apps.pipeline.extraction.patterns.sentences import sentences_of
from apps.pipeline.extraction.windows import TurnsToExtract

MOST_CHARACTERS = 600  # longer turns are not small talk


def telling(asked: TurnsToExtract) -> TurnsToExtract:
    """Return the turns that are not small talk."""
    policy = asked.draft.policy.extraction
    if not policy.skip_idle_turns:
        return asked
    request = asked.draft.request
    said = {turn.position: turn for turn in (*request.earlier_turns, *request.turns)}
    kept = (turn for turn in asked.turns if _may_tell(turn, said.get(turn.position - 1), policy))
    return TurnsToExtract(draft=asked.draft, turns=tuple(kept))


def _may_tell(turn: SourceTurn, before: SourceTurn | None, policy: ExtractionPolicy) -> bool:
    try:
        return tells_something(turn, before=before) or bool(patterns.extract(turn=turn, policy=policy))
    except Exception:  # noqa: BLE001 - a text that the rules can't read goes to the model
        return True


def tells_something(turn: SourceTurn, *, before: SourceTurn | None) -> bool:
    """Return True if the words of a turn may contain something worth remembering; True in case of doubt.

    `before` is the previous turn in the session: "yes" to a question contains a statement, and so does a single name,
    because the pre-filter has dropped single words that answer nothing.
    """
    text = turn.content
    if len(text) > MOST_CHARACTERS or small_talk_phrases.CARRIES.search(text):
        return True
    if before is not None and "?" in before.content and small_talk_phrases.ANSWER.match(text):
        return True
    said = [(_without_openers(sentence.text), sentence.asks) for sentence in sentences_of(text)]
    rest = [(words, asks) for words, asks in said if words]
    return not rest or not all(_is_idle(words, asks=asks) for words, asks in rest)


def _is_idle(said: str, *, asks: bool) -> bool:
    if small_talk_phrases.SELF.search(small_talk_phrases.TALK.sub("", said)):
        return False
    if speech_act.speech_act_of(said)[0] is not SpeechAct.ASSERTED:
        return False
    if asks:
        return small_talk_phrases.QUESTION.match(said) is not None
    return any(kind.match(said) for kind in (small_talk_phrases.TALK, *small_talk_phrases.IDLE))


def _without_openers(text: str) -> str:
    """Remove greetings, thanks and interjections, and the name of the person addressed."""
    said = text
    for _ in range(4):
        cut = small_talk_phrases.NAME_CALLED.sub("", small_talk_phrases.OPENERS.sub("", said)).strip(" ,.!?~…:;()-–—")
        if cut == said:
            break
        said = cut
    return said if any(map(str.isalnum, said)) else ""
