"""Whom "she" or "he" at the beginning of a sentence refers to: the only person that the sentence before tells about."""

import re
from dataclasses import dataclass

from apps.pipeline.extraction.patterns.new_subjects import is_present
from apps.pipeline.extraction.patterns.relatives import may_be_name
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.kinship import KIN_WORDS, NOUNS, PLURALS, Gender
from apps.pipeline.lexicon.tables import alternation

_NAME = r"(?P<name>(?!(?:I|We|You|It|This|That|They|She|He|There|What|Who)\b)[A-ZÀ-Þ][\w’'-]*[a-zà-ÿ](?<!['’]s))"
_NAMED_KIN = re.compile(rf"\b(?:{alternation(KIN_WORDS)}),? {_NAME}")
_BEFORE_VERB = re.compile(
    rf"\b{_NAME}(?P<short>['’](?:s|ll|d))?(?: (?:just|also|still|never|already|only))? (?P<verb>[a-z]+(?:['’]t)?)"
)
# Somebody who is named elsewhere in the sentence may be meant as well.
_BESIDE = re.compile(rf"\b(?:and|or|with|to|for|by|than|of|met|told|saw|asked|visited|called|married|knows) {_NAME}")
_JOINED = re.compile(rf"\b{_NAME},? (?:and|or) (?=[A-ZÀ-Þ])")
# "Tom came with his sister": "she" is not Tom, and "he" is.
_OF_THEIRS = re.compile(
    rf"\b(?P<whose>his|her) (?:[a-z]+ )?(?P<kin>{alternation(KIN_WORDS - PLURALS)})(?![\w-])(?!,? [A-ZÀ-Þ])"
)
# "Priya's mum has rebooked, she's coming on Sunday" is about the mother.
_KIN_OF_NAMED = re.compile(
    rf"(?:^|, |(?:and|but|so|because) )(?P<owner>{_NAME.replace('?P<name>', '?:')})['’]s (?P<kin>(?:[a-z]+ )?(?:{alternation(KIN_WORDS - PLURALS)}))(?=(?:['’]s)? [a-z]+)"
)
# "No, Marco Bellini, we were at school together"
_TOPIC = re.compile(
    r"^(?:(?:no|yes|oh|ah|well|so|it's|that's),? )*(?P<name>[A-ZÀ-Þ][\w’'-]*[a-zà-ÿ](?: [A-ZÀ-Þ][\w’'-]+)?), (?:we|he|she|who)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^(?P<opener>(?:(?i:and|but|so|also|oh|well|yes|yep|yeah|yup|no|nope|right),? |(?:[Mm]y|[Oo]ur|[Tt]he) [a-z ]{2,30}, )?)(?P<who>[Ss]he|[Hh]e)(?P<short>['’](?:s|ll|d))? (?=[a-z])"
)
# "That's my ex-wife", of the one person before.
_THAT = re.compile(
    rf"^[Tt]hat(?:['’]s| is|s) (?=(?:my|our) (?:[a-z-]+ ){{0,2}}(?:{alternation(KIN_WORDS - PLURALS)})\b)"
)
# "Her birthday is on 2 May"
_POSSESSIVE = re.compile(
    r"^(?P<opener>(?:(?i:and|but|so|also|oh|yes|yep|yeah|no),? )?)(?P<who>[Hh]er|[Hh]is) (?=[a-z]+ (?:[a-z]+ )?(?:is|was|are|has|had|will)\b)"
)
_IS_CALLED = re.compile(r"(?:is )?(?:called|named) [A-ZÀ-Þ]")
# "Where does Ana live?", "How old is Mateo?", "Is Mateo your son?"; "Was Rome nice?" names no person for sure.
_LAST_QUESTION = re.compile(r"[^.!?]*\?\W*$")
_ASKED_ABOUT = re.compile(
    rf"(?:\b(?i:does|did|has|had|will|can|could|should|about|how old (?:is|was)|who(?:['’]s| is| was)|how(?:['’]s| is| was)) {_NAME}"
    rf"|\b(?i:is|was) {_NAME.replace('?P<name>', '?P<being>')} (?:your|feeling|doing|coming|going|working|living|staying|older|younger|married|well|better|ok|okay|allergic|vegan|vegetarian)\b)"
)
_YOUR_KIN = re.compile(rf"(?i)\byour (?P<kin>(?:[a-z]+ )?(?:{alternation(KIN_WORDS - PLURALS)}))(?![\w-])")
_PRONOUNS = {Gender.FEMALE: "she", Gender.MALE: "he", None: ""}
_PRONOUN_OF = {"her": "she", "his": "he"}
# "Our first designer, she starts on 1 April" is about our first designer Aisha.
_ROLE_BEFORE = re.compile(r"^((?:[Mm]y|[Oo]ur) .+), $")
# "I saw Dad's doctor today. He's got diabetes": who is the speaker's own needs no name.
_OWN = re.compile(
    rf"(?<!be )(?<!is )(?<!was )(?<!as )\b(?:[Mm]y|[Oo]ur) (?P<own>(?:[a-z]+ )?(?:{alternation(KIN_WORDS - PLURALS)}))(?![\w-])(?!,? [A-ZÀ-Þ])|(?:\b(?P<parent>Mum|Mom|Mam|Dad|Mummy|Mommy|Daddy|Papa|Gran|Granny|Grandma|Grandad|Grandpa|Nan)|^(?P<title>mum|mom|mam|dad|mummy|daddy|papa|gran|granny|grandma|grandad|grandpa|nan)(?=['’]s | [a-z]))\b"
)
_REFERRING = frozenset({"she", "he", "her", "his", "that", "shes", "hes", "thats"})
_LETTERS = re.compile(r"[a-z]+")
_FINITE = frozenset("is was has had can will would does did must should may might cannot".split())


@dataclass(frozen=True, slots=True)
class Antecedent:
    """A person who was named, and the pronoun that has referred to them since."""

    name: str = ""
    pronoun: str = ""

    def put_into(self, sentence: str) -> str:
        """Return a sentence with the name for the pronoun at its beginning."""
        found = _PRONOUN.match(sentence)
        if found is None:
            return self._named_otherwise(sentence)
        if not self._may_be(found["who"].lower()) or self._is_other(sentence[found.end() :]):
            return sentence
        rest = sentence[found.end() :]
        opener = _ROLE_BEFORE.sub(r"\1 ", found["opener"])
        return f"{opener}{self.name} {_written_out(found['short'] or '', rest)}{rest}"

    def _named_otherwise(self, sentence: str) -> str:
        """Return "Aoife is my ex-wife" for "That's my ex-wife", "Leo's birthday is" for "His birthday is"."""
        is_name = self.name[:1].isupper() and "'s " not in self.name
        if is_name and (told := _THAT.match(sentence)):
            return f"{self.name} is {sentence[told.end() :]}"
        owned = _POSSESSIVE.match(sentence)
        if owned is None or not self._may_be(_PRONOUN_OF[owned["who"].lower()]):
            return sentence
        return f"{owned['opener']}{self.name}'s {sentence[owned.end() :]}"

    def refers(self, sentence: str) -> bool:
        """Return True if a sentence begins with "she" or "he"."""
        return _PRONOUN.match(sentence) is not None

    def after(self, sentence: str) -> "Antecedent":
        """Return whom the next sentence may refer to, after this one as it was said."""
        found = _PRONOUN.match(sentence)
        if found is None:
            return _beside_theirs(_person_in(sentence), sentence)
        pronoun = found["who"].lower()
        return Antecedent(self.name, pronoun) if self._may_be(pronoun) else Antecedent()

    def _is_other(self, rest: str) -> bool:
        """Return True for "she is called Floor" after somebody who has a name already."""
        return self.name[:1].isupper() and "'s " not in self.name and _IS_CALLED.match(rest) is not None

    def _may_be(self, pronoun: str) -> bool:
        return bool(self.name) and self.pronoun in ("", pronoun) and _PRONOUNS[_gender_of(self.name)] in ("", pronoun)


def _beside_theirs(name: str, sentence: str) -> Antecedent:
    """Return somebody, by the pronoun that tells them from a relative of theirs in the same sentence."""
    found = _OF_THEIRS.search(sentence) if name else None
    if found is None:
        return Antecedent(name)
    own, other = _PRONOUN_OF[found["whose"]], _PRONOUNS[NOUNS[found["kin"]].gender]
    return Antecedent(name, own) if other not in ("", own) else Antecedent()


def _gender_of(name: str) -> Gender | None:
    """Return the gender of a relative who has no name: "my son"."""
    noun = NOUNS.get(name.rpartition(" ")[2])
    return noun.gender if noun is not None else None


def _written_out(short: str, rest: str) -> str:
    """Return the verb of "she's" or "he'll", with a space behind it."""
    if short[1:] == "s":
        return "has " if rest.partition(" ")[0] in verbs.PARTICIPLES | {"got"} else "is "
    return {"ll": "will ", "d": "would "}.get(short[1:], "")


def may_refer(text: str) -> bool:
    """Return False if a text surely doesn't begin with a pronoun."""
    return not _REFERRING.isdisjoint(_LETTERS.findall(text[:40].lower())[:4])


def _person_in(sentence: str) -> str:
    """Return the name of the only person that a sentence tells about; "" if there is none, or more than one."""
    if topic := _TOPIC.match(sentence):
        return topic["name"]
    people = people_in(sentence)
    return people.pop() if len(people) == 1 else ""


# "Patty took her in": two are told about, and one of them is not named.
_SOMEBODY_ELSE = re.compile(
    r"[A-ZÀ-Þ][a-z]+ [a-z]+(?:ed|ook|ave|ot|old|ut|aw|ets|akes|ives|rove|rought) (?:her|him)(?= (?:in|out|to|and|up|off|at|from|there|back|with|home|over)\b|$|[,.])"
)


def only_person_told_about(text: str) -> str:
    """Return whom a text tells about, if it names nobody else; "" if there is nobody, or no name is surely a person's."""
    people = people_in(text)
    if _SOMEBODY_ELSE.search(text):
        return ""
    return people.pop() if people and people == people_in(text, beside=False) and len(people) == 1 else ""


def asked_about(text: str) -> Antecedent | None:
    """Return whom the question at the end of a text is about; somebody without a name if about several, None if unknown."""
    question = _LAST_QUESTION.search(text)
    if question is None:
        return None
    asked = {each["name"] or each["being"] for each in _ASKED_ABOUT.finditer(question.group())}
    people = people_in(question.group()) | {each for each in asked if may_be_name(each)}
    people = people or {f"my {each['kin'].lower()}" for each in _YOUR_KIN.finditer(question.group())}
    if not people:
        return None
    return Antecedent(people.pop()) if len(people) == 1 else Antecedent()


def people_in(sentence: str, *, beside: bool = True) -> set[str]:
    """Return the names of those whom a text tells about, and the speaker's relatives as "my mother".

    What stands beside (`to Rome`) may be a place as well.
    """
    owned = {
        f"{each['owner']}'s {each['kin']}": each["owner"]
        for each in (_KIN_OF_NAMED.finditer(sentence) if "'s " in sentence or "’s " in sentence else ())
    }
    parents = {(each["own"] or each["parent"] or each["title"]).lower() for each in _OWN.finditer(sentence)}
    others = _BESIDE.finditer(sentence) if beside else ()
    found = {each["name"] for each in (*_NAMED_KIN.finditer(sentence), *_JOINED.finditer(sentence), *others)}
    subjects = {each["name"] for each in _BEFORE_VERB.finditer(sentence) if _tells(each)}
    people = {each for each in found | subjects if may_be_name(each) and each.lower() not in parents}
    return (people - set(owned.values())) | set(owned) | {f"my {each}" for each in parents}


def _tells(found: re.Match[str]) -> bool:
    verb = found["verb"].replace("’", "'")
    is_finite = verb.endswith("n't") or verb in _FINITE or is_present(verb) or verbs.must_be_past(verb)
    return bool(found["short"]) or is_finite
