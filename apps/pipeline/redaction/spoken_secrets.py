"""Secrets in sentences: "my pin is …", "das WLAN-Passwort lautet …", "tape …, c'est le code", "el candado abre con …".

A sentence with a word for a secret, or for what a secret opens, is searched for values (spoken_secrets.toml has the
words). A number counts where nothing is counted by it and it is no date or time; a word of letters and digits where its
place or its form shows it; an ordinary word only as a password. The weaker the word, the more a value has to show.
"""

import tomllib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.core.plain_letters import plain_letters
from apps.pipeline.redaction.finding import Finding, pattern
from apps.pipeline.redaction.vendor_keys import NO_LITERALS, is_reference

_WORDS = tomllib.loads(Path(__file__).with_name("spoken_secrets.toml").read_text(encoding="utf-8"))
_OF = {name: "|".join(rows.values()) for name, rows in _WORDS.items() if name != "nouns"}
_KINDS = {kind: "|".join(rows.values()) for kind, rows in _WORDS["nouns"].items()}
_PASSWORD, _CODE, _THING, _ACCOUNT, _KEY, _LOGIN = "password", "code", "thing", "account", "key", "login"
_OPENED = (_THING, "door", "opening", "device")
# Of several words near a value, the first of these kinds counts.
_BY_STRENGTH = (_PASSWORD, _CODE, "number", *_OPENED, _ACCOUNT, _KEY, _LOGIN, "one")
_NEAR = 80  # maximal distance of a value from the word for the secret, in characters

_NOUN = r"(?:^|[^\pL\pN_])(?:" + "|".join(f"(?P<{kind}>{nouns})" for kind, nouns in _KINDS.items()) + r")\b"
_OTHER_HEAD = rf"^(?:{_OF['other_head']})"
_IS_PUBLIC = rf"(?:^|[^\pL])(?:{_OF['public']})[ -]?$"
_PUBLIC_NOUN = rf"(?:{_OF['public']})[ -]?(?:codes?|pins?)$"
# An exclamation mark before a small letter may be the end of a password.
_SENTENCE = r"(?:[^.!\n]|[.!][^\s]|!\s\p{Ll})+[.!]?"
_TURNS = r"(?:\d\d? (?:left|right|links|rechts|(?:a )?(?:gauche|droite)|izquierda|derecha)[, ]*){2,4}"
_SPACED = r"\d(?: \d){3,9}|\d\d(?: \d\d){2,3}\b|\d{3} \d{3}(?: \d{3})?\b"
_READ_OUT = r"^\d(?: \d){3,9}$"  # digit by digit: nobody writes an amount or a year so
_TOKEN = rf"{_TURNS}|{_SPACED}|[^\s\"“”„«»]+"
_NUMBER = rf"^(?:{_TURNS}|{_SPACED}|\d{{3,19}}|\d{{1,4}}(?:-\d{{1,4}}){{2,4}})$"
_QUOTED = r"(?:^|[\s(:=])[\"“„«'‘]\s?(?P<value>[^\"“”„«»\n'‘’]{3,60}?)\s?[\"“”»'’]"
_PHRASE = r"(?:phrase|\bwords|worter|mots|palabras)[^:]*: (?P<value>\pL+(?: \pL+){2,11})"
_PAIR = r"[\pL\d.@+_-]{2,64}(?:\s*[/|,]\s*|\s+(?:and(?: then)?|und|et|y)\s+)(?P<value>[^\s\"“”„«»/|,]{4,64})"
_SIGNS = "!#$%&*+=@_?"
_OPENING, _TRAILING = "('‘’`[{", ".,;:?)]}'’`#*"
_YEAR = r"^(?:19|20)\d\d$"
_DATE = (
    r"^(?:\d{4}[-./]\d\d?[-./]\d\d?|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d|\d{1,2}[./]\d{1,2}(?:[./]\d\d)?"
    r"|\d\d?:\d\d\S*)$"
)
# Versions, amounts with a unit, ordinals, numbers in code, and addresses.
_OTHER_VALUE = (
    r"(?i)^(?:v?\d+(?:[.,]\d+)*(?:[°%€$£]|[µmkcd]?[gml]|[km]?[whvzs]|k?wh|[kmgt]i?b|mah|px|k|p|x|°c|st|nd|rd|th|er|ème"
    r"|e)?|[€$£]\d\S*|0x[0-9a-f]+|\S+@\S+\.\S+|@\S+|https?:\S*|\S*[/(\[]\S*)$"
)
_LINK = (
    rf"(?:(?:^|[\s,])(?:{_OF['link']})|(?:^|\bit|\bthat|\bone)'s|\bc'est|[:=?])"
    rf"(?:\s(?:{_OF['filler']}))*\s*[\"“„«'(]?\s?$"
)
# An ordinary word is only a value after a word of being, or where the password is set: not "my password … in Leeds".
_WORD_LINK = (
    rf"(?:(?:^|[\s,])(?:{_OF['is']})|(?:^|\bit|\bthat|\bone)'s|\bc'est|[:=]"
    rf"|(?:^|\s(?:{_OF['sets']}))\s(?:{_OF['becomes']}))(?:\s(?:{_OF['filler']}))*\s*[\"“„«'(]?\s?$"
)
_LINKS_BACK = r"(?:^|[\s,])(?:is|was|as|ist|war|als|lautet|est|etait|comme|es|era|como|(?:that|it)'s|c'est)\s"
_ENTERS = rf"(?:^|\s)(?:{_OF['enters']})(?: (?:the|die|den|le|la|el))?\s$"
_ENTERED = rf"^[#*]?\s(?:{_OF['entered']})\b"
# What may follow a number that counts nothing: the end of a clause, a function word or a German participle.
_GOES_ON = rf"^[#*]?(?:\s*$|\s*[.,;:!?()\n\"'”»–—/-]|\s+(?:{_OF['goes_on']}|{_OF['entered']})\b)"
_TIMES = rf"(?:^|\s)(?:{_OF['times']})\s$"
_PRICED = rf"(?:^|\s)(?:{_OF['priced']})\s$"
_NUMBERED = rf"(?:^|\s)(?:{_OF['numbered']})\s$"
# Adjectives and participles describe a password, by their endings.
_DESCRIBES = (
    rf"^(?:{_OF['describes']}|{'|'.join(NO_LITERALS)}|.*(?:ed|ing|able|ible|ive|lich|bar|iert|ado|ada|ido|ida"
    r"|ct|id))$"
)
_ENDS_CLAUSE = r"^[\"'`”“»]?\s*(?:$|\n|[.,;!?)]|(?:and|but|for|so|und|aber|oder|et|mais|y|ohne|with|sans|sin|avec)\b)"


@dataclass(frozen=True, slots=True)
class _Named:
    """A word for a secret, or for what a secret opens, in a sentence."""

    kind: str
    word: str
    start: int
    end: int

    @property
    def finding(self) -> str:
        """Return the name of a finding beside it."""
        if self.kind in ("number", _KEY):
            return "api_key" if self.kind == _KEY else "account_number"
        if "pin" in self.word or "geheimzahl" in self.word or "puk" in self.word:
            return "pin"
        return "access_code" if self.kind in (_CODE, *_OPENED) else "password"


def find_spoken_secrets(text: str) -> Iterator[Finding]:
    """Yield the passwords, codes and account numbers in the sentences of a text."""
    plain = plain_letters(text)
    if not pattern(_NOUN).search(plain):
        return
    for sentence in pattern(_SENTENCE).finditer(plain):
        start, end = sentence.span()
        said = plain[start:end]
        named = []  # neither a public code nor a thing about secrets ("password policy")
        for found in pattern(_NOUN).finditer(said):
            first, last = found.span(found.lastindex)
            if not (
                pattern(_IS_PUBLIC).search(said[max(0, first - 20) : first])
                or pattern(_PUBLIC_NOUN).search(said[first:last])
                or (pattern(_OTHER_HEAD).search(said[last : last + 20]) and "koffer" not in said[first:last])
            ):
                named.append(_Named(found.lastgroup, said[first:last], first, last))
        if any(each.kind == "opening" for each in named):
            named = [replace(each, kind=_THING) if each.kind == "door" else each for each in named]
        for first, last, name in _secrets_in(text[start:end], said, named) if named else ():
            yield Finding(start + first, start + last, SensitiveKind.SECRET, name)


def _secrets_in(sentence: str, plain: str, named: list[_Named]) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and name of each secret in a sentence."""
    passwords = [each for each in named if each.kind == _PASSWORD]
    for login in (each for each in named if each.kind == _LOGIN):  # "login: name / password"
        for pair in pattern(_PAIR).finditer(sentence):
            value, is_after = pair.group("value").rstrip(_TRAILING), login.end <= pair.start() <= login.end + _NEAR
            if (is_after or "/" in pair.group()) and _is_mixed(value) and len(value) >= 6:
                yield pair.start(1), pair.start(1) + len(value), "password"
    for noun in passwords:
        quotations = pattern(_QUOTED).finditer(sentence[: noun.end + _NEAR], noun.end)
        yield from ((*each.span(1), "password") for each in quotations if not is_reference(each.group("value")))
    if passwords and (phrase := pattern(_PHRASE).search(plain)):
        yield phrase.start(1), phrase.end(1), "password"
    starts = [each.start for each in named]
    for start, end in _tokens(plain, with_words=bool(passwords)):
        beside = _nearest(named, starts, start, end)
        if beside is not None and _is_secret(sentence[start:end], plain, start, end, beside):
            yield start, end, beside.finding


def _tokens(plain: str, *, with_words: bool) -> Iterator[tuple[int, int]]:
    """Yield the places of words and numbers, without the punctuation around them and the first sign of "#4471"."""
    for token in pattern(_TOKEN).finditer(plain):
        value = token.group().lstrip(_OPENING)
        if value[:1] in ("*", "#") and value[1:2].isdigit():
            value = value[1:]
        start = token.end() - len(value)
        value = value.rstrip(_TRAILING)
        if len(value) >= 3 and (with_words or not value.isalpha()):
            yield start, start + len(value)


def _nearest(named: list[_Named], starts: list[int], start: int, end: int) -> _Named | None:
    """Return the last word for a secret before a value, else the first one after it; what it opens comes last."""
    place = after_it = bisect_left(starts, end)
    while place and named[place - 1].end > start:  # "blue-door-77" holds such a word, "Passwort:" begins with it
        place -= 1
        if starts[place] <= start:
            return None
    before = [each for each in named[max(0, place - 4) : place][::-1] if start <= each.end + _NEAR]
    after = [each for each in named[after_it : after_it + 4] if each.start <= end + _NEAR]
    near = (*before, *after)
    return min(near, key=lambda each: _BY_STRENGTH.index(each.kind), default=None)


def _is_secret(text: str, plain: str, start: int, end: int, noun: _Named) -> bool:
    """Return True for a value that its form and place show to be a secret; the weaker the word, the more is needed."""
    if is_reference(text) or pattern(_DATE).search(text):
        return False
    is_after, before, after = noun.end <= start, plain[max(0, start - 30) : start], plain[end : end + 20]
    gap = plain[noun.end : start] if is_after else plain[end : noun.start]
    if is_after:
        is_linked = pattern(_LINK).search(f"{gap} ") is not None or not gap.strip(" ,\"“„«'‘’(#*-")
    else:
        is_linked = pattern(_LINKS_BACK).search(gap) is not None
    is_entered = bool(pattern(_ENTERS).search(before) or pattern(_ENTERED).search(after))
    if pattern(_NUMBER).search(plain_letters(text)):
        is_counted = text.isdigit() and not text.startswith("0") and not pattern(_GOES_ON).search(after)
        is_pin_itself = noun.finding == "pin" and is_after and (len(text) >= 4 or not gap.strip(" :#"))
        if is_counted and not is_pin_itself and not (is_linked and not is_after):
            return False
        return _is_code_number(text, noun, before, gap, is_linked=is_linked, is_entered=is_entered)
    if pattern(_OTHER_VALUE).search(text):
        return False
    if _is_mixed(text) or (text.endswith("!") and after):
        return _is_mixed_secret(text, noun.kind, is_linked=is_linked, is_entered=is_entered or before.endswith(": "))
    # An ordinary word is a password if it ends its clause and doesn't describe one: "… is tulip and it works".
    word = plain_letters(text)
    is_said = noun.kind == _PASSWORD and is_after and pattern(_WORD_LINK).search(f"{gap} ") and not {*",;"} & {*gap}
    describes = word.endswith("password") or pattern(_DESCRIBES).search(word)
    return bool(is_said and not describes and pattern(_ENDS_CLAUSE).search(after))


def _is_code_number(text: str, noun: _Named, before: str, gap: str, *, is_linked: bool, is_entered: bool) -> bool:
    """Return True for a number that is no year or time, and numbers no other thing."""
    is_year = pattern(_YEAR).search(text) is not None
    if pattern(_NUMBERED).search(before) and noun.kind != _CODE:
        return False
    if noun.kind in (_KEY, "number"):
        return len(text) >= 8 if noun.kind == _KEY else is_linked and len(text) >= 5
    may_be_time = is_year or noun.kind in _OPENED or before.endswith((" at ", " um ", " on ", " las "))
    if may_be_time and not is_entered and pattern(_TIMES).search(before):
        return False
    if noun.kind in _OPENED:
        if noun.kind != "device" and pattern(_READ_OUT).search(text):  # a telephone number is read out, too
            return True
        is_long = len(text) >= 4 or not text.isdigit()
        is_set_off = before.endswith((", ", ": ", "- ")) and is_long
        is_named = noun.kind == _THING or (noun.kind == "door" and bool(gap.strip(" ,:")))
        is_shown = (
            is_linked or is_set_off or (noun.kind == _THING and is_long and not (text.isdigit() and text[0] in "12"))
        )
        is_code = is_entered or (is_named and is_shown and not pattern(_PRICED).search(before))
        return is_code and not is_year and (not text.isdigit() or len(text) <= 8)
    return noun.kind in (_PASSWORD, _CODE) and (is_linked or not (len(text) == 3 or is_year))


def _is_mixed(value: str) -> bool:
    """Return True for a word with digits, or with a sign within."""
    letters, signs = sum(map(str.isalpha, value)), sum(each in _SIGNS for each in value[:-1])
    is_product = value.lower().endswith("password")  # of a manager of passwords
    return letters > 0 and len(value) >= 4 and not is_product and (signs > 0 or any(map(str.isdigit, value)))


def _is_mixed_secret(text: str, kind: str, *, is_linked: bool, is_entered: bool) -> bool:
    digits, has_sign = sum(map(str.isdigit, text)), any(each in _SIGNS for each in text)
    is_code = pattern(r"^\d{1,4}[A-Z]{1,2}\d{0,4}$").search(text) is not None  # "15B40", no name or version
    if kind == _PASSWORD:
        return is_linked or (len(text) >= 6 and "=" not in text and digits > 0)
    if kind == _CODE:
        return is_code or (is_linked and (digits >= 3 or (digits > 0 and len(text) >= 9)))
    if kind in (_KEY, "one"):
        is_name = kind == "one" and not pattern(r"\pL[\d!#$%&*+=@_]+\pL").search(text)  # "iPhone15"
        return is_linked and digits > 0 and len(text) >= 8 and not is_name
    if is_code:
        return is_entered and digits >= 3
    return len(text) >= 8 and digits > 0 and (is_entered or has_sign)
