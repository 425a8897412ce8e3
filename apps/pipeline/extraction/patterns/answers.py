"""Complete an answer by its question: "Where do you live?" – "In Lyon." means "I live in Lyon".

Only questions about the person are completed. "Do you want me to go on?" is about the conversation, and a "yes" to it
is no lasting statement.
"""

from collections.abc import Sequence

import re2

from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.patterns.sentences import sentences_of

MOST_WORDS = 10  # maximal length of an answer without a verb
_LEAD = (
    r"(?i)^(?:(?:and|so|ok|okay|well|great|sure|thanks|by the way|one more thing|just to be sure|just checking)[,:]? )*"
)

_YES = re2.compile(
    r"(?i)^(?:yes|yeah|yep|yup|yea|correct|exactly|right|indeed|true|please do|that's right|sure|of course|i do|i am|i have)\b[\s,.!]*"
    r"(?:(?:please|pls|do|i do|i am|i have|i can|that's right|correct|exactly|always|definitely)\b[\s,.!]*)*"
)
_NO = re2.compile(
    r"(?i)^(?:no|nope|nah|never|not at all|i don't|i'm not|i do not|i am not)\b[\s,.!]*(?:i don't|i'm not|never)?[\s,.!]*$"
)
# An answer with a subject is a statement already.
_STATES = re2.compile(
    r"(?i)^(?:i|i'm|im|i've|i'd|i'll|we|we're|we've|my|our|it|it's|its|that|that's|this|there|they|they're|he|he's|she|she's|you|the|what|how|why|who|where|when|which|can|could|do|does|is|are|please|let|let's|thanks|thank|ok|okay|not|maybe|hmm+|depends|both|none|nothing|neither|either|whatever|anything|sounds|good|great|nice|cool|perfect|later|skip|forget|just|don't|make|show|give|tell|use|write|add|go)\b"
)

# Verbs about the conversation, or about wishes for it.
_PASSING = r"(?:want|need|mind|see|know|think|mean|remember|agree|understand|notice|get|try|have (?:a question|time|an? (?:minute|example|error|file|link|screenshot))|wish|expect|hope|suggest|recommend|say|look|find|happen|feel|plan|intend)"
_REST = r"(?P<rest>[^?,;:.]{0,80})"
_WHERE = re2.compile(
    rf"{_LEAD}where (?P<be>do|are|did|were) you (?:currently |now |usually )?(?P<verb>[a-z]+){_REST}\?$"
)
_WHAT_IS_YOUR = re2.compile(
    rf"{_LEAD}(?:what(?:'s| is| are)|when(?:'s| is)|how (?:much|high|big|old|tall) is|which is|who(?:'s| is)|where is) your (?P<thing>[^?,;:.]{{2,40}})\?$"
)
_WHICH = re2.compile(
    rf"{_LEAD}(?:what|which)(?: (?:kind|type|sort|brand) of)? (?P<thing>[a-z][\w -]{{1,30}}?) do you (?P<verb>[a-z]+){_REST}\?$"
)
_WHAT = re2.compile(rf"{_LEAD}what do you (?:usually |normally |currently )?(?P<verb>[a-z]+){_REST}\?$")
_LIVING = re2.compile(rf"{_LEAD}what do you do(?: for (?:a living|work))?\?$|{_LEAD}what do you work as\?$")
_HOW_OLD = re2.compile(rf"{_LEAD}how old are you\?$")
_HOW_MANY = re2.compile(rf"{_LEAD}how many (?P<thing>[\w' -]{{2,40}}?) do you (?P<verb>have|own)\?$")
_DO_YOU = re2.compile(rf"{_LEAD}do you (?P<verb>[a-z]+)(?P<rest>[^?;:.]{{0,100}})\?$")
_ARE_YOU = re2.compile(rf"{_LEAD}are you (?P<rest>[^?;:.]{{3,80}})\?$")
_HAVE_YOU = re2.compile(rf"{_LEAD}(?P<verb>have|can) you (?P<rest>[^?;:.]{{3,80}})\?$")
_ALLERGIES = re2.compile(
    rf"{_LEAD}(?:do you have |are there |have you got |does anyone have )?any (?:known )?(?:food )?(?P<kind>allergies|allergy|intolerances)\b[^?;.]*\?$|{_LEAD}(?:what|which) (?:food )?(?P<what>allergies|intolerances) do you have\?$"
)
_OPENINGS = ((_ALLERGIES, "My allergies: "), (_HOW_OLD, "I am "), (_LIVING, "I'm "))
_ANYTHING = re2.compile(r"(?i)\b(?:anything|any [a-z]+|something)(?: (?:special|particular|in particular|else))?")
_OR = re2.compile(r"(?i) or ")
# "Shall I remember that you prefer tabs?", "So you live in Lyon now, right?"
_TO_CONFIRM = re2.compile(
    rf"{_LEAD}(?:(?:shall|should|may|can|could) i (?:remember|note(?: down)?|save|store|keep in mind|record|write down)(?: for (?:next time|the future|later))?(?: that)?|(?:so|then)?[, ]*do i understand (?:correctly|right)? ?that|just to confirm,?|is it (?:right|correct|true) that) (?P<claim>you(?:r|'re|'ve)? [^?;]{{3,120}})\?$"
)
_ECHO = re2.compile(
    r"(?i)^(?:so |then |ok,? |and )*(?P<claim>you(?:'re|'ve|r)? [^?;,]{3,80}?)(?:, (?:right|correct|yes|is that right|don't you|aren't you))?\?$"
)
_NO_CLAIM = re2.compile(
    r"(?i)^you(?:'d| (?:want|need|would|could|should|can|mean|might|said|mentioned|asked|know|see))\b"
)

_SINCE = re2.compile(r"(?i)^(?:since|for|every|about|twice|once|two|three|four|\d+) ")
_KNOWS_NOT = re2.compile(
    r"(?i)^(?:no (?:clue|idea)|dunno|don't know|not sure|who knows|god knows|can't remember|can't say|hard to say|it depends)\b"
)
_PREPOSITIONS = {"live": "in", "work": "at", "study": "at"}
_PREPOSITION = re2.compile(r"(?i)^(?:in|at|on|near|from|by|around|outside|close to|with|for|to|between|next to)\b")
_INSIDE = re2.compile(r"(?i)\b(?:you're|you've|you are|are you|you were|you|your|yours|yourself|i|me|my)\b")
_EXCHANGED = {
    "you're": "I'm", "you've": "I've", "you are": "I am", "are you": "am I", "you were": "I was", "you": "I", "your": "my",
    "yours": "mine", "yourself": "myself", "i": "you", "me": "you", "my": "your",
}  # fmt: skip


def question_before(earlier: Sequence[SourceTurn], *, turn: SourceTurn) -> str:
    """Return the last question of the assistant's turn directly before `turn`; "" if it asked nothing."""
    spoken = [each for each in earlier if each.role not in (Role.TOOL, Role.SYSTEM)]
    if not spoken or spoken[-1].role is not Role.ASSISTANT or turn.role is not Role.USER:
        return ""
    said = list(sentences_of(spoken[-1].content))
    return " ".join(said[-1].text.replace("’", "'").split()) if said and said[-1].asks else ""


def completed(answer: str, *, question: str) -> str | None:
    """Return the statement of an answer and its question; None if there is none or the answer is a statement already."""
    said = " ".join(answer.replace("’", "'").split()).strip(" .!~")
    if not question or not said or len(said.split()) > MOST_WORDS or said.endswith("?"):
        return None
    if yes := _YES.match(said):
        more = said[yes.end() :]
        if not more or not _SINCE.match(more):
            return _affirmed(question) if not more else _of_fragment(question, more)
        affirmed = _affirmed(question)
        return f"{affirmed} {more[:1].lower()}{more[1:]}" if affirmed else None
    if _NO.match(said):
        return _denied(question)
    return _of_fragment(question, said)


def _affirmed(question: str) -> str | None:
    if claim := _TO_CONFIRM.match(question) or _ECHO.match(question):
        told = claim.group("claim")
        return None if _NO_CLAIM.match(told) else _of_the_speaker(told)
    asked = _asked(question)
    if asked is None or _OR.search(asked) or _ANYTHING.search(asked):
        return None
    return f"I {asked}"


def _denied(question: str) -> str | None:
    """Return "I don't smoke" for a "no" to "do you smoke?"; "" for a "no" to one of several things."""
    asked = _asked(question)
    if asked is None or _OR.search(asked) or _ANYTHING.search(asked):
        return None
    verb, _, rest = asked.partition(" ")
    return f"I {verb} not {rest}" if verb in ("am", "can") else f"I don't {asked}"


def _asked(question: str) -> str | None:
    """Return a question as the person would state it: "are you vegan?" → "am vegan"."""
    if asked := _ARE_YOU.match(question):
        return f"am {_of_the_speaker(asked.group('rest'))}"
    if (asked := _HAVE_YOU.match(question)) and asked.group("verb").lower() == "can":
        return f"can {_of_the_speaker(asked.group('rest'))}"
    asked = _DO_YOU.match(question)
    if asked is None or _is_passing(asked.group("verb"), asked.group("rest")):
        return None
    return f"{asked.group('verb')}{_of_the_speaker(asked.group('rest'))}"


def _of_fragment(question: str, said: str) -> str | None:
    if _STATES.match(said) or _KNOWS_NOT.match(said):
        return None
    if _HOW_OLD.match(question) and said.isdigit():
        return f"I am {said} years old"
    opening = next((words for expression, words in _OPENINGS if expression.match(question)), "")
    return f"{opening}{said}" if opening else _of_open_question(question, said)


def _of_open_question(question: str, said: str) -> str | None:
    if where := _WHERE.match(question):
        return _placed(where.group("be").lower(), where.group("verb").lower(), where.group("rest"), said)
    if owned := _WHAT_IS_YOUR.match(question):
        return f"My {_of_the_speaker(owned.group('thing'))} is {said}"
    if many := _HOW_MANY.match(question):
        return f"I {many.group('verb')} {said} {many.group('thing')}"
    if asked := _WHICH.match(question) or _WHAT.match(question):
        verb, rest = asked.group("verb"), asked.group("rest")
        return None if _is_passing(verb, rest) else f"I {verb} {said}{_of_the_speaker(rest)}"
    return _chosen(question, said)


def _chosen(question: str, said: str) -> str | None:
    """Replace the open part of a question by the answer: "anything", or several alternatives."""
    asked = _asked(question)
    if asked is None:
        return None
    if _ANYTHING.search(asked):
        said = f"{said[:1].lower()}{said[1:]}"
        return f"I {_ANYTHING.sub(lambda _: said, asked, count=1)}"
    head, found, last = asked.rpartition(" or ")
    if found and last.strip().lower() == said.lower():
        return f"I {head.partition(' ')[0]} {said}"
    return f"I {head.strip(' ,')}" if found and head.lower().endswith(f" {said.lower()}") else None


def _placed(auxiliary: str, verb: str, rest: str, said: str) -> str | None:
    if auxiliary in ("did", "were"):
        return None
    if _PREPOSITION.match(said):
        said = f"{said[:1].lower()}{said[1:]}".removeprefix(f"{verb} ")
    elif verb in _PREPOSITIONS and not rest.strip():
        said = f"{_PREPOSITIONS[verb]} {said}"
    return f"I am {verb} {said}" if auxiliary == "are" else f"I {verb}{_of_the_speaker(rest)} {said}"


def _is_passing(verb: str, rest: str) -> bool:
    return re2.match(rf"(?i)^{_PASSING}\b", f"{verb}{rest}") is not None


def _of_the_speaker(text: str) -> str:
    """Exchange first and second person: "you use your bike" → "I use my bike"."""
    return str(_INSIDE.sub(lambda found: _EXCHANGED[found.group().lower()], text))
