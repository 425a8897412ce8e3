"""What somebody's body does not bear: allergies, reactions, and what they must not have.

Read by structure: a thing, what it does to somebody, and a sign of the body ("X gives me a rash"); a sign and its cause
("I get a rash from X"); what is not allowed ("I can't have X", "X is forbidden for me").
"""

from collections.abc import Iterator

import re2

from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.health.medicines import FindOwner
from apps.pipeline.extraction.patterns.health.owner import Owner
from apps.pipeline.extraction.patterns.health.terms import SYMPTOM, conditions_in, end_of, medicines_in, start_of
from apps.pipeline.extraction.patterns.health.told import HealthStatement
from apps.pipeline.lexicon.foods import is_food

_THING = r"(?:(?:the|any|anything with|all|them|those|these) )?(?P<thing>[\p{L}'’-]+(?: [\p{L}'’-]+){0,3}?)"
_END = r"(?:$|[,.;!?(:]| -| –| (?:and|but|because|cause|cos|so|or I|since|as|at all|any ?more|either|too|though|either|by|in|at|when|without|after|unless|for|now|again|ever|it|she|he|they|my|her|his|the|I)\b)"
_ADVERBS = r"(?:(?:always|really|just|also|still|once|only|never|even|totally|absolutely|has|have|had|straight|usually|both) )*"
_DOES = (
    r"(?:gives?|gave|given|makes?|made|brings?|brought|sets?|puts?|sends?|sent|turns?|turned|leaves?|left|upsets?|kills?|destroys?|wrecks?|ruins?|bothers?|triggers?|causes?|got|stung|bit|knocks?|floors?"
    r"|do|does|did)"
)
_DISAGREES = r"(?:(?:doesn['’]?t|does not|didn['’]?t|did not|don['’]?t|never) (?:agree with|suit|sit well with|go down well with)|disagrees? with)"
_BODY_PART = r"(?:stomach|skin|throat|head|eyes|heart|mouth|lips|belly|tummy|gut|joints)"
_WHOM = rf"(?:me|us|him|her|my {_BODY_PART}|her \w+|his \w+|\p{{Lu}}\p{{Ll}}+)"
_SEVERE = r"(?:stop(?:s|ped)? breathing|throat (?:\w+ ){0,2}(?:clos\w+|swell\w*|swelled|tight\w*|itch\w*)|(?:in|into|to) (?:the )?(?:ER|A and E|A&E|emergency|hospital)|ambulance|epi-?pen|collapsed)"
_RESUMED = (
    r"(?:,? (?:(?:because|as|since|but|and) )?(?:it|they|that|which))?"  # "not tree nuts, they send me to the ER"
)
_CONJUNCTION = re2.compile(r"(?i)^(?:(?:since|because|cause|cos|as|and|but|so|that) )+")
_IN_ITS_PLACE = re2.compile(rf"(?i)^{_RESUMED}(?: |$)")
_CAUSES = re2.compile(
    rf"(?i)(?:^|[,;] |\b(?:since|because) )(?:(?:and|but|so|also|because|cause|since|as|not|no) )?{_THING}{_RESUMED} {_ADVERBS}(?:(?P<does>{_DOES}) (?P<whom>{_WHOM})\b(?P<effect>.*)|(?P<not>{_DISAGREES}) (?P<who>{_WHOM})\b.*)$"
)
# "Dust brings on my asthma", "chlorine makes her eczema worse"
_BRINGS_ON = re2.compile(
    rf"(?i)(?:^|[,;] |\b(?:and|but|so|since|because|cause|that) ){_THING} {_ADVERBS}(?:(?:brings? on|brought on|sets? off|triggers?|aggravates?|aggravated|worsens?|irritates?|inflames?) (?:my|her|his) (?P<what>[^,.;!?]+?)|makes? (?:my|her|his) (?P<worse>[^,.;!?]+?) worse){_END}"
)
_EFFECT = re2.compile(rf"(?i)\b(?:{SYMPTOM}|{_SEVERE})\b")
_SETS_OFF = re2.compile(r"(?i)^sets?$")
_OFF = re2.compile(r"(?i)^ off\b")
_HARM = re2.compile(r"(?i)^(?:upsets?|kills?|destroys?|wrecks?|ruins?|triggers?|bothers?|knocks?|floors?)$")
_REACTS = re2.compile(
    rf"(?i)\b(?:I['’]?m|am|is|gets?|getting|got|breaks? out|broke out|comes? out|came out|swells? up|has|have|having|had|go(?:es)?|went|feels?)\b.{{0,30}}?\b(?:{SYMPTOM}|{_SEVERE})\b.{{0,25}}?"
    rf" (?:from|after|whenever|when(?:ever)? (?:I|she|he|we) (?:eats?|have|has|drinks?|takes?)|due to|because of|(?:each|every) time (?:I|she|he) (?:eats?|have|has|drinks?|takes?)) (?:(?:I|she|he) (?:eats?|have|has|drinks?|am eating|takes?) )?{_THING}{_END}"
)
_REACTS_TO = re2.compile(
    rf"(?i)\b(?:react|reacts|reacted|reacting)(?: (?:badly|strongly|terribly|really|very|so)){{0,2}} to {_THING}{_END}"
)
_NOT_ALLOWED = r"(?:can['’]?t|cannot|can not|carn['’]?t|must(?: also)? not|mustn['’]?t|(?:not|n['’]t) allowed(?: to)?|never(?: again)?|unable to|shouldn['’]?t|should not|not to|may not|can never|never can|don['’]?t tolerate|doesn['’]?t tolerate|couldn['’]?t)"
_HAVE = r"(?:(?:also|even|really|ever|actually|be given|go near) )*(?:eat|have|drink|take|do|touch|tolerate|go near|be given|digest|stomach|handle|bear|use)"
_CANNOT = re2.compile(rf"(?i)\b{_NOT_ALLOWED} (?:{_HAVE} )(?:(?:owt|anything|food|nothing|stuff) with )?{_THING}{_END}")
_FRONTED = re2.compile(
    rf"(?i)^(?:(?:and|but|so|also) )?{_THING},? (?:I|we|she|he|\p{{Lu}}\p{{Ll}}+) (?:{_NOT_ALLOWED}(?: {_HAVE})?{_END}|can (?:eat|drink|have|take) only (?P<only>[^,.;]+))"
)
_FORBIDDEN = re2.compile(
    rf"(?i)(?:^(?:(?:and|but|so|also) )?|, |and |but |so ){_THING} (?:is|are) (?:(?:completely|totally|strictly|now|also) )*(?:forbidden|not allowed|off limits|banned|out forever|out for (?:me|her|him)|poison|a no|prohibited|a no[- ]go)\b"
)
_ALLERGIC = re2.compile(
    rf"(?i)\b(?:allergic|allergies|allergy|intolerant)(?: (?:to|is|are|for)|:) (?P<thing>[\p{{L}}'’-]+(?:(?:,? (?:and|or)|,)? [\p{{L}}'’-]+){{0,4}}?){_END}"
)
_HAS_ALLERGY = re2.compile(
    r"(?i)\b(?:has|have|got|with|my|her|his|['’]s) (?:an? )?(?:(?:bad|severe|serious|mild) )?(?P<thing>[\p{L}-]+(?: [\p{L}-]+)?) (?:allergy|intolerance)\b"
)
_INTOLERANT = re2.compile(r"(?i)\b(?P<thing>\p{L}{3,})[ -]intolerant\b")
_AGAINST = re2.compile(r"(?i)\b(?:not|n['’]t|no longer|never|wasn['’]t|isn['’]t|no)(?: \w+){0,2}$")
# "As a kid I was allergic to eggs" is over; "they found out I was allergic to eggs" is not.
_WAS = re2.compile(r"(?i)\b(?:was|were|used to be)(?: (?:\w+ly|so|very|really|super)){0,2} $")
_FOUND_OUT = re2.compile(
    r"(?i)\b(?:said|says|told|tells|found|turn(?:ed|s) out|discovered|reali[sz]ed|learn(?:ed|t)|confirmed|showed|shows|knew|forgot|remembered|mentioned|warned|noticed|explained|wrote|saw|aware|results|diagnosed)\b"
)
_STILL = re2.compile(r"(?i)\bstill (?:am|is|are)\b")
_AS_A_CHILD = re2.compile(
    r"(?i)\b(?:as an? |when i was (?:an? )?)(?:small |little |young )?(?:kid|child|baby|toddler|teenager|boy|girl|young|little)\b"
)
_OF_THE_MOMENT = re2.compile(
    r"(?i)\b(?:today|tonight|yesterday|last night|this (?:morning|afternoon|evening|week)|right now|at the moment)\b"
)
_NEXT = re2.compile(
    r"(?i), (?:and |so |but )?(?:he|she|they|it|which|we|i|that)\b.*$| i (?:skip|avoid|do|don['’]t|never|stopped (?:eating|having|drinking|taking)|leave|can['’]t|gave)\b.*$"
)
# "Since coffee gives me palpitations I drink tea": the main clause begins at its subject.
_SUBORDINATE = re2.compile(r"(?i)^(?:since|because|as|cause|cos) ")
_MAIN_CLAUSE = re2.compile(
    rf"(?i)(?P<kept>\b(?:{SYMPTOM}|it|them)),? (?:and )?(?:I|we|she|he|they)(?:['’]\w+)? .*$|, (?:I|we|she|he|they)(?:['’]\w+)? .*$"
)
_HIM = re2.compile(rf"(?i)\b(?:(?:his|her) (?P<part>{_BODY_PART})|him|her)\b")
_TRIGGER = re2.compile(
    r"(?i)^(?:(?:and|but|so|also) )?(?P<what>[\p{L}'’-]+(?: [\p{L}'’-]+){0,5}) (?:is|are) (?:(?:the|a|one of) )?(?:my|her|his) (?:(?:main|big|worst|only) )?(?P<trigger>triggers?)\b"
)
_NO_THING = frozenset(
    "it this that they them these those one he she we i you there who which what everything something anything nothing everyone the a an some any much more my her his "
    "him me us things stuff way life work today doctor nurse husband wife kids baby people stress news weather look place time care part that's up please let just god then when where how why not no yes".split()
)

# Every reaction contains one of these: to ask once is quicker than to ask for each form.
_MAY_TELL = re2.compile(
    rf"(?i)allerg|intoleran|\b(?:can['’]?t|cannot|can|carn['’]?t|must\w*|never|not|\w+n['’]?t|allowed|forbidden|limits|banned|out|poison|no|prohibited|react\w*|triggers?|disagrees?"
    rf"|upsets?|kills?|destroys?|wrecks?|ruins?|bothers?|causes?|brings?|brought|aggravat\w+|worse\w*|irritates?|inflames?|knocks?|floors?|sets?|{SYMPTOM}|{_SEVERE})\b"
)


def reactions_told(clause: str, *, owner_before: FindOwner) -> Iterator[HealthStatement]:
    """Yield what a clause says that somebody doesn't bear or must not have."""
    if not _MAY_TELL.search(clause):
        return
    for told in (_allergy(clause, owner_before), _forbidden(clause, owner_before), _cause(clause, owner_before)):
        if told is not None:
            yield told


def _allergy(clause: str, owner_before: FindOwner) -> HealthStatement | None:
    intolerant = _INTOLERANT.search(clause)
    if intolerant and not _is_over(clause, clause[: intolerant.start()]):
        thing = intolerant.group("thing").lower()
        owner = owner_before(intolerant.start())
        return HealthStatement(owner, "is_intolerant", thing, f"is {thing} intolerant")
    found = _ALLERGIC.search(clause) or _HAS_ALLERGY.search(clause)
    if found is None or _AGAINST.search(clause[: found.start()].strip()) or not _is_thing(found.group("thing")):
        return None
    owner = owner_before(found.start())
    thing = found.group("thing").strip(" ,'’")
    if _is_over(clause, clause[: found.start()]):
        return None
    phrase = f"is allergic to {thing}" if found.re is _ALLERGIC else f"has a {thing} allergy"
    return HealthStatement(owner, "allergic_to", thing.lower(), phrase)


def _is_over(clause: str, before: str) -> bool:
    """Return True if what stands before an allergy says that somebody had it, and the clause not that they found out."""
    if not _WAS.search(before):
        return False
    return _AS_A_CHILD.search(clause) is not None or not (_FOUND_OUT.search(before) or _STILL.search(clause))


def _forbidden(clause: str, owner_before: FindOwner) -> HealthStatement | None:
    found = _CANNOT.search(clause)
    fronted = None if found else _FRONTED.match(clause) or _FORBIDDEN.search(clause)
    told = found or fronted
    if told is None or not _is_thing(told.group("thing")):
        return None
    thing = told.group("thing").strip(" '’")
    owner = owner_before(start_of(told, "thing") if found else len(clause))
    if not (found or _is_consumed(thing)):
        return None
    if found is not None and not (_is_consumed(thing) or _mentions_body(clause)):
        return None
    only = told.group("only") if told.re is _FRONTED else None
    phrase = f"can have {thing.lower()} only {only.strip()}" if only else f"cannot have {_lower_first(thing)}"
    return HealthStatement(owner, "cannot_have", thing.lower(), phrase, is_negated=True)


def _cause(clause: str, owner_before: FindOwner) -> HealthStatement | None:
    if _OF_THE_MOMENT.search(clause):
        return None
    trigger = _TRIGGER.match(clause)
    if trigger is not None and _is_thing(trigger.group("what")):
        owner, what = owner_before(len(clause)), trigger.group("what")
        are = "are triggers" if what.endswith("s") else "is a trigger"
        told = f"{what[:1].upper()}{what[1:]} {are} of {owner.text}'s symptoms"
        return HealthStatement(owner, "reacts_to", what.lower(), "", sentence=told)
    reacts = _REACTS_TO.search(clause) or _REACTS.search(clause)
    if reacts is not None and _is_thing(reacts.group("thing")):
        owner = owner_before(reacts.start())
        symptom = clause[reacts.start() : end_of(reacts, "thing")]
        return _as_said(clause, symptom, reacts.group("thing"), owner)
    if brought := _brought_on(clause, owner_before):
        return brought
    found = _CAUSES.search(clause)
    if found is None or not _is_thing(found.group("thing")):
        return None
    does = found.group("does") or ""
    if found.group("not") is None and not (
        _HARM.match(does)
        or _EFFECT.search(found.group("effect"))
        or (_SETS_OFF.match(does) and _OFF.match(found.group("effect")))
    ):
        return None
    thing = found.group("thing")
    if _HARM.match(does) and not (_is_consumed(thing) or _EFFECT.search(found.group("effect"))):
        return None
    owner = owner_before(len(clause))
    said = f"{thing}{_effect_of(clause, end_of(found, 'thing'))}".strip(" ,;.!")
    return HealthStatement(owner, "reacts_to", thing.lower(), "", sentence=_written(said, owner))


def _effect_of(clause: str, end: int) -> str:
    """Return what a clause says behind a thing that ends at `end`, as far as it is about what the thing does."""
    behind: str = _IN_ITS_PLACE.sub(" ", clause[end:])
    if _SUBORDINATE.match(clause):
        behind = _MAIN_CLAUSE.sub(lambda found: found["kept"] or "", behind)
    effect: str = _NEXT.sub("", behind)
    return effect


def _brought_on(clause: str, owner_before: FindOwner) -> HealthStatement | None:
    """Read what brings on a condition or makes it worse: "Dust brings on my asthma"."""
    found = _BRINGS_ON.search(clause)
    if found is None or not _is_thing(found.group("thing")):
        return None
    what = found.group("what") or found.group("worse")
    if not (_EFFECT.search(what) or next(conditions_in(what), None)):
        return None
    owner = owner_before(len(clause))
    said = _NEXT.sub("", _CONJUNCTION.sub("", clause[start_of(found, "thing") :])).strip(" ,;.!")
    thing = _CONJUNCTION.sub("", found.group("thing").lower())
    return HealthStatement(owner, "reacts_to", thing, "", sentence=_written(said, owner))


def _as_said(clause: str, said: str, thing: str, owner: Owner) -> HealthStatement:
    verb = said.strip()
    first, _, rest = verb.partition(" ")
    base = {
        "get": "gets",
        "getting": "gets",
        "have": "has",
        "having": "has",
        "go": "goes",
        "feel": "feels",
        "react": "reacts",
        "i'm": "is",
        "am": "is",
        "im": "is",
        "break": "breaks",
        "come": "comes",
        "swell": "swells",
    }
    phrase = f"{base.get(first.lower(), first.lower())} {rest}"
    phrase = third_person.third_person(phrase, name=owner.text) if owner.is_speaker else phrase
    return HealthStatement(owner, "reacts_to", thing.lower(), phrase)


def _written(said: str, owner: Owner) -> str:
    if not owner.is_speaker and not owner.is_only_a_pronoun:
        said = _HIM.sub(lambda found: f"{owner.text}'s {found['part']}" if found["part"] else owner.text, said, count=1)
    text = third_person.third_person(said, name=owner.text if owner.is_speaker else "User")
    return text[:1].upper() + text[1:]


def _is_thing(text: str) -> bool:
    words = [word.lower().strip("'’") for word in text.split()]
    is_short_form = any(word.endswith(("'ve", "'re", "'m", "'ll", "n't")) for word in words)
    return bool(words) and words[0] not in _NO_THING and words[-1] not in _NO_THING and not is_short_form


def _is_consumed(thing: str) -> bool:
    """Return True for a food or medicine; the last word says what a thing is: "baked egg", "wheat flour"."""
    words = thing.lower().replace(",", " ").split()
    return any(is_food(word) for word in words) or next(medicines_in(thing), None) is not None


def _mentions_body(clause: str) -> bool:
    return _EFFECT.search(clause) is not None


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
