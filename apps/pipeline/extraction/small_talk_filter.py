"""The filter for small talk: turns that tell nothing by the gate, which the model is not asked about.

In case of doubt the model is asked: about long turns, answers to a question, and languages that the gate does not know.
"""

import re2

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain import gate, table
from apps.pipeline.extraction.plain.own_sentences import sentences_in
from apps.pipeline.lexicon.language import is_english

MOST_CHARACTERS = 600  # longer turns are not small talk
# Far below that of a note, as a turn that is left out here is lost: of 788 messages by authors outside the training 5 %
# are left out, and none of those that tell a fact.
LEAST_SCORE = 0.1
# What is below waits for the next request; nothing is lost by it.
PROBABLE_SCORE = 0.7
LEAST_WORDS = 3  # of a statement: "thanks a lot" is asked about as well, which costs less than a lost fact
# A wish how to be answered has few words that the gate knows.
_WISH = re2.compile(
    r"(?i)^\W*(?:please )?(?:don['’]?t|do not|never|always|be|keep|use|stop|avoid|prefer|call me|from now on)\b"
)


def telling(draft: Draft) -> Draft:
    """Return a draft with the turns that are not small talk."""
    if not draft.policy.extraction.skip_idle_turns:
        return draft
    said = {turn.position: turn for turn in draft.request.session_turns}
    kept = (turn for turn in draft.turns if tells_something(turn, before=said.get(turn.position - 1)))
    return draft.evolve(turns=tuple(kept))


def probably_tells(text: str) -> bool:
    """Return True if a text probably contains something worth remembering.

    Questions probably don't, whatever their language; other sentences in languages that the gate does not know may.
    """
    if len(text) > MOST_CHARACTERS:
        return True
    sentences = [each for each in sentences_in(text) if not each.rstrip().endswith("?")]
    if not is_english(text):
        return bool(sentences)
    return any(table.read(each).matches or gate.score(each) >= PROBABLE_SCORE for each in sentences)


def tells_something(turn: SourceTurn, *, before: SourceTurn | None) -> bool:
    """Return True if the words of a turn may contain something worth remembering; True in case of doubt.

    `before` is the previous turn in the session: "yes" to a question contains a statement.
    """
    text = turn.content
    if len(text) > MOST_CHARACTERS or (before is not None and "?" in before.content) or not is_english(text):
        return True
    sentences = tuple(sentences_in(text))
    for each in sentences:
        asks = gate.ASKS in gate.features_of(each) or each.endswith("?")
        is_statement = not asks and len(each.split()) >= LEAST_WORDS
        if is_statement or gate.score(each) >= LEAST_SCORE or _WISH.search(each):
            return True
    return not sentences
