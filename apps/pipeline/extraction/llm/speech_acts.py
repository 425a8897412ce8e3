"""Speech acts of quotes: rules that lower what a model takes for asserted, and never overrule a plain statement."""

import re
from collections.abc import Iterator

from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.extraction.llm.evidence import holds
from apps.pipeline.extraction.patterns.sentences import sentences_of
from apps.pipeline.extraction.patterns.speech_act import is_mockery, is_rhetorical, speech_act_of

# "I'm actually a nurse" corrects somebody; only before a request does it play a part: "…, so explain it to me".
_CORRECTS = re.compile(r"\bI(?:'m| am) actually\b", re.IGNORECASE)
_GOES_ON_TO_ASK = re.compile(r",? so (?!(?:I|we|my|our|that)\b)|\?", re.IGNORECASE)
_MAIL_HEADER = re.compile(
    r"^[ \t>*]*(?:From|To|Cc|Sent|Date|Subject|Von|An|Gesendet|Betreff|De|À|Objet|Para|Asunto)[ \t]?:.*$",
    re.MULTILINE | re.IGNORECASE,
)
_MAIL_BEGINS = re.compile(
    r"^[ \t]*(?:-{2,} ?(?:original|forwarded) message.*|.{0,80}\bwrote ?:|.{0,80}\bschrieb[^\n]{0,60}:)[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_OTHER_ROLE = re.compile(
    r"^[ \t]*(?:[\[<|*#]*[ \t]*(?:system|assistant|developer|tool)\b[^\w\n:]*:|<\|.*?\|>).*$",
    re.MULTILINE | re.IGNORECASE,
)
_SINGLE_QUOTES = re.compile(
    r"\b(?:said|says|told \w+|wrote|writes|asked|replied|texted|goes)\b[,:]? ?['‘](?P<speech>.+?)['’](?=[\s.,!?)]|$)",
    re.IGNORECASE,
)


def speech_act_of_quote(quote: str, *, text: str) -> SpeechAct:
    """Return how the words of a turn are meant, as far as their surroundings show; ASSERTED where nothing does.

    QUOTED are words that stand only in code, quoted lines, quoted speech, a pasted mail, or under another role.
    """
    if not holds((quote,), own_words_of(text)) and holds((quote,), text):
        return SpeechAct.QUOTED
    return _meant(next(_sentences_with(quote, text), quote).replace("’", "'"))


def own_words_of(text: str) -> str:
    """Return what a speaker says in their own words, without what they have pasted or quote."""
    begins = [each.start() for each in _MAIL_BEGINS.finditer(text)]
    headers = [each.start() for each in _MAIL_HEADER.finditer(text)]
    if len(headers) > 1:
        begins.append(headers[0])
    own = text[: min(begins)] if begins else text
    for others in (_OTHER_ROLE, _SINGLE_QUOTES):
        own = others.sub(" ", own)
    return " ".join(sentence.text for sentence in sentences_of(own))


def _sentences_with(quote: str, text: str) -> Iterator[str]:
    return (each.text for each in sentences_of(text) if holds((quote,), each.text))


def _meant(sentence: str) -> SpeechAct:
    if is_mockery(sentence):
        return SpeechAct.SARCASM
    ruled, _ = speech_act_of(sentence)
    if ruled is SpeechAct.HYPOTHETICAL and is_rhetorical(sentence) and _CORRECTS.search(sentence):
        return SpeechAct.HYPOTHETICAL if _GOES_ON_TO_ASK.search(sentence) else SpeechAct.ASSERTED
    return ruled or SpeechAct.ASSERTED
