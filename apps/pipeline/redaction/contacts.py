"""Phone numbers and e-mail addresses."""

import re
from collections.abc import Iterator, Sequence

import phonenumbers

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.redaction.finding import Finding, values

_PHONE = r"(?P<value>\+?\(?\d[\d ()./\-]{5,22}\d)"
_NAMED = re.compile(
    r"phone|telefon|téléphone|mobil|handy|whatsapp|\b(?:tel|cell|portable|call|text|ring|fax|anrufen|erreichbar|rufnummer"
    r"|appel\w*|joindre|reach)\b"
    r"|(?:\b(?:my|his|her|our|their|meine?|seine?|ihre?|mon|son|ma)|['’]s) (?:nummer|number|numéro)\b",
    re.IGNORECASE,
)
_NAME_CHARACTERS = 40  # maximal distance of the word that names a number
# Other numbers that are written like phone numbers: dates, versions and addresses in networks.
_NO_PHONE = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}.*|\d{1,2}[-./]\d{1,2}[-./]\d{4}.*|\d{1,3}(?:\.\d{1,3}){3}")
_EMAIL = r"(?i)\b(?P<value>[a-z0-9][a-z0-9._%+\-]{0,63}@[\pL\pN][\pL\pN.\-]*\.(?P<top>[a-z]{2,24}))\b(?P<rest>:\S)?"
_FILES = frozenset({"png", "jpg", "jpeg", "svg", "gif", "webp", "css", "js", "py", "service", "timer", "local"})


def find_phones(text: str, *, regions: Sequence[str]) -> Iterator[Finding]:
    """Yield international phone numbers, and national ones of some regions that are named or formatted as such."""
    for _, value, start, end in values(text, _PHONE):
        around = text[max(0, start - 1) : start] + text[end : end + 1]
        if any(each.isalnum() or each in "_#-" for each in around) or _NO_PHONE.fullmatch(value):
            continue
        if value.startswith("+"):
            is_phone = _is_valid(value, None)
        else:
            is_named = _NAMED.search(text[max(0, start - _NAME_CHARACTERS) : start]) is not None
            is_grouped = any(each in value for each in " -.()/") and value.lstrip("(").startswith("0")
            is_american = re.fullmatch(r"\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}", value) is not None
            is_like_one = is_named or is_grouped or is_american
            is_phone = is_like_one and any(_is_valid(value, each) for each in regions)
        if is_phone:
            yield Finding(start, end, SensitiveKind.PHONE)


def find_emails(text: str) -> Iterator[Finding]:
    """Yield e-mail addresses, but not names of files and addresses of repositories (git@host:path)."""
    for match, value, start, end in values(text, _EMAIL) if "@" in text else ():
        is_repository = value.lower().startswith("git@") or bool(match.group("rest"))
        if match.group("top").lower() not in _FILES and not is_repository:
            yield Finding(start, end, SensitiveKind.EMAIL)


def _is_valid(value: str, region: str | None) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(value, region))
    except phonenumbers.NumberParseException:
        return False
