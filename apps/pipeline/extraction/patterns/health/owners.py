"""Whose medicine, condition or reaction a clause tells of."""

import re
from dataclasses import dataclass

from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.statement import Mention
from apps.pipeline.extraction.patterns import relatives
from apps.pipeline.extraction.patterns.antecedents import Antecedent
from apps.pipeline.extraction.patterns.health.foreign_subjects import ForeignSubject, foreign_subject
from apps.pipeline.extraction.patterns.health.terms import conditions_in, medicines_in
from apps.pipeline.extraction.patterns.new_subjects import is_present
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
    r"|\b(?:[Tt]wo|[Tt]hree|[Ss]ome)(?: of (?:them|us))?(?= (?:are|have|take)\b)"
)
_SAID = re.compile(
    # The speaker, unless somebody only told them: "he told me".
    r"(?P<told>\b(?:told|tells|asked|asks|reminded|warned|showed|sent) (?:me|us)\b)"
    rf"|(?P<stranger>{_ONE_OF_SEVERAL}|^Being .*\bmust\b|{_IS_IT}(?:(?<!['’]s )(?<!is )(?<!as )\ban? [a-z-]{{3,}} with (?=[a-z])|\b(?:an?|some|this|that|another|one) (?:[a-z]+ ){{0,2}}(?:guest|visitor|colleague|employee|boy|girl|man|woman|lady|guy|bloke|fella|lad|lass|patient|customer|client|owner|kid|child|baby|person|student|pupil|resident|passenger)\b))"
    rf"|(?P<others>\b[A-ZÀ-Þ][\w-]+['’]s (?:(?:older|little|new) )?(?:{alternation(_FAMILY)})\b(?:,? (?P<others_name>[A-ZÀ-Þ][a-zà-ÿ]+))?)"
    rf"|(?P<kin>(?:\b(?P<mine>[Mm]y|[Oo]ur|[Tt]he) )?(?P<qualifier>{_QUALIFIER})\b(?P<word>(?i:{alternation(KIN_WORDS - PLURALS)}))\b(?P<of_theirs>['’]s (?:[a-z]+ )?(?:{alternation(KIN_WORDS)})\b)?(?:,? (?P<kin_name>(?!And\b)[A-ZÀ-Þ][a-zà-ÿ]+))?)"
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
# A doctor who adds a medicine does not take it.
_GIVES = re.compile(
    r"^(?:['’](?:s|ve))?(?: (?:has|have|also|just|then|now))* (?:(?:added|adds|prescribed|put|puts|gave|gives|increased|upped|brought|brings|says|said|thinks|wants|ordered|recommended|offered|told|asked)\b"
    r"|(?:started|stopped|switched|swapped|took|doubled|halved|moved|changed) (?:me|him|her|us|my|his|our|the|it)\b)"
)
_TREATS = re.compile(
    r"(?:ologist|iatrist|doctor|gp|dentist|nurse|consultant|specialist|surgeon|midwife|physio|physiotherapist|optician|vet|counsell?or|therapist)$"
)
# "The doctor at Aga Khan was": the place is not who does something.
_AT = re.compile(r"(?i)\b(?:at|in|from|near|by|to|around|behind|opposite|outside) $")
_WHO_IS = re.compile(
    r"^,? who(?:['’]s (?!told|said|put|given)| (?:is|was|has|had|can['’]t|cannot|takes|needs|uses|doesn['’]t)\b)"
)
_IS_SPEAKER = re.compile(r"(?i)\b(?:I['’]m|I am|name is|name['’]s) $")
_HAS = re.compile(r"(?:is|has|was|had|takes|can['’]t|cannot)\b")
_NO_CALL = re.compile(r"(?i)\b(?:I['’]m|I am|name is|name['’]s|in|at|from|to|near) $")
_IS_DESCRIBED = re.compile(
    r"^, (?:severely )?(?:allergic|diabetic|asthmatic|epileptic|coeliac|celiac|vegan|vegetarian)\b"
)
_BODY = re.compile(rf"(?i)^(?:{BODY_PART}|hearing|blood|pressure|weight|sugar|sight|sleep|memory|skin)s?\b")
_ASIDE = re.compile(r"\([^()]{0,60}\)|, (?:just )?(?:like|unlike|as well as) [^,]{1,30},")
# "Ana (vegan), Bo (nut allergy)" of a list of people; "I work in Cork (I have asthma)" is none.
_IN_BRACKETS = re.compile(r"(?:^|[,:;] |\band |& )(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+|[Mm]e) \((?:[a-z-]+,? ){0,3}$")
_FIRST_PERSON = re.compile(r"(?i)\b(?:I|we|my|our)\b")
_RELATIVE = re.compile(r"(?i)^\W*(?:and )?(?:who|whose|which)\b")
_SOMEBODY_FIRST = re.compile(
    r"^\W*(?:(?:And|But|So|Even|Also|Poor) )?(?P<name>(?!(?:The|This|That|What|When|Where|Doctor|Doc|Diagnosed|Started|My|Our|His|Her|He|She|It|In|On|At|After|Since|For|From|With|No|Not|Yes)\b)[A-ZÀ-Þ][a-zà-ÿ]{2,}) (?:on|from|at|in|down|next|who|over|across|along) (?:[\w'’]+ ){1,5}?(?:has|is|was|had|can['’]t|cannot|gets?|got|takes)\b"
)
# "I have a son who has asthma"; but "I'm somebody who" and "as a person who" are the speaker.
_DESCRIBED = re.compile(
    r"(?<!\bam )(?<!['’]m )(?<!\b[Aa]s )(?<!\bbe )(?<!\bwas )(?<!\bis )(?<!['’]s )"
    r"(?<!, )\b(?i:an?|the|some|another|this|that|one|my|our|his|her|their) (?:[\w-]+ ){1,3}who(?:['’]s)? "
)
_NEEDS_OWNER = frozenset("child kid baby friend partner boy girl cat dog bird horse mate ex toddler puppy".split())
_FEMALE = frozenset({"she", "her", "hers"})


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody whom a statement of health is about."""

    mention: Mention
    is_speaker: bool = False
    pronoun: str = ""  # that has meant them: "she" is nobody whom "he" meant

    @property
    def is_known(self) -> bool:
        """Return False for somebody whom a clause only mentions: "a patient"."""
        return bool(self.mention.text)

    @property
    def text(self) -> str:
        """Return how sentences call them."""
        return self.mention.text


_STRANGER = Owner(Mention(text=""))
_PLACE = Owner(Mention(text="", type=EntityType.PLACE))  # a name before a verb, behind "at" or "in"


def speaker_as_owner(speaker: Mention) -> Owner:
    """Return the speaker."""
    return Owner(mention=speaker, is_speaker=True)


def owner_in(
    clause: str, *, end: int, speaker: Mention, last: Owner, antecedent: Antecedent, has_statement: bool = True
) -> Owner:
    """Return whose the thing is that stands before `end`: the person named last before it, or else after it.

    `last` is whom the clause before was about, `antecedent` the person whom "she" means. Without a statement of health
    ("The nurse is on leave.") an unknown subject does not end talk about the one before.
    """
    if (listed := _in_brackets(clause, end, speaker)) is not None:
        return listed
    clause = _ASIDE.sub(lambda found: " " * len(found.group()), clause)  # "Emil (our youngest) can't …"
    seen = _Seen(end, before=_at_the_beginning(clause, end))
    seen.foreign = foreign_subject(clause, end=end) if has_statement else None
    for found in _SAID.finditer(clause):
        owner = _meant(found, clause, speaker, seen.other or last, Antecedent() if seen.other else antecedent)
        if owner is _PLACE:
            seen.take_place(found, has_statement=has_statement)
        elif owner is not None:
            seen.take(found, owner)
    is_relative = _RELATIVE.match(clause) is not None
    if seen.foreign is not None and not (last.is_known and not last.is_speaker and is_relative):
        return _STRANGER
    if seen.is_described(clause):
        return _STRANGER
    # "… who has had gout": who that is stands in the clause before.
    return seen.before or (last if is_relative else seen.after) or last


@dataclass(slots=True)
class _Seen:
    """Who was found in a clause so far, before and behind `end`."""

    end: int
    before: Owner | None = None
    place: int = -1  # where the one before stands
    after: Owner | None = None
    other: Owner | None = None  # the last one who is not the speaker: "she" means them
    foreign: ForeignSubject | None = None

    def take(self, found: re.Match[str], owner: Owner) -> None:
        self.other = self.other if owner.is_speaker else owner
        if found.start() < self.end:
            self.before, self.place = owner, found.start()
            if self.foreign is not None and _is_instead(found, self.foreign):
                self.foreign = None
        elif self.after is None and (owner.is_speaker or found["kin"]):
            self.after = owner

    def take_place(self, found: re.Match[str], *, has_statement: bool) -> None:
        """Know nobody behind "the girl I met in Rome", but somebody's sister behind "my sister in Cork"."""
        if has_statement and found.start() < self.end and (self.before is None or self.before.is_speaker):
            self.before, self.place = _STRANGER, found.start()

    def is_described(self, clause: str) -> bool:
        """Return True if somebody is only described behind the one before: "I have a son who"."""
        # "My students who": "my" is the speaker, and stands at the same place.
        last = self.place - 1 if self.before is not None and self.before.is_speaker else self.place
        described = _DESCRIBED.finditer(clause, 0, self.end)
        return any(each.start() > last and _is_somebody(each, clause) for each in described)


def _is_somebody(described: re.Match[str], clause: str) -> bool:
    """Return False for a doctor, who tells or gives, and where the speaker is meant: "the one who has asthma is me"."""
    noun = described.group().split(" who")[0].split()[-1].lower()
    is_doctor = _TREATS.search(noun) is not None and _HAS.match(clause[described.end() :]) is None
    return not is_doctor and not clause.rstrip(" .!").endswith(" is me")


def _in_brackets(clause: str, end: int, speaker: Mention) -> Owner | None:
    """Return behind whose name the brackets stand in which something is told, in a list of people."""
    found = _IN_BRACKETS.search(clause, 0, end)
    if found is None or _FIRST_PERSON.search(clause[found.end("name") : end]):
        return None
    if found["name"].lower() == "me":
        return speaker_as_owner(speaker)
    is_told_by_speaker = re.search(r"\b[Ii]\b", clause[: found.start()]) is not None
    return None if is_told_by_speaker else _person(found["name"])


def _is_instead(found: re.Match[str], foreign: ForeignSubject) -> bool:
    """Return True for whom the clause is about in place of its subject: "the doctor has me on", "my mum is"."""
    is_possessive = found["speaker"] or found["pronoun"]
    return found.start() >= (foreign.end if is_possessive else foreign.start)


def _at_the_beginning(clause: str, end: int) -> Owner | None:
    """Return who is named first, where more stands before the verb: "Ieuan on the next round has Parkinson's"."""
    first = _SOMEBODY_FIRST.match(clause)
    if first is None or first.end() > end:
        return None
    name = first.group("name")
    is_thing = is_food(name) or condition_length([name]) > 0 or next(medicines_in(name), None) is not None
    is_named = relatives.may_be_name(name) and not is_thing and _BODY.search(name) is None
    return Owner(Mention(text=name, type=EntityType.PERSON)) if is_named else None


def _meant(found: re.Match[str], clause: str, speaker: Mention, last: Owner, antecedent: Antecedent) -> Owner | None:
    if found["told"] or found["beside"]:
        return None
    if found["others"]:
        return Owner(Mention(text=found["others_name"] or found["others"], type=EntityType.PERSON))
    if found["stranger"]:
        return _STRANGER
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
    if found["of_theirs"]:
        return _STRANGER  # "my friend's cousin"
    if mine in ("my", "our") and _TREATS.search(word):
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
    if _IS_DESCRIBED.match(behind) and not _NO_CALL.search(before):
        return _STRANGER  # "Patient: John Smith, allergic to penicillin", or the speaker who calls somebody
    if _WHO_IS.match(behind):
        is_speaker = _IS_SPEAKER.search(before) is not None
        return None if is_speaker else _person(found["name"].split()[-1])  # "Tell Ana who is coeliac"
    after = behind.split()
    is_doing = not before and bool(after) and after[0].endswith("ing")  # "Ana sitting beside me is"
    acts = is_doing or (bool(after) and _is_verb(after[0].lower()))
    if acts and _AT.search(before):
        return _PLACE
    gets = _GETS.search(before) is not None
    return _person(found["name"], owns=found["owns"] or "") if found["owns"] or acts or gets else None


def _person(name: str, *, owns: str = "") -> Owner | None:
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
