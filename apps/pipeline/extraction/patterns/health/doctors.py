"""Who treats somebody: "my cardiologist is Feldman", "Dr Miller is her dermatologist", "he sees Dr. Okafor"."""

from collections.abc import Iterator

import re2

from apps.pipeline.extraction.patterns.health.medicines import FindOwner
from apps.pipeline.extraction.patterns.health.terms import start_of
from apps.pipeline.extraction.patterns.health.told import HealthStatement

_PROFESSION = r"(?P<what>(?:[\p{L}]+ )?(?:nurse|consultant|specialist|surgeon|doctor|therapist)|\p{L}+(?:ologist|iatrist)|gp|ob|obgyn|dentist|pa?ediatrician|midwife|physio(?:therapist)?|optician|dieti[ct]ian|counsell?or|vet)"
_NAME = r"(?P<name>(?:(?:Dr|Dr\.|Doctor|Mr|Mrs|Ms|Miss|Sister) )?\p{Lu}\p{Ll}[\p{L}'’-]*(?: \p{Lu}\p{Ll}[\p{L}'’-]*)?)"
_PLACE = r"(?P<place>,? (?:at|from|in) (?:the )?\p{Lu}[\p{L}'’]*(?: (?:and|of|\p{Lu})[\p{L}'’]*){0,3})?"
_MAY_TELL = re2.compile(rf"(?i)\b(?:dr|doctor)\b|\b{_PROFESSION}\b")
_WHOSE = r"(?:(?:my|our|her|his|their|\p{Lu}\p{Ll}+['’]s|the) (?:new |old )?)"
_IS_NAMED = re2.compile(
    rf"(?:^|[ ,])(?i:{_WHOSE})?(?i:{_PROFESSION})(?:['’]s|,| is| is called| called)?(?: now)? {_NAME}{_PLACE}"
)
_NAME_IS = re2.compile(
    rf"{_NAME}(?:['’]s| is|, that['’]s|, he['’]s|, she['’]s) (?i:{_WHOSE})(?i:{_PROFESSION})\b{_PLACE}"
)
_SEES = re2.compile(
    rf"(?i:\b(?:sees?|seeing|saw|under|with) )(?P<name>(?:Dr|Dr\.|Doctor) \p{{Lu}}[\p{{L}}'’-]+){_PLACE}"
)
_NO_NAMES = re2.compile(
    r"^(?:I|The|My|And|But|So|He|She|It|They|We|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|June|July|August|September|October|November|December)\b"
)


def doctors_told(clause: str, *, owner_before: FindOwner) -> Iterator[HealthStatement]:
    """Yield who treats somebody, by name."""
    if not _MAY_TELL.search(clause):
        return
    found = _NAME_IS.search(clause) or _IS_NAMED.search(clause)
    if found is not None and not _NO_NAMES.match(found.group("name")):
        what, place = found.group("what").lower().removeprefix("is "), found.group("place") or ""
        owner = owner_before(start_of(found, "what"))
        if owner.text != found.group("name") and not owner.is_only_a_pronoun:
            name = found.group("name")
            told = f"{owner.text}'s {what} is {name}{place}"
            yield HealthStatement(owner, "sees_doctor", name, "", sentence=told)
        return
    if sees := _SEES.search(clause):
        name = sees.group("name")
        told = f"sees {name}{sees.group('place') or ''}"
        yield HealthStatement(owner_before(sees.start()), "sees_doctor", name, told)
