"""The speaker's people and animals, and others by name, as the subject of a clause."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.statement import Mention
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.calendar import WEEKDAYS
from apps.pipeline.lexicon.health_terms import CONDITION_ADJECTIVES
from apps.pipeline.lexicon.kinship import ANIMALS, KIN_WORDS, PLURALS, relation_noun
from apps.pipeline.lexicon.tables import alternation

_QUALIFIER = r"(?:(?:best|little|older|elder|younger|big|youngest|oldest|eldest|middle|new|current|future|twin|half|late|dear|good|close|old|childhood|college|work|pen|lovely|sweet|beloved|great|first|second)\s++)*"
_NAME = r"[A-ZÀ-ÖØ-Þ][\w’'-]*[a-zà-öø-ÿ](?<!['’]s)(?: [A-ZÀ-ÖØ-Þ][\w-]+)?"
_KIN = alternation(KIN_WORDS)
_OWN = re.compile(
    rf"^(?:[Mm]y|[Oo]ur) (?P<qualifier>{_QUALIFIER})(?P<kin>{_KIN})(?:,? (?P<name>{_NAME})(?: (?:from|in|at) {_NAME})?,?| (?:from|in|over in|back in) {_NAME})?(?P<short>'s|'re|'ve)?\s+(?P<rest>.+)$",
    re.DOTALL,
)
_THING = re.compile(
    r"^(?:[Aa]ll (?:of )?)?(?:[Mm]y|[Oo]ur) (?P<thing>(?:[a-z][\w-]* ){0,2}?[a-z][\w-]*) (?P<rest>(?:(?:just|also|recently|finally|already|still|always|really|even) )*(?P<verb>has|have|loves?|likes?|needs?|works?|keeps?|runs?|helps?|makes?|wants?|\w+ed|[a-z]+)\b .+)$",
    re.DOTALL,
)
_THING_VERBS = frozenset(
    "has have love loves like likes need needs work works keep keeps run runs want wants feel feels get gets bring brings give gives make makes "
    "help helps hurt hurts ache aches end ends go goes grow grows come comes start starts sell sells live lives sleep sleeps eat eats include includes".split()
)
_LONGER = frozenset("leave lease phone house work sleep visit flight move".split())
# "Tom's mother": what someone is to somebody named.
_OF_NAMED = re.compile(
    rf"^(?P<owner>{_NAME})'s (?P<qualifier>{_QUALIFIER})(?P<kin>{_KIN})(?:,? (?P<name>{_NAME}),?)?(?P<short>'s)?\s+(?P<rest>.+)$",
    re.DOTALL,
)
_PRONOUN = re.compile(r"^(?P<who>[Ss]he|[Hh]e)(?P<short>'s|'ll|'d)?\s+(?P<rest>.+)$", re.DOTALL)
_NAMED = re.compile(
    rf"^(?P<who>{_NAME})(?P<short>'s)?\s+(?P<rest>(?:is|was|works|lives|moved|got|has|loves|likes|hates|started|joined|prefers|studies|speaks|plays|"
    rf"bought|adopted|graduated|teaches|turned|will be|used to|can|can't|cannot|does|doesn't|isn't|hasn't|won't|takes|comes|stays|turns|brings|visits|retires|married|died|lived|became|starts|ends|joins|quit|had|gave|taught|teaches|carries|sings|swims|runs|rides|smokes|keeps|wears|sells|makes|cooks|swaps|sleeps|hates|knows|gets|sees|picks|handles|manages|runs|leads|drives|eats|drinks|wants|needs|goes|runs|uses|owns|leaves|left|took|tolerates)\b.+)$",
    re.DOTALL,
)
_NOT_NAMES = frozenset(
    "This That These Those There It Its What Whatever Who Whoever Which Where When Why How The A An My Our Your Their His Her Everything Everyone "
    "Something Someone Anything Nothing Nobody All Some Most Many Life Work Today Tomorrow Yesterday God Love Family Music Art Dance "
    "Painting One Here Such Each Both Another Money Time Nature Home School "
    "Maybe Even Mostly Lots Words Writing Yoga Food People Pets Dogs Cats Books Movies Flowers Nothing Thanks Congrats Everything Yes No Not If But And Or So Then Mine Ours They We You I He She Christmas Mom Dad Yep Yeah Yup Nope Nah Ok Okay Hi Hello Hey Oh Ah Ugh Ha Wow Hm Well Right Alright Sure Anyway Sorry Please Left Bad Good Back Still Also Just Only".split()
) | frozenset(map(str.capitalize, WEEKDAYS))
_ADVERBS = frozenset(
    "just also always never still recently currently now often sometimes even already finally actually".split()
)
_DESCRIBED = re.compile(rf"'s (?P<qualifier>{_QUALIFIER})(?P<kin>{_KIN})(?P<name> {_NAME})?(?!\w)")
_SUBJECT_PRONOUNS = frozenset("i we you he she they".split())
_CONTRACTED = {"'s": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "would"}
_PARTICIPLES = frozenset("been got had gone done become started moved".split())


@dataclass(frozen=True, slots=True)
class Kinship:
    """The relation of someone to the speaker ("sister"), with the name if it was given."""

    word: str
    name: str = ""
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Someone:
    """A subject other than the speaker, and the rest of its clause."""

    mention: Mention
    rest: str
    auxiliary: str = ""
    is_plural: bool = False
    is_owned: bool = False
    kinship: Kinship | None = None


def subject_of(clause: str, *, speaker: str) -> Someone | None:
    """Return the subject of a clause if it is one of the speaker's people, someone named, "she" or "he"."""
    if match := _OWN.match(clause):
        if owned := _OWNED.match(match["rest"]) if match["short"] == "'s" else None:
            is_person = owned["thing"].split()[-1] in KIN_WORDS  # "my friend's cousin": nobody that is known
            return None if is_person else _thing_of_kin(match, owned, speaker)
        return _own(match, speaker) if _begins_with_verb(match) else None
    if (match := _OF_NAMED.match(clause)) and may_be_name(match["owner"]) and _begins_with_verb(match):
        text = match["name"] or f"{match['owner']}'s {match['qualifier']}{match['kin']}"
        mention = Mention(text=text, type=entity_type(match["kin"]))
        return Someone(
            mention=mention, rest=match["rest"], auxiliary=_auxiliary(match), is_plural=match["kin"] in PLURALS
        )
    if match := _PRONOUN.match(clause):
        mention = Mention(text=match["who"].capitalize(), type=EntityType.PERSON)
        return Someone(mention=mention, rest=match["rest"], auxiliary=_auxiliary(match))
    if match := _THING.match(clause):
        return _thing(match, speaker)
    match = _NAMED.match(IS_SHORT.sub(r"\g<name> is ", _FROM.sub(r"\g<name> ", clause)))
    if match is None or not may_be_name(match["who"]):
        return None
    kind = EntityType.PERSON if _GENDERED.search(match["rest"]) else None
    return Someone(mention=Mention(text=match["who"], type=kind), rest=match["rest"], auxiliary=_auxiliary(match))


# "Saoirse's sixteen", "Leo's at nursery" and no "Leo's teacher"
IS_SHORT = re.compile(
    rf"^(?P<name>{_NAME})'s (?=(?:an?|the|not|in|at|on|off|from|away|back|with|now|so|very|too|really|still|also|only|almost|severely|allergic|vegan|vegetarian|pregnant|married|engaged|divorced|retired"
    rf"|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+|{alternation(CONDITION_ADJECTIVES)}|(?!morning|evening|wedding|training|meeting|reading|painting)[a-z]{{3,}}ing)\b)"
)
_WHO = re.compile(
    r"\b(?P<name>[A-ZÀ-Þ][\w'-]+), who (?P<rest>(?:is|has|had|can't|cannot|doesn't|isn't|was|will|used|lives|works|loves|hates|eats|takes|teaches|studies|speaks|plays)\b.+)$"
)
# "Lior from Brightseed is …"
_FROM = re.compile(
    r"^(?P<name>[A-ZÀ-ÖØ-Þ][\w’'-]+) from (?:[A-ZÀ-ÖØ-Þ][\w’'-]+|work|uni|school|college|church|next door) "
)
_GENDERED = re.compile(r"\b(?:his|her|himself|herself)\b")
# "… his girlfriend Aoife", before "and she is…"
_ENDS_IN_NAME = re.compile(rf"\b(?:{_KIN}) (?P<name>[A-ZÀ-ÖØ-Þ][\w’'-]+)$")
_STARTS_WITH_NAME = re.compile(
    rf"^(?:(?:[Mm]y|[Oo]ur) {_QUALIFIER}(?:{_KIN}),? )?(?P<name>(?!I\b|We\b|My\b|Our\b|She\b|He\b|The\b|It\b|This\b|That\b|They\b|You\b)[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ'’-]+)(?: (?:from|of|at) \w+)?,? (?:is|was|has|had|can|can't|cannot|doesn't|isn't|won't|will|comes|lives|works|loves|brings|[a-z]+s|[a-z]+ed)\b"
)
_OWNED_BY_PRONOUN = re.compile(rf"^(?:[Hh]er|[Hh]is) (?={_QUALIFIER}(?:{_KIN})\b)")
_PERSON_FIRST = re.compile(r"^(?:[Ss]he|[Hh]e)(?P<short>['’]s)? ")


def with_antecedents(clauses: Iterable[str]) -> Iterator[str]:
    """Yield the clauses of a sentence, with a name for a pronoun that follows it at once."""
    before: re.Match[str] | None = None
    for clause in _with_relative_clauses(clauses):
        pronoun = _PERSON_FIRST.match(clause)
        if before is not None and pronoun is not None:
            clause = f"{before['name']} {'is ' if pronoun['short'] else ''}{clause[pronoun.end() :]}"
        elif before is not None and (owned := _OWNED_BY_PRONOUN.match(clause)):
            clause = f"{before['name']}'s {clause[owned.end() :]}"
        yield clause
        before = _ENDS_IN_NAME.search(clause) or _STARTS_WITH_NAME.match(clause)


def _with_relative_clauses(clauses: Iterable[str]) -> Iterator[str]:
    """Yield "Alex is vegan" after "Tom brings his partner Alex, who is vegan"."""
    for clause in clauses:
        found = _WHO.search(clause)
        yield clause
        if found is not None:
            yield f"{found['name']} {found['rest']}"


def _begins_with_verb(match: re.Match[str]) -> bool:
    """Return True for "my partner games", False for "my partner gaming"."""
    word = next(
        (each for each in match["rest"].lower().split() if not each.endswith("ly") and each not in _ADVERBS), ""
    )
    if word in _SUBJECT_PRONOUNS:  # "the kids I teach"
        return False
    if match["short"] or match["kin"] in PLURALS:
        return True
    return word.endswith(("s", "n't")) or verbs.may_be_past(word) or word in verbs.MODALS


def may_be_name(text: str) -> bool:
    """Return False for words that only begin a sentence, such as "This" and "Yesterday"."""
    first = text.partition(" ")[0]
    return first not in _NOT_NAMES and first.lower() not in KIN_WORDS and not first.endswith(("ing", "'s", "’s", "n't"))


def described(*, word: str, qualifier: str, speaker: str) -> str:
    """Describe someone by their relation to the speaker: "Ana's older sister"."""
    return " ".join(part for part in (f"{speaker}'s", qualifier.strip(), word) if part)


def described_in(content: str, *, owner: str) -> tuple[str, ...]:
    """Return the descriptions of single people in a sentence that resolve to one entity: "Ana's sister Lena"."""
    found = (match for match in _DESCRIBED.finditer(content) if content[: match.start()].endswith(owner))
    return tuple(dict.fromkeys(f"{owner}{each.group()}" for each in found if each["name"] or _is_single(each["kin"])))


def _is_single(word: str) -> bool:
    noun = relation_noun(word)
    return noun is not None and noun.exclusive


def entity_type(word: str) -> EntityType:
    """Return the type of entity that a relation noun describes."""
    return EntityType.ANIMAL if word in ANIMALS else EntityType.PERSON


def _thing(match: re.Match[str], speaker: str) -> Someone | None:
    """Read "our city held a parade": what is the speaker's and does something."""
    verb = match["verb"]
    rest = match["rest"]
    if verb in _LONGER and (again := _THING.match(f"my {verb} {rest.partition(' ')[2]}")):
        # "my parental leave starts": what looked like the verb is the noun.
        longer = Someone(
            mention=Mention(text=f"{speaker}'s {match['thing']} {again['thing']}"), rest=again["rest"], is_owned=True
        )
        return longer if again["verb"] in _THING_VERBS else None
    if not (verb in _THING_VERBS or verbs.may_be_past(verb)) or match["thing"] in ("own", "god", "goodness", "point"):
        return None
    mention = Mention(text=f"{speaker}'s {match['thing']}")
    return Someone(
        mention=mention,
        rest=match["rest"],
        is_owned=True,
        is_plural=match["thing"].endswith("s") and not match["thing"].endswith("ss"),
    )


# "My son's soccer practice is on Tuesdays": the apostrophe is that of an owner, for another verb follows.
_OWNED = re.compile(
    r"^(?!(?:who|what|that|not|so|the|an?|all|why|where|how|been|got)\b)(?P<thing>(?:(?!\w+ing )[a-z-]+ ){0,2}[a-z-]+) (?P<rest>(?:is|are|was|were|has|comes|starts)\b.+)$"
)


def _thing_of_kin(match: re.Match[str], owned: re.Match[str], speaker: str) -> Someone:
    owner = match["name"] or described(word=match["kin"], qualifier=match["qualifier"], speaker=speaker)
    return Someone(
        mention=Mention(text=f"{owner}'s {owned['thing']}"),
        rest=owned["rest"],
        is_owned=True,
        is_plural=owned["rest"].startswith(("are ", "were ")),
    )


def _own(match: re.Match[str], speaker: str) -> Someone:
    word, name, qualifier = match["kin"], match["name"] or "", match["qualifier"]
    text = name or described(word=word, qualifier=qualifier, speaker=speaker)
    return Someone(
        mention=Mention(text=text, type=entity_type(word)),
        rest=match["rest"],
        auxiliary=_auxiliary(match),
        is_owned=True,
        is_plural=word in PLURALS,
        kinship=Kinship(word=word, name=name, qualifier=qualifier.strip()),
    )


def _auxiliary(match: re.Match[str]) -> str:
    short = match["short"]
    if not short:
        return ""
    if short == "'s" and match["rest"].partition(" ")[0].lower() in _PARTICIPLES:
        return "has"
    return _CONTRACTED[short]
