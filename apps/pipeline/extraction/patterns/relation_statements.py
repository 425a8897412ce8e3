"""Relations to the speaker: "my sister Lena", "my manager is Priya", "I have a cat named Miso"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.extraction.patterns import relatives
from apps.pipeline.extraction.patterns.clause import ParsedClause
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon.calendar import UNAMBIGUOUS_MONTHS
from apps.pipeline.lexicon.kinship import KIN_WORDS, PLURALS, relation_noun
from apps.pipeline.lexicon.tables import alternation

_NAME = r"(?P<name>(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?[A-ZÀ-Þ][\wÀ-ÿ'-]*(?: [A-ZÀ-Þ][\wÀ-ÿ'-]+)?)"
_QUALIFIER = r"(?P<qualifier>(?:[a-z-]+ ){0,2})"
_KIN = alternation(KIN_WORDS)
_IS_NAMED = re2.compile(
    rf"^(?:is|is called|is named|was called|was named) {_NAME}(?:[\s.!]*|, (?:moves|moving|starts|starting|aged) .*)$"
)
_HAS_ONE = re2.compile(
    rf"^(?:has|adopted|got) (?:a|an|one) {_QUALIFIER}(?P<kin>{_KIN})(?:,? (?:named|called|whose name is|who is called)|,| (?:that's|who's|that|who|which) [^,;.]{{3,40}},) {_NAME}\b.*$"
)
# "Toby, my puppy" and no "Mel, my dog is ill", where Mel is spoken to.
_INTRODUCED = re2.compile(
    rf"(?:(?:.*? )?[Mm]eet |^|.*? ){_NAME}, (?:my|our) {_QUALIFIER}(?P<kin>{_KIN})(?:[.!,;)]|$| (?:and|at|from|for|to|in|with|who)\b)"
)
# "Tomas (my brother)"
_ASIDE = re2.compile(rf"{_NAME} \((?:my|our) {_QUALIFIER}(?P<kin>{_KIN})\b")
# "with my brother Tunde"; at the beginning of a clause it is read as its subject.
_NAMED_KIN = re2.compile(
    rf"\b(?:[Mm]y|[Oo]ur) {_QUALIFIER}(?P<kin>{_KIN}),? (?P<name>\p{{Lu}}[\w'-]+)(?:[\s.,;:!?)]|$)"
)
_ONE_OF = re.compile(
    r"(?:^|(?<=, and )|(?<=, )|(?<=\w )(?<= and ))[Oo]ne of (?:them|(?:the|my|our|her|his|their) [\w' ]{2,30}), (?P<name>[A-ZÀ-Þ][\w'-]+), "
)
_APPOSITION = re.compile(
    rf"^(?P<name>[A-ZÀ-Þ][\w'-]+)(?: \((?:my|our) [^()]{{2,40}}\)|, (?:my|our) (?:[a-z-]+ ){{0,2}}(?:{_KIN}),) "
)
_SPOKEN_TO = frozenset("friend buddy bestie friends".split())
_NO_NAME = re.compile(
    rf"(?i)\b(?:mr|mrs|ms|dr|i'm|i've|i'll|i'd|meet|hi|hey|hello|thanks|last|next|this|that|and|but|so|yes|no|god|\w+day|{alternation(UNAMBIGUOUS_MONTHS)})\b"
)
_NO_ROLE = frozenset(
    "favourite favorite fave best only first last next old own whole real main biggest life world rock hero everything choice "
    "idea plan goal problem issue thing things place home name fault guess jam top".split()
)
_LEADS = re.compile(
    r"^(?:leads|heads|manages) (?:the |our |\S+'s )?(?P<field>[a-z]+(?: (?:team|and [a-z]+))?)(?: now| these days)?[\s.!]*$"
)
_PRONOUNS = frozenset({"She", "He", "They"})
_TAIL = re.compile(r"^(?:is|was) (?P<owner>[^']+)'s (?P<rest>.+)$")


@dataclass(frozen=True, slots=True)
class RelationStatement:
    """The relation between the speaker and someone named, as one memory."""

    subject: Mention
    object: ObjectValue
    content: str
    row: Pattern


def relation_in(statement: ParsedClause, *, speaker: Mention) -> tuple[RelationStatement | None, bool]:
    """Return the relation in a statement, and whether the statement says nothing else."""
    kinship = statement.relation
    if kinship is not None and kinship.name:
        return _relation(kinship.word, kinship.qualifier, kinship.name, speaker), False
    if kinship is not None and not statement.is_plural and (named := _IS_NAMED.match(statement.phrase)):
        return _relation(kinship.word, kinship.qualifier, named.group("name"), speaker), True
    if statement.about_speaker and (owned := _HAS_ONE.match(statement.phrase)):
        return _relation(owned.group("kin"), owned.group("qualifier").strip(), owned.group("name"), speaker), True
    if kinship is None and (led := _LEADS.match(statement.phrase)):
        return _leader(led["field"], statement, speaker), True
    return _told_of_someone(statement, speaker), False


def _leader(field: str, statement: ParsedClause, speaker: Mention) -> RelationStatement | None:
    """What is led has one leader at a time, so that a newer one replaces the older."""
    if statement.about_speaker or statement.is_negated or statement.is_hedged or statement.subject.text in _PRONOUNS:
        return None
    row = replace(_row(f"has_{field.replace(' ', '_')}_lead"), is_single=True)
    return RelationStatement(speaker, ObjectValue(entity=statement.subject), f"{statement.sentence()}", row)


def introduced_in(sentence: str, *, speaker: Mention) -> Iterator[RelationStatement]:
    """Yield the relations that a sentence mentions in passing: "Meet Toby, my puppy", "a note for my sister Lena"."""
    if "my " not in (lower := sentence.lower()) and "our " not in lower:
        return
    introduced = _INTRODUCED.match(sentence)
    for found in (*((introduced,) if introduced else ()), *_ASIDE.finditer(sentence), *_NAMED_KIN.finditer(sentence)):
        name = found.group("name").removesuffix("'s")
        if found.group("kin") not in _SPOKEN_TO | PLURALS and not _NO_NAME.search(name):
            yield _relation(found.group("kin"), found.group("qualifier").strip(), name, speaker)


def tie_to(speaker: Mention, *, word: str, name: str) -> RelationStatement:
    """Return the relation between the speaker and someone who is named."""
    return _relation(word, "", name, speaker)


def without_asides(sentence: str) -> str:
    """Remove an apposition between the name and the verb: "Pavel, my husband, cooks"."""
    return _ONE_OF.sub(r"\g<name> ", _APPOSITION.sub(r"\g<name> ", sentence))


def _may_be_role(words: list[str], said: str) -> bool:
    """Return True for "our wedding photographer" and "my GP", False for "my favourite" and "my whole world"."""
    is_all = said.strip(" .!") == " ".join(words)
    return is_all and all(word.isalpha() for word in words) and _NO_ROLE.isdisjoint(words)


def _told_of_someone(statement: ParsedClause, speaker: Mention) -> RelationStatement | None:
    """Read "Priya is User's manager"."""
    told = _TAIL.match(statement.phrase)
    if statement.about_speaker or statement.is_negated or told is None or told["owner"] != speaker.text:
        return None
    if statement.subject.text in _PRONOUNS:  # "She's my boss", and nobody knows who
        return None
    words = re.split(r"[,.;!]| (?:and|at|in|who|from)\b", told["rest"])[0].split()
    is_of_many = bool(words) and words[-1].endswith("s") and not words[-1].endswith("ss") and not statement.is_plural
    if not words or len(words) > 3 or is_of_many:  # "trouble is my hands"
        return None
    words = _lasting(" ".join(words)).split() or words
    if words[-1] not in KIN_WORDS and not _may_be_role(words, _lasting(told["rest"])):
        return None
    return _relation(words[-1], " ".join(words[:-1]), statement.subject.text, speaker)


def _relation(word: str, qualifier: str, name: str, speaker: Mention) -> RelationStatement:
    """A role that one person at a time can have belongs to the speaker, so that a newer holder replaces the older."""
    noun = relation_noun(word)
    person = Mention(text=name, type=relatives.entity_type(word))
    described = relatives.described(word=word, qualifier=_lasting(qualifier), speaker=speaker.text)
    if noun is not None and noun.exclusive and not noun.kin:
        row = _row(f"has_{_slug(word)}")
        return RelationStatement(speaker, ObjectValue(entity=person), f"{described} is {name}.", row)
    row = _row(f"{_slug(word)}_of")
    return RelationStatement(person, ObjectValue(entity=speaker), f"{name} is {described}.", row)


def _lasting(qualifier: str) -> str:
    return " ".join(
        word for word in qualifier.split() if word not in ("new", "current", "lovely", "sweet", "dear", "own")
    )


def _slug(word: str) -> str:
    return word.replace("-", "_").replace("é", "e")


def _row(predicate: str) -> Pattern:
    return Pattern(
        name=predicate, type=MemoryType.RELATION, predicate=predicate, expression=".*", topic="people", importance=0.8
    )
