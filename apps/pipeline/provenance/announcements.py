"""Texts announced by a clause: "My landlord wrote me: …", "Translate this: …", "What does this mail want?"."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import re2

from apps.pipeline.provenance.labels import OWN_LABELS
from apps.pipeline.provenance.orders import orders_agent
from apps.pipeline.provenance.quotations import end_of_quotation
from apps.pipeline.provenance.resumption import end_of_paste
from apps.pipeline.provenance.spans import (
    HIDDEN,
    QUOTATION_MARKS,
    ForeignKind,
    ForeignSpan,
    Line,
    hide,
    line_at,
    lines_of,
    paragraph_end,
)

LONGEST_HEAD = 160  # maximal length of an announcing clause
MOST_WORDS_OF_SOURCE = 4  # "SMS from Eve", "Quote of the day"
MOST_COLONS = 100  # texts with more colons are data
_COLON = re2.compile(r":(?:\*\*)?(?:[ \t]|$|\n|[\"“”„«'‘‚])")
_CLAUSE_ENDS = ".!?…\n;"
_TEXT_BEGINS = re2.compile(r"[^ \t\n*]")
_TEXT = (
    r"(?:essay|(?:e-?)?mails?|letters?|texts?|drafts?|paragraphs?|sentences?|story|poem|articles?|messages?|post|posts|logs?|transcripts?|reviews?|abstract|reports?|chapter|bio|passage"
    r"|dialogue|conversation|chats?|excerpt|documents?|summary|quotes?|lyrics|caption|tweets?|speech|resume|cv|answers?|outputs?|responses?|results?|(?:web ?)?pages?|(?:web ?)?sites?|readme|tickets?|comments?"
    r"|notes|snippets?|files?|pdf|memo|notice|ad|advert|listing|description|instructions?|prompt|blog|nachricht(?:en)?|briefe?|artikel|seite|ausgabe|webseite|kommentar|courriel|lettre|texte|page|réponse|note de service)"
)
_SPEAKS = re2.compile(
    r"(?i)\b(?:wrote|writes|written|replied|answered|texted|messaged|e-?mailed|posted|said|says|saying|sent|told|tells|asked|claims|claimed|stated|states|reads|goes|returned|returns|printed|prints|shows"
    r"|schrieb|schreibt|geschrieben|sagte|sagt|gesagt|meinte|meint|antwortete|a écrit|a dit|dit|répond|escribió|dijo)\b|\b(?:il|elle|on|\pL+) écrit\b"
)
# "As I said:", "what I told him:": the speaker's own words.
_SPEAKS_SELF = re2.compile(
    r"(?i)\b(?:i|we|i['’]ve|ich|wir|je|j['’]ai)(?: \w+)? (?:wrote|said|say|told|replied|answered|texted|mentioned|sagte|schrieb|dit|sent|asked|posted)\b[^:]*$"
)
_WORKS_ON = (
    r"(?:translate|summari[sz]e|rewrite|re-?phrase|paraphrase|proof-?read|correct|edit|improve|shorten|polish|fix|check|spell-?check|review|analy[sz]e|explain|classify|critique|grade|simplify|convert|expand|continue"
    r"|complete|comment on|reply to|respond to|answer|read|parse|extract|write|draft|compose|create|look at|tell me what|repeat|say|fill in|recite|quote|type|übersetze?|fasse|korrigiere?|erkläre?|prüfe?|lies|traduis(?:ez)?|résume[rz]?|corrige[rz]?|explique[rz]?|lis)"
)
_REQUESTS = re2.compile(
    rf"(?i)^\W*(?:(?:please|pls|hey|hi|ok|now|also|and|then|bitte),? )*(?:(?:can|could|would|will|kannst|könntest|peux-tu) (?:you |du )?(?:please |bitte )?|(?:I (?:want|need) you|I'd like you) to |help me (?:to )?){{0,3}}{_WORKS_ON}\b"
)
_POINTS_AT_TEXT = re2.compile(
    rf"(?i)\b(?:this|these|that|the following|following|here(?:'s|’s| is| are| comes?)|below|above|dies\w*|folgende\w*|cet(?:te)?|ce|voici|hier ist)\b[^.!?:\n]{{0,50}}\b(?:{_TEXT}|note)\b|\b(?:got|received|found|saw|read|have|erhalten|bekommen|reçu) (?:this|these|the following|das|dies\w*|ça|ceci)\b|\bwhat does (?:this|that|it) (?:say|mean|want)\b|\bis (?:this|that) (?:spam|true|real|legit|phishing)\b"
    rf"|^\W*(?:(?:the|my|this|original|new|incoming|tool|search|web|api|page) ){{0,3}}{_TEXT}(?: (?:is|reads|says)| (?:from|by|of|von|de)\b[^:]*)?$"
)
_DEMONSTRATIVE = re2.compile(
    r"(?i)\b(?:this|these|the following|following|below|here(?:'s|’s| is| are)|what does it|dies\w*|folgende\w*|unten|hier|ce|cet|cette|ci-dessous|voici|got|received|bekommen|erhalten|reçu)\b"
)
_SHORTEST_REQUEST = 4  # characters: a text of very many shorter lines is passed over at once
_ABOUT_SPEAKER = re2.compile(
    r"(?i)\b(?:about (?:me|myself|us)|remember|note that|note down|keep in mind|reminder|facts?|preferences|correction|merk dir|denk daran|souviens-toi|retiens)\b|über mich|à propos de moi"
)
_FIRST_PERSON = re2.compile(
    r"(?i)\b(?:i|i['’]\w+|me|my|mine|we|our|us|ich|mein\w*|mir|wir|je|j['’]\w*|mon|ma|mes|moi)\b"
)
_FROM = re2.compile(r"(?i)\b(?:from|by|via|to|von|vom|de|du|d['’])\b|\b(?-i:of \p{Lu})|\d")
# "Result of the test: I …" reports from the speaker's life, "result of the search: …" is what a program has printed.
_RESULT = re2.compile(r"(?i)^\W*(?:\w+ ){0,2}(?:results?|outcome)(?: of| from)\b")
_PROGRAM = re2.compile(r"(?i)\b(?:tools?|search|query|command|script|call|function|request|api|page|site|web|run)\b")
_BULLETS = " \t*-•"
_PUNCTUATION = ".,;:!?*()[]-–—\"'"
_ADDRESSES_AGENT = re2.compile(r"(?i)\b(?:to|for) (?:the |all |any )?(?:ai|agents?|assistants?|bots?|models?|llms?)\b")
# "Below is a letter.": only the text follows.
_PRESENTS = re2.compile(
    rf"(?i)\b(?:below|here(?:'s|’s| is| are)|the following|attached|voici|hier ist|unten)\b[^.!?:\n]{{0,50}}\b{_TEXT}\b|\b{_TEXT} (?:is )?below\b"
)
# A prompt that consists of fields: "Context: … Question: …".
_FIELDS = re2.compile(
    r"(?ims)^[ \t#*]*(?:context|passage|documents?|sources?|input|text|article|data|content|excerpt)[ \t]*\d*[*]*:.*?^[ \t#*]*(?:question|query|task|instructions?|answer|output)[*]*:"
)
_ADDRESS = re2.compile(r"https?://\S")
_ABOUT_ABOVE = re2.compile(
    r"(?i)\b(?:this|that|above|dies\w*|ce|cet|cette) (?:\w+ )?(?:e-?mail|mail|letter|text|draft|paragraph|sentence|story|poem|article|message|post|transcript|review|passage|conversation|chat|comment|quote|brief|nachricht|artikel|lettre|texte)\b|\b(?:the )?above\b|\b(?:translate|summari[sz]e|proof-?read|rephrase|paraphrase|rewrite) (?:this|that|it)\b"
)


def announced(prose: str) -> Iterator[ForeignSpan]:
    """Yield texts after an announcing clause: to the end of the paragraph, or further if the clause ends a line."""
    lines = lines_of(prose)
    fields = [ForeignSpan(each.start(), each.end(), ForeignKind.PASTED_TEXT) for each in _FIELDS.finditer(prose)]
    prose = hide(prose, fields)
    yield from fields
    found = [*_after_colons(prose, lines)] or [*_after_requests(lines)]
    yield from found or _before_requests(prose)


def _after_colons(prose: str, lines: Sequence[Line]) -> Iterator[ForeignSpan]:
    place = 0
    for number, colon in enumerate(_COLON.finditer(prose)):
        if colon.start() < place:
            continue
        if number >= MOST_COLONS:
            yield ForeignSpan(colon.start(), len(prose), ForeignKind.DATA)
            return
        head = _head(prose, colon.start())
        if is_own(head) or _ADDRESS.match(prose[colon.end() : colon.end() + 10]):
            continue
        is_announced = announces(head)
        line = lines[line_at(lines, colon.start())]
        if is_announced or names_source(head, line=line, colon=colon.start()):
            span = _text_after(prose, lines, colon.start() + 1, is_announced=is_announced)
            place = span.end
            yield span


def is_own(head: str) -> bool:
    """Return True if a clause before a colon is the speaker's own, in the first person."""
    if not head or _ABOUT_SPEAKER.search(head) or _SPEAKS_SELF.search(head):
        return True
    if _RESULT.match(head) and not _PROGRAM.search(head):
        return True
    speaks_of_self = in_first_person(head) or not OWN_LABELS.isdisjoint(_words(head))
    return speaks_of_self and not announces(head)


def names_source(head: str, *, line: Line, colon: int) -> bool:
    """Return True if a few words at the beginning of a line may be the name of another speaker: "bob: I …"."""
    opens_line = line.text.lstrip(_BULLETS).startswith(head.lstrip(_BULLETS))
    if not opens_line or not _is_name(head):
        return False
    said = line.text[colon - line.start + 1 :]
    return not said.strip() or in_first_person(said) or orders_agent(said)


def _is_name(head: str) -> bool:
    """Return True for one word, capitalised ones, and a few with a preposition: "bob", "Bob Hill", "SMS from Eve"."""
    words = head.split()
    if len(words) > MOST_WORDS_OF_SOURCE:
        return False
    return (
        len(words) == 1 or all(word.lstrip(_BULLETS)[:1].isupper() for word in words) or _FROM.search(head) is not None
    )


def in_first_person(text: str) -> bool:
    """Return True if a text speaks of its speaker."""
    return _FIRST_PERSON.search(text) is not None


def announces(head: str) -> bool:
    """Return True if a clause before a colon announces what somebody else has said or written."""
    return any(pattern.search(head) is not None for pattern in (_SPEAKS, _REQUESTS, _POINTS_AT_TEXT, _ADDRESSES_AGENT))


def _words(text: str) -> list[str]:
    return [word.strip(_PUNCTUATION) for word in text.casefold().split()]


def _text_after(prose: str, lines: Sequence[Line], start: int, *, is_announced: bool) -> ForeignSpan:
    """Return the text after a colon: a quotation, a line, a paragraph, or everything until the speaker resumes."""
    text = _TEXT_BEGINS.search(prose, start)
    if text is None:
        return ForeignSpan(start, len(prose), ForeignKind.PASTED_TEXT)
    if text.group() in QUOTATION_MARKS:
        return ForeignSpan(start, end_of_quotation(prose, text.start()), ForeignKind.QUOTATION)
    line = line_at(lines, text.start())
    if "\n" not in prose[start : text.start()]:
        end = paragraph_end(lines, line) if is_announced else lines[line].end
    else:
        end = end_of_paste(lines, text.start()) if is_announced else paragraph_end(lines, line)
    return ForeignSpan(start, end, ForeignKind.PASTED_TEXT, is_open=True)


def _head(prose: str, end: int) -> str:
    """Return the clause that ends at a position."""
    return _last_clause(prose[max(0, end - LONGEST_HEAD) : end].rpartition(HIDDEN)[2]).strip()


def _last_clause(text: str) -> str:
    return text[max(text.rfind(mark) for mark in _CLAUSE_ENDS) + 1 :]


def _after_requests(lines: Sequence[Line]) -> Iterator[ForeignSpan]:
    """Yield the text below a request to work on it, or a question what it means."""
    for line, below in pairwise([line for line in lines if not line.is_blank]):
        if not below.text.strip().startswith(HIDDEN) and _asks_about_text_below(line.text):
            yield ForeignSpan(below.start, end_of_paste(lines, below.start), ForeignKind.PASTED_TEXT, is_open=True)
            return


def _asks_about_text_below(line: str) -> bool:
    if (
        not _SHORTEST_REQUEST <= len(line) <= 2 * LONGEST_HEAD
        or HIDDEN in line
        or _ADDRESS.search(line)
        or not _DEMONSTRATIVE.search(line)
    ):
        return False
    said = line.strip()
    last = f"{_last_clause(said[:-1])}{said[-1:]}".strip()
    requests = _REQUESTS.match(last) is not None or _PRESENTS.search(last) is not None
    return requests or (last.endswith("?") and _POINTS_AT_TEXT.search(said) is not None)


def _before_requests(prose: str) -> Iterator[ForeignSpan]:
    """Yield the text above a last paragraph that asks to work on "this text"."""
    above, blank, request = prose.rstrip().rpartition("\n\n")
    if not blank or HIDDEN in prose or len(request) > 2 * LONGEST_HEAD:
        return
    if _ABOUT_ABOVE.search(request) and (request.endswith("?") or _REQUESTS.match(request)):
        yield ForeignSpan(0, len(above), ForeignKind.PASTED_TEXT)
