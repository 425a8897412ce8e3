"""Numbers with check digits: payment cards, IBANs, and identifiers of people given by states."""

from collections.abc import Callable, Iterator

from stdnum import iban, luhn
from stdnum.de import idnr
from stdnum.fr import nir
from stdnum.us import ssn

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.redaction.finding import Finding, any_of, values

_CARD = r"(?P<value>\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}|\d{4}[ -]\d{6}[ -]\d{4,5}|\d{14,19})"
# Ranges of issuer identification numbers with the lengths of their cards (ISO/IEC 7812; the issuers' own documents).
_ISSUERS: tuple[tuple[int, int, frozenset[int]], ...] = (
    (4, 4, frozenset({16, 19})),  # Visa
    (51, 55, frozenset({16})),  # Mastercard
    (2221, 2720, frozenset({16})),
    (34, 34, frozenset({15})),  # American Express
    (37, 37, frozenset({15})),
    (6011, 6011, frozenset({16, 19})),  # Discover
    (644, 659, frozenset({16, 19})),
    (300, 305, frozenset({14})),  # Diners Club
    (36, 36, frozenset({14})),
    (38, 39, frozenset({14})),
    (3528, 3589, frozenset({16})),  # JCB
    (62, 62, frozenset({16, 17, 18, 19})),  # UnionPay
    (5018, 5018, frozenset({16, 18, 19})),  # Maestro
    (5020, 5020, frozenset({16, 18, 19})),
    (5038, 5038, frozenset({16, 18, 19})),
    (6304, 6304, frozenset({16, 18, 19})),
    (6759, 6763, frozenset({16, 18, 19})),
)
_IBAN = r"(?i)\b(?P<value>[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?)\b"
_SSN = r"\b(?P<value>\d{3}([ -])\d{2}[ -]\d{4})\b"
_SSN_NAMED = r"(?i)\b(?:social security|ssn)\b[^\d\n]{0,20}(?P<value>\d{9}|\d{3}[ -]\d{2}[ -]\d{4})\b"
# Two letters (no D F I Q U V, no O in second place), six digits, A to D: HMRC, National Insurance Manual NIM39110.
_NINO = r"(?i)\b(?P<value>[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D])\b"
_NO_NINO = frozenset({"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"})
_NIR = r"(?i)\b(?P<value>[1278] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2})\b"
_TAX_ID = r"\b(?P<value>\d{2} \d{3} \d{3} \d{3})\b"
_TAX_ID_NAMED = r"(?i)(?:steuer|tax|idnr|tin\b)[^\d\n]{0,40}(?P<value>\d{11}|\d{2} ?\d{3} ?\d{3} ?\d{3})\b"
_PASSPORT = (
    r"(?i)(?:passport|reisepass|passeport|personalausweis|ausweis|carte d'identité)"
    r"(?:[ -]?(?:number|no\.?|nummer|nr\.?))?\b[^\d\n.!?]{0,20}?(?:\s|:|#)(?P<value>[A-Z]{0,3}\d[A-Z0-9]{5,9})\b"
)


def find_cards(text: str) -> Iterator[Finding]:
    """Yield card numbers: with an issuer's range and length and a correct check digit, not within a longer number."""
    for _, value, start, end in values(text, _CARD):
        if not _stands_alone(text, start, end):
            continue
        digits = "".join(filter(str.isdigit, value))
        has_issuer = any(
            first <= int(digits[: len(str(first))]) <= last and len(digits) in lengths
            for first, last, lengths in _ISSUERS
        )
        if has_issuer and luhn.is_valid(digits) and len(set(digits)) > 1:
            yield Finding(start, end, SensitiveKind.CARD)


def find_ibans(text: str) -> Iterator[Finding]:
    """Yield IBANs with the length of a known country and correct check digits, without following words."""
    for _, value, start, _ in values(text, _IBAN):
        parts = value
        while parts:
            if iban.is_valid(parts, check_country=False):
                yield Finding(start, start + len(parts), SensitiveKind.IBAN)
                break
            parts = parts.rpartition(" ")[0]


def find_national_ids(text: str) -> Iterator[Finding]:
    """Yield numbers of social security, tax and passports (US, UK, France, Germany)."""
    if not any_of(*_EXPRESSIONS).search(text):
        return
    for expression, name, is_valid in _NATIONAL_IDS:
        for _, value, start, end in values(text, expression):
            if _stands_alone(text, start, end) and is_valid(value):
                yield Finding(start, end, SensitiveKind.NATIONAL_ID, name)


_NATIONAL_IDS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    (_SSN, "us_ssn", ssn.is_valid),
    (_SSN_NAMED, "us_ssn", ssn.is_valid),
    (_NINO, "uk_nino", lambda value: value[:2].upper() not in _NO_NINO),
    (_NIR, "fr_nir", nir.is_valid),
    (_TAX_ID, "de_tax_id", idnr.is_valid),
    (_TAX_ID_NAMED, "de_tax_id", idnr.is_valid),
    (_PASSPORT, "passport", lambda value: sum(map(str.isdigit, value)) >= 4),
)
_EXPRESSIONS = tuple(expression for expression, _, _ in _NATIONAL_IDS)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return True if a number is not surrounded by letters, digits or characters that continue numbers."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalnum() or after[:1].isalnum() or before[-1:] in ("_", "-", ".", "/", "+"):
        return False
    return not (after[:1] in ("-", "_", ".", "/") and after[1:].isalnum())
