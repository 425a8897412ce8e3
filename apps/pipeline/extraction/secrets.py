"""Secrets: passwords, keys, codes and account numbers, which no memory may hold."""

import re

_KIND = (
    r"pass(?:words?|codes?|phrases?)|passwor[dt]e?|kennwort|mot de passe|contraseña|senha|pin(?: code| number)?"
    r"|cvv|cvc"
)
# "The password is too long" and "is stored in the vault" give none away.
_NO_VALUE = (
    r"(?:too|not|never|very|always|in|on|at|to|so|the|an?|my|your|stored|kept|wrong|correct|different|expired|gone)"
)
_ABOUT_PASSWORDS = r"(?:polic|manager|reset|hash|rule|protect|requirement|length|field|strength|form)"
_LOCK = r"(?:door|gate|entry|entrance|alarm|access|security|building|safe|locker|lockbox|garage|lock|t[üu]r)"
_SECRETS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        # A password is any word; what follows it on the way to the end of the clause makes it a remark on one.
        rf"\b(?:{_KIND})\b(?! {_ABOUT_PASSWORDS})[^.!?\n]{{0,40}}?(?:\b(?:is|was|are|ist|lautet|est|es|é)\b|[:=])\s*"
        rf"(?!{_NO_VALUE}\b)\S+\s*(?:$|[.,;!?)]|\b(?:and|but|for|und|et|y)\b)",
        rf"\b(?:{_KIND})\b(?: to)?[ \"'`]+(?=\w*\d)\w{{4,}}",
        rf"\b{_LOCK}(?:[- ]?(?:key ?)?(?:code|combination)s?\b| opens? with)[^.!?\n\d]{{0,30}}\d{{3,}}",
        rf"\b(?:code|combination)\b[^.!?\n\d]{{0,40}}\b{_LOCK}\b[^.!?\n\d]{{0,20}}\d{{3,}}",
        rf"\b\d{{3,}}\b[^.!?\n\d]{{0,20}}\b{_LOCK}[- ]?(?:key ?)?(?:code|combination)\b",
        r"\b(?:api|private|secret|access|ssh|encryption|licen[cs]e|recovery|bearer)[ _-](?:key|token|code)s?\b"
        r"[^.!?\n]{0,30}?(?:\bis\b|[:=])\s*['\"`]?(?=\S*\d)\S{6,}",
        r"\b(?:social security|ssn|passport|account|iban|card)(?: (?:number|no\.?))?\s*(?:\b(?:is|ist)\b|[:=#])?\s*"
        r"(?!\d{4}-\d\d-)[A-Z]{0,3}\d[\d -]{4,}\d\b",
        r"\b(?:ghp|gho|ghs|ghu|ghr|glpat|github_pat|npm|pypi|hf|xox[abprs]|sk|pk|rk)[-_](?=[\w-]*\d)[\w-]{12,}",
        r"\bAKIA[0-9A-Z]{16}\b",
        r"\bAIza[\w-]{30,}",
        r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
        r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){3,7}(?:[ -]?[A-Z0-9]{1,3})?\b",
        r"://[^\s/:@]+:[^\s/@]+@",
    )
)
_LONG_NUMBER = re.compile(r"(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)")


def holds_secret(text: str) -> bool:
    """Return True if a text gives a secret away; one that only speaks of passwords or keys doesn't."""
    return any(each.search(text) for each in _SECRETS) or any(
        _is_card_number(found.group()) for found in _LONG_NUMBER.finditer(text)
    )


def _is_card_number(text: str) -> bool:
    """Check the last digit of a card number (Luhn, ISO/IEC 7812-1)."""
    digits = [int(each) for each in text if each.isdigit()]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
