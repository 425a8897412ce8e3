"""Split texts into sentences and clauses, with the original words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from apps.pipeline.extraction.patterns.new_subjects import is_present, split_at_subjects
from apps.pipeline.extraction.patterns.own_lists import without_lists_at_hand
from apps.pipeline.extraction.patterns.run_on import starts_in
from apps.pipeline.extraction.patterns.self_introductions import told_apart, with_partner
from apps.pipeline.extraction.patterns.sentence_boundaries import sentence_ends
from apps.pipeline.lexicon import verbs
from apps.pipeline.provenance.own_words import own_prose
from apps.pipeline.provenance.spans import HIDDEN

_MOST_CLAUSES = 12  # of a sentence
_SHORTEST_CLAUSE = 40  # characters, on average
MOST_CHARACTERS = 500  # of a sentence; a longer one is pasted, or a list

_REPEATED = re.compile(r"(?P<sign>[^\w\s])(?P=sign){3,}")
_RESTART = (
    r"(?:(?:all |what )?(?:I|i|we)|We|(?:all |both )?(?:my|our)|My|Our|she|he|(?:her|his) (?:boyfriend|girlfriend|husband|wife|partner|son|daughter|mother|father|mum|mom|dad|sister|brother|kids|children)|(?:back )?in (?:19|20)\d\d,? (?:I|we))\b"
    r"(?!\s+(?:think|guess|mean|hope|believe|suppose)\b)"
)
_CLAUSE = re.compile(
    rf"\s*(?:;|:|,|[-–—]{{1,2}}\s|—)\s*(?:and|but|so|then|plus|also|because|since|as|yet)?\s*(?={_RESTART})"
    rf"|\s+(?:and|but|so|because|cuz|'cause|cause|though|although|plus|then"
    rf"|as(?! (?:I|we) (?:said|mentioned|told|know|see|get|grow|write|speak|think|understand|go|can|could|am|was|found|learned|heard)\b))\s+(?={_RESTART})"
)
# "I was allergic to eggs, now I am allergic to nuts"; "in the story, now I am a wizard" stays whole.
_NOW = re.compile(r"(?P<was>\b(?:was|were|used to|had)\b[^,;]*), now (?=(?:I|we)\b)")
_TRAILING_QUESTION = re.compile(
    r"(?i)[,;:]?\s*(?:[-–—]+\s*)?(?:so |and |but )?\b(?:can|could|would|do|does|did|what|how|where|which|who|when|why|any|is there"
    r"|are there|should|is it|have you|are you|will|want to|wanna|check|remember|right|huh|ever|got any|you)\b[^,;]*$"
)
_STATEMENT_START = re.compile(r"(?i)^\W*(?:\w+\W+){0,3}?(?:i|i'm|im|i've|we|we're|my|our|there's|there is)\b")
_NAME_AND_VERB = re.compile(
    r"^\W*(?:\w+, )?(?!(?:What|Who|How|When|Where|Why|Which|Does|Did)\b)[A-ZÀ-Þ][a-zà-ÿ]+ (?:[a-z]+ly )?(?:is|was|has|can't|cannot|[a-z]{2,}s|[a-z]+ed) "
)
# "she's the one who can't eat eggs"
_THE_ONE = re.compile(r"(?:['’]s| is) the one (?:who|that) (?=[a-z])")
_PART = re.compile(r",\s+")
_FIRST_VERB = re.compile(
    r"^(?:[\w' ]{0,20}?[,!]? )??(?P<subject>I|we|We|i)(?:(?P<short>'m|'ve|'re) | )(?:(?:just|also|really|finally|recently|then|usually|often|still|always) )*(?P<verb>[a-z0-9]+)\b"
)
# Not at a noun that has a verb of its own: "I use a Mac at home but work has me on Windows".
_AND_VERB = re.compile(
    r",? (?:and|but) (?:(?:just|also|really|finally|recently|then|usually|often|still|always) )*(?P<verb>[a-z]+(?:n['’]t)?) (?!(?:is|has|was|had|will|does|wants|makes)\b)(?=[\w\"])"
)
# "My mother has dementia and lives in Bath": both verbs are said of one subject.
_THIRD_PERSON = re.compile(
    r"^(?P<subject>(?:[Mm]y|[Oo]ur) (?:[\w-]+ ){1,4}?|[A-ZÀ-Þ][\w'-]+ )(?:(?:just|also|still|now|always|usually) )?(?P<verb>is|has|was|had|can(?:['’]t|not)?|[a-z]+s)\b"
)
_OTHERS_VERB = re.compile(r"(?i)\b(?:how|that|when|what|if) (?:you|they|he|she|people)\b")
_THIRD_FORMS = frozenset("is has was had can can't cannot doesn't isn't hasn't won't".split())
_BASES = frozenset(
    "work live love like hate enjoy play have speak use study own drive teach want need prefer eat drink go make write read volunteer collect run".split()
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and whether it is a question."""

    text: str
    asks: bool

    def in_one_line(self) -> "Sentence":
        """Return the sentence with its white space and repeated signs reduced, so that no expression takes long."""
        return Sentence(text=_REPEATED.sub(r"\g<sign>", " ".join(self.text.split())), asks=self.asks)


def sentences_of(text: str) -> Iterator[Sentence]:
    """Yield the sentences of prose in the author's own words, without code, quotations and addresses."""
    prose = without_lists_at_hand(own_prose(text))
    start = 0
    for end in (*sentence_ends(prose), len(prose)):
        said = prose[start:end]
        begins = () if said.rstrip().endswith("?") else tuple(starts_in(said))
        for first, last in pairwise((0, *begins, end - start)):
            yield from _sentence(prose, text, start + first, start + last)
        start = end


def _sentence(prose: str, text: str, start: int, end: int) -> Iterator[Sentence]:
    said = prose[start:end]
    # A sentence that embeds hidden text is judged by what stands before it, unless that only announces it.
    if HIDDEN in said and said.split(HIDDEN)[0].rstrip().endswith(":"):
        return
    said = said.split(HIDDEN)[0] if not said.startswith(HIDDEN) else said.rpartition(HIDDEN)[2]
    stripped = said.strip()
    is_said = len(stripped) > 2 or stripped.isdigit()
    if is_said and len(stripped) <= MOST_CHARACTERS and stripped in text:
        yield Sentence(text=stripped, asks="?" in stripped[-4:])


def clauses_of(sentence: Sentence) -> list[str]:
    """Split a sentence where a new statement begins; of a question, return only a statement before it."""
    text = _NOW.sub(r"\g<was>; ", _THE_ONE.sub(" ", with_partner(sentence.text)))
    if sentence.asks:
        cut = _TRAILING_QUESTION.search(text)
        text = text[: cut.start()] if cut and _states(text[: cut.start()]) else ""
    parts = (part.strip(" \t,;:-–—.!…") for part in _CLAUSE.split(text, maxsplit=_MOST_CLAUSES))
    most = 2 + len(text) // _SHORTEST_CLAUSE
    stated = (
        each.strip() for part in parts for clause in split_at_subjects(part) for each in _coordinated(clause.strip())
    )
    read = [clause for clause in stated if clause][:most]
    return [each for clause in read for each in told_apart(clause)]


def _states(text: str) -> bool:
    """Return True if a text begins with a subject: the speaker, their people or someone by name."""
    parts = (text, *_PART.split(text))
    return any(_STATEMENT_START.match(part) or _NAME_AND_VERB.match(part) for part in parts)


def _coordinated(clause: str) -> list[str]:
    """Split "I took the train and visited Lena" into two clauses, each with its subject."""
    head = _FIRST_VERB.match(clause)
    joint = _AND_VERB.search(clause, head.end()) if head else None
    if head is None:
        return _coordinated_third(clause)
    if joint is None:
        return [clause]
    is_past = not head["short"] and verbs.may_be_past(head["verb"])
    if is_past != verbs.may_be_past(joint["verb"]) or not _is_verb(joint["verb"]):
        return [clause]
    # "the hope and love theme" names a theme; "how you use it and teach" says what you do.
    if head["verb"] == joint["verb"] or _OTHERS_VERB.search(clause, head.end(), joint.start()):
        return [clause]
    rest = clause[joint.start("verb") :]
    return [clause[: joint.start()], *_coordinated(f"{head['subject']} {rest}")]


def _coordinated_third(clause: str) -> list[str]:
    head = _THIRD_PERSON.match(clause)
    joint = _AND_VERB.search(clause, head.end()) if head else None
    if head is None or joint is None or not (_is_third(head["verb"]) and _is_third(joint["verb"])):
        return [clause]
    return [clause[: joint.start()], *_coordinated_third(head["subject"] + clause[joint.start("verb") :])]


def _is_third(verb: str) -> bool:
    return (
        verb.replace("’", "'") in _THIRD_FORMS
        or is_present(verb)
        or (verb.endswith("s") and verbs.base_form(verb) in _BASES)
    )


def _is_verb(word: str) -> bool:
    return verbs.may_be_past(word) or word in _BASES
