"""Who a word or name in a clause is: the speaker, a relative, somebody named, or nobody known."""

import re

from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.statement import Mention
from apps.pipeline.extraction.patterns import relatives
from apps.pipeline.extraction.patterns.antecedents import Antecedent
from apps.pipeline.extraction.patterns.health.owner import PLACE, STRANGER, Owner, speaker_as_owner
from apps.pipeline.extraction.patterns.health.terms import conditions_in, medicines_in
from apps.pipeline.extraction.patterns.new_subjects import is_present
from apps.pipeline.lexicon.calendar import MONTHS
from apps.pipeline.lexicon.foods import is_food
from apps.pipeline.lexicon.health_terms import BODY_PART, CONDITION_ADJECTIVES
from apps.pipeline.lexicon.kinship import ANIMALS, KIN_WORDS, NOUNS, PLURALS, Gender, partners
from apps.pipeline.lexicon.medical_names import condition_length
from apps.pipeline.lexicon.tables import alternation

_FAMILY = frozenset(
    word
    for word in KIN_WORDS - PLURALS
    if NOUNS[word].kin or NOUNS[word].type is EntityType.ANIMAL or word in partners()
)
_QUALIFIER = r"(?:(?:older|elder|younger|big|little|youngest|oldest|eldest|late|twin|half)[ -])?"
# Whoever stands before is what follows: "As a nurse with diabetes", "is now a teen with diabetes".
_IS_IT = r"(?<!^As )(?<!^Being )(?<!\bam )(?<!['’]m )(?<!\bbecame )(?<!\bis now )(?<!['’]s now )"
# "Mine has diabetes", "one is coeliac"; but "one is asthma, the other is eczema" tells of conditions.
_ONE_OF_SEVERAL = (
    r"\b(?:[Mm]ine|(?:[Tt]he )?[Oo]ther|[Oo]ne(?: of (?:them|us|ours))?)(?: one)?"
    rf"(?=['’]s (?:allergic|{alternation(CONDITION_ADJECTIVES)})\b| (?:has|had|can['’]t|takes|needs)\b"
    rf"| (?:is|was) (?:an? )?(?:coeliac|celiac|vegan|vegetarian|allergic|\w+ intolerant|{alternation(CONDITION_ADJECTIVES)})\b)"
    rf"|(?<!['’]m the )(?<!\bam the )(?<!['’]m the only )(?<!\bam the only )\b[Oo]ne(?= (?:allergic to|(?:coeliac|celiac|vegan|vegetarian|{alternation(CONDITION_ADJECTIVES)})(?:$|[,.;)]| and\b)))"
    r"|\b(?:[Tt]wo|[Tt]hree|[Ss]ome)(?: of (?:them|us))?(?= (?:are|have|take)\b)"
)
MENTION = re.compile(
    # The speaker, unless somebody only told them: "he told me".
    r"(?P<told>\b(?:told|tells|asked|asks|reminded|warned|showed|sent) (?:me|us)\b)"
    rf"|(?P<stranger>{_ONE_OF_SEVERAL}|^Being .*\bmust\b|{_IS_IT}(?:(?<!['’]s )(?<!is )(?<!as )\ban? [a-z-]{{3,}} with (?=[a-z])|(?<!, )\ban? \d+[ -](?:years?|yrs?)[ -]old\b|\b(?:an?|some|this|that|another|[Oo]ne) (?:[a-z]+ ){{0,2}}(?:guest|visitor|colleague|employee|boy|girl|man|woman|lady|guy|bloke|fella|lad|lass|patient|customer|client|owner|kid|child|baby|person|student|pupil|resident|passenger)\b))"
    rf"|(?P<others>\b[A-ZÀ-Þ][\w-]+['’]s (?:(?:older|little|new) )?(?:{alternation(_FAMILY)})\b(?:,? (?P<others_name>[A-ZÀ-Þ][a-zà-ÿ]+))?)"
    rf"|(?P<kin>(?:\b(?P<mine>[Mm]y|[Oo]ur|[Tt]he) )?(?P<qualifier>{_QUALIFIER})\b(?P<word>(?i:{alternation(KIN_WORDS - PLURALS)}))\b(?P<of_theirs>['’]s (?:[a-z]+ )?(?:{alternation(KIN_WORDS)})\b)?(?:,? (?P<kin_name>(?!And\b|God\b)[A-ZÀ-Þ][a-zà-ÿ]+)(?P<relative_of_named>['’]s (?:[a-z]+ )?(?:{alternation(KIN_WORDS)})\b)?)?)"
    # "My nephew living with us has": they are not who has it.
    r"|(?P<beside>\b(?:with|for|beside|near|behind|from|about|to) (?:me|us)(?= (?:is|was|has|had|can['’]t|cannot|takes|needs)\b))"
    r"|(?P<speaker>\b(?:I|i|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Oo]ur|[Uu]s)\b(?!-))"
    r"|(?P<pronoun>\b(?:[Ss]he|[Hh]e|[Hh]er|[Hh]is|[Hh]im|[Hh]ers)\b)"
    r"|(?P<name>\b[A-ZÀ-Þ][a-zà-ÿ]+(?: [A-ZÀ-Þ][a-zà-ÿ]+)?\b)(?P<owns>['’]s)?"
)
# After these, a name is whoever gets something, unless they stand before a place.
_GETS = re.compile(
    r"\b(?:gives?|gave|giving|puts?|started|starts|makes?|made|for|of|with|brought|set|sets|than|got)(?: poor)? $"
)
# A doctor who adds a medicine does not take it, and dust that makes an eczema worse does not have it.
_GIVES = re.compile(
    r"^(?:['’](?:s|ve))?(?: (?:has|have|also|just|then|now))* (?:(?:added|adds|prescribed|put|puts|gave|gives|increased|upped|brought|brings|says|said|thinks|wants|ordered|recommended|offered|told|asked)\b"
    r"|(?:started|stopped|switched|swapped|took|doubled|halved|moved|changed|makes?|made|triggers?|upsets?|worsens?|irritates?) (?:me|him|her|us|my|his|our|the|it)\b)"
)
TREATS = re.compile(
    r"(?:ologist|iatrist|doctor|gp|dentist|nurse|consultant|specialist|surgeon|midwife|physio|physiotherapist|optician|vet|counsell?or|therapist)$"
)
# "The doctor at Aga Khan was": the place is not who does something.
_AT = re.compile(r"(?i)\b(?:at|in|from|near|by|to|around|behind|opposite|outside) $")
_ADVERBS = re.compile(r"^ (?:(?:also|still|now|just|only|always|never|really|already|actually|apparently) )+")
# "The 24th of June, cataract": a month behind a day or "of" is nobody.
_MONTH = re.compile(rf"^(?:{alternation(month.capitalize() for month in MONTHS)})\b")
_DATED = re.compile(
    r"(?i)(?:\d(?:st|nd|rd|th)?|\b(?:of|in|until|till|by|since|next|last|this|on|from|early|late|mid|end)) $"
)
_WHO_IS = re.compile(
    r"^,? who(?:['’]s (?!told|said|put|given)| (?:is|was|has|had|can['’]t|cannot|takes|needs|uses|doesn['’]t)\b)"
)
_IS_SPEAKER = re.compile(r"(?i)\b(?:I['’]m|I am|name is|name['’]s) $")
_NO_CALL = re.compile(r"(?i)\b(?:I['’]m|I am|name is|name['’]s|in|at|from|to|near) $")
_IS_DESCRIBED = re.compile(
    r"^, (?:severely )?(?:allergic|diabetic|asthmatic|epileptic|coeliac|celiac|vegan|vegetarian)\b"
)
_BODY = re.compile(rf"(?i)^(?:{BODY_PART}|hearing|blood|pressure|weight|sugar|sight|sleep|memory|skin)s?\b")
_SOMEBODY_FIRST = re.compile(
    r"^\W*(?:(?:And|But|So|Even|Also|Poor) )?(?P<name>(?!(?:The|This|That|What|When|Where|Doctor|Doc|Diagnosed|Started|My|Our|His|Her|He|She|It|In|On|At|After|Since|For|From|With|No|Not|Yes)\b)[A-ZÀ-Þ][a-zà-ÿ]{2,}) (?:on|from|at|in|down|next|who|over|across|along) (?:[\w'’]+ ){1,5}?(?:has|is|was|had|can['’]t|cannot|gets?|got|takes)\b"
)
_NEEDS_OWNER = frozenset("child kid baby friend partner boy girl cat dog bird horse mate ex toddler puppy".split())
_FEMALE = frozenset({"she", "her", "hers"})


def meant(found: re.Match[str], clause: str, *, speaker: Mention, last: Owner, antecedent: Antecedent) -> Owner | None:
    """Return who a match of MENTION in a clause is, None if it is nobody whom the clause could be about.

    `last` is whom the clause before was about, `antecedent` the person whom "she" means.
    """
    if found["told"] or found["beside"]:
        return None
    if found["others"]:
        return Owner(Mention(text=found["others_name"] or found["others"], type=EntityType.PERSON))
    if found["stranger"]:
        return STRANGER
    if found["speaker"]:
        return speaker_as_owner(speaker)
    if found["kin"]:
        return _relative(found, clause, speaker)
    if _GIVES.match(clause[found.end() :]):
        return None
    if found["pronoun"]:
        return _by_pronoun(found["pronoun"].lower(), last, antecedent)
    return _named(found, clause)


def _relative(found: re.Match[str], clause: str, speaker: Mention) -> Owner | None:
    word, mine = found["word"].lower(), (found["mine"] or "").lower()
    if found["of_theirs"] or found["relative_of_named"]:
        return STRANGER  # "my friend's cousin", "my brother Tom's wife"
    if mine in ("my", "our") and TREATS.search(word):
        return speaker_as_owner(speaker)  # "my dentist" treats the speaker
    if word not in _FAMILY and (mine not in ("my", "our") or _GIVES.match(clause[found.end() :])):
        return None
    is_first = not clause[: found.start()].strip(" ,.")
    is_title = word not in _NEEDS_OWNER and (is_first or found["word"][0].isupper())
    if mine not in ("my", "our") and not is_title:
        return None
    kind = EntityType.ANIMAL if word in ANIMALS else EntityType.PERSON
    gender = NOUNS[word].gender
    pronoun = "" if gender is None else "She" if gender is Gender.FEMALE else "He"
    text = found["kin_name"] or relatives.described(word=word, qualifier=found["qualifier"], speaker=speaker.text)
    return Owner(Mention(text=text, type=kind), pronoun=pronoun)


def _named(found: re.Match[str], clause: str) -> Owner | None:
    """Return who is named with a verb, as an owner or as somebody who gets something; places and things are nobody."""
    before, behind = clause[: found.start()], clause[found.end() :]
    if _MONTH.match(found["name"]) and _DATED.search(before):
        return None
    if _IS_DESCRIBED.match(behind) and not _NO_CALL.search(before):
        return STRANGER  # "Patient: John Smith, allergic to penicillin", or the speaker who calls somebody
    if _WHO_IS.match(behind):
        is_speaker = _IS_SPEAKER.search(before) is not None
        return None if is_speaker else person(found["name"].split()[-1])  # "Tell Ana who is coeliac"
    after = _ADVERBS.sub("", behind).split()
    is_doing = not before and bool(after) and after[0].endswith("ing")  # "Ana sitting beside me is"
    acts = is_doing or (bool(after) and _is_verb(after[0].lower()))
    if acts and _AT.search(before):
        return PLACE
    gets = _GETS.search(before) is not None
    return person(found["name"], owns=found["owns"] or "") if found["owns"] or acts or gets else None


def person(name: str, *, owns: str = "") -> Owner | None:
    """Return somebody by their name; None for what is no name of a person."""
    is_thing = (
        _BODY.search(name) is not None
        or is_food(name)
        or condition_length(name.split()) > 0
        or next(conditions_in(f"{name}{owns}"), None) is not None  # "Parkinson's"
        or next(medicines_in(name), None) is not None
    )
    is_named = relatives.may_be_name(name) and not is_thing
    return Owner(Mention(text=name, type=EntityType.PERSON)) if is_named else None


def _is_verb(word: str) -> bool:
    is_finite = word in ("is", "has", "was", "had", "can", "cannot", "will") or word.endswith(("n't", "n’t"))
    return is_finite or is_present(word)


def _by_pronoun(pronoun: str, last: Owner, antecedent: Antecedent) -> Owner:
    who = "She" if pronoun in _FEMALE else "He"
    if antecedent.name[:1].isupper() and antecedent.pronoun in ("", who.lower()):
        return Owner(Mention(text=antecedent.name, type=EntityType.PERSON), pronoun=who)
    if not last.is_speaker and last.pronoun in ("", who):
        return last
    return Owner(Mention(text=who, type=EntityType.PERSON), pronoun=who)


def at_the_beginning(clause: str, *, end: int) -> Owner | None:
    """Return who is named first, where more stands before the verb: "Ieuan on the next round has Parkinson's"."""
    first = _SOMEBODY_FIRST.match(clause)
    if first is None or first.end() > end:
        return None
    return person(first.group("name"))
