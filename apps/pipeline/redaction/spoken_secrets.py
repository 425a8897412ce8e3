"""Secrets in sentences: "my password is …", "unser WLAN-Passwort lautet …", "le code du portail est …"."""

import re
from collections.abc import Iterator

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.redaction.finding import Finding, any_of, values
from apps.pipeline.redaction.vendor_keys import NO_LITERALS, is_reference

_PASSWORD = (
    r"(?:pass(?:words?|codes?|phrases?)|(?:[\w-]{0,30})(?:passwort|kennwort|passphrase)|mots? de passe|mdp"
    r"|contraseña|senha|wi-?fi key|wlan-?schlüssel|clé (?:wi-?fi|wep|wpa))"
)
_IS = (
    r"(?:\s(?:is now|is|was|are|to|lautet jetzt|lautet|ist jetzt|ist|war|heißt|auf|est maintenant|est|était|es|é)\s+"
    r"|\s*[:=]\s*)"
)
_QUOTE = r"[\"'`“”„«»]{0,2}\s?"
_VALUE = r"(?P<value>[^\s\"`“”„«»]{3,128})"
_SAID_PASSWORD = rf"(?i)(?:^|[^\w])(?P<noun>{_PASSWORD})(?P<gap>[^.!?\n:=]{{0,40}}?){_IS}(?P<quote>{_QUOTE}){_VALUE}"
_BESIDE_PASSWORD = rf"(?i)(?:^|[^\w])(?P<noun>{_PASSWORD})\s+(?P<quote>{_QUOTE}){_VALUE}"
_PASSWORD_LAST = (
    r"(?i)(?:^|\s)[\"'`“„«]?(?P<value>[^\s\"'`“”„«»]{4,128})[\"'`”“»]?\s+(?:is|was|ist|war|est)\s+"
    rf"(?:my|our|the|his|her|their|mein|unser|das|mon|notre|le)\s+(?:[\w.\-]+\s+){{0,2}}?{_PASSWORD}"
)
_LOCK = (
    r"(?:door|gate|entry|entrance|alarm|access|security|building|safe|locker|lockbox|garage|lock|haustür|tür|garagen"
    r"|tor|tresor|alarmanlage|zugang|zugangs|portail|porte|immeuble|alarme|coffre|digicode|garage)"
)
_CODES: tuple[tuple[str, str], ...] = (
    ("pin", r"(?:^|[^\w])(?i:pin[ -]?(?:code|number|nummer)|(?:my|our|card|sim|phone|meine|mon|bank|karten)[ -]pin"
            r"|geheimzahl|code secret|code pin|PUK)\b[^.!?\n\d]{0,30}(?P<value>\d{4,8})\b"),
    ("pin", r"\bPIN\b(?:[^.!?\n\d]{0,30})(?P<value>\d{4,8})\b"),
    ("cvv", r"(?i)\b(?:cvv2?|cvc2?|prüfziffer|cryptogramme)\b[^.!?\n\d]{0,20}(?P<value>\d{3,4})\b"),
    ("access_code", rf"(?i)(?:^|[^\w]){_LOCK}(?:[- ]?(?:key ?)?(?:code|combination|kombination)s?\b| opens? with)"
                    r"[^.!?\n\d]{0,30}(?P<value>\d{3,12})"),
    ("access_code", rf"(?i)\b(?:code|combination|kombination)\b[^.!?\n\d]{{0,40}}[\s'’-]{_LOCK}\b[^.!?\n\d]{{0,20}}"
                    r"(?P<value>\d{3,12})"),
    ("access_code", rf"(?i)\b(?P<value>\d{{3,12}})\b[^.!?\n\d]{{0,20}}[\s'’-]{_LOCK}[- ]?(?:key ?)?"
                    r"(?:code|combination|kombination)\b"),
    ("one_time_code", r"(?i)(?:verification|one-time|2fa|mfa|otp|recovery|backup|sms|login|bestätigungs|sicherheits"
                      r"|einmal|vérification|sécurité)[ -]?(?:code|pin|passcode)?s?\b[^.!?\n\d]{0,20}"
                      r"(?:\sis\s|:|=|\sist\s|\slautet\s|\sest\s)\s*(?P<value>\d{4,8})\b"),
    ("one_time_code", r"(?i)\bcode (?:de|d')\s?(?:vérification|sécurité|confirmation)\b[^.!?\n\d]{0,20}"
                      r"(?P<value>\d{4,8})\b"),
    ("api_key", r"(?i)\b(?:api|private|secret|access|ssh|encryption|licen[cs]e|recovery|bearer|auth|deploy)[ _-]"
                r"(?:key|token|code|schlüssel)s?\b[^.!?\n]{0,30}?(?:\bis\b|\bist\b|\blautet\b|[:=])\s*[\"'`]?"
                r"(?P<value>[^\s\"'`]{6,256})"),
    ("api_key", r"(?i)(?:^|[^\w])(?:clé|jeton|schlüssel|token|key)(?: (?:api|secrète|d'accès|privée))?[^.!?\n]{0,30}?"
                r"(?:\sis\s|\sist\s|\slautet\s|\sest\s|[:=])\s*[\"'`]?(?P<value>[^\s\"'`]{12,256})"),
    ("account_number", r"(?i)\b(?:(?:bank )?account (?:number|no\.?)|bank account|kontonummer|numéro de compte)\s*"
                       r"(?:(?:is|ist|lautet|est)\b|[:=#])?\s*(?P<value>\d[\d -]{4,20}\d)\b"),
)  # fmt: skip
_EXPRESSIONS = (_SAID_PASSWORD, _BESIDE_PASSWORD, _PASSWORD_LAST, *(expression for _, expression in _CODES))
# Sentences without the secret itself: "the password is too long", "is stored in the vault", "ist falsch".
_NO_VALUE = frozenset(
    "too not never very always in on at to so the a an my your our their stored kept wrong correct different "
    "expired gone required mandatory optional empty invalid valid incorrect weak strong short long secure "
    "insecure safe encrypted hashed hidden missing forgotten lost unknown unchanged changed reset set shared "
    "saved secret important old new easy hard good bad ok okay fine needed case-sensitive being it that this what "
    "something also still now only under with by for from sent about based working printed written compromised "
    "leaked stolen public here there below above zu nicht nie sehr immer im in am der die das ein eine mein dein "
    "falsch richtig abgelaufen weg erforderlich leer ungültig schwach stark kurz lang sicher unsicher geheim "
    "vergessen verloren bekannt unbekannt geändert neu alt gut gespeichert noch auch nur trop pas jamais très "
    "toujours dans sur le la les un une mon ton votre notre faux incorrect requis obligatoire vide invalide "
    "faible fort court sûr oublié perdu connu inconnu changé nouveau ancien bon expiré stocké encore aussi "
    "seulement trop-long ".split()
)
_ABOUT_PASSWORDS = re.compile(
    r"[ -](?:polic|manager|reset|hash|rule|protect|requirement|length|field|strength|form|expir|prompt|generator)"
)
_CLAUSE_ENDS = re.compile(r"[\"'`”“»]?\s*(?:$|\n|[.,;!?)]|(?:and|but|for|so|und|aber|oder|et|mais|y)\b)", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_AT_A_TIME = re.compile(r"\b(?:in|from|since|until|by|im|seit|von|vom|bis|en|de|depuis|desde|hasta) $", re.IGNORECASE)
_TRAILING = ".,;:?)]}'’"
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?")


def find_spoken_secrets(text: str) -> Iterator[Finding]:
    """Yield the passwords, codes and account numbers in the sentences of a text."""
    if not any_of(*_EXPRESSIONS).search(text):
        return
    yield from _said_passwords(text)
    yield from _passwords_beside(text)
    for _, value, start, _ in values(text, _PASSWORD_LAST):
        if _is_strong(value):
            yield _secret(start, value, "password")
    for name, expression in _CODES:
        for _, value, start, _ in values(text, expression):
            bare = value.rstrip(_TRAILING)
            if name in ("pin", "access_code") and _is_year(value, before=text[max(0, start - 12) : start]):
                continue
            if name != "api_key" or (_is_strong(bare) and "(" not in bare):
                yield _secret(start, bare, name)


def _is_year(value: str, *, before: str) -> bool:
    """Return True for "in 2025" and "from 1997"."""
    return _YEAR.fullmatch(value) is not None and _AT_A_TIME.search(before) is not None


def _said_passwords(text: str) -> Iterator[Finding]:
    """Yield the passwords in "my password for … is …"."""
    for match, value, start, _ in values(text, _SAID_PASSWORD):
        bare = value.rstrip(_TRAILING)
        if _ABOUT_PASSWORDS.match(match["gap"]):
            continue
        rest, is_quoted = text[start + len(bare) :], bool(match["quote"].strip())
        if _is_strong(bare) or _is_word_as_password(bare, rest, is_quoted=is_quoted):
            yield _secret(start, bare, "password")


def _passwords_beside(text: str) -> Iterator[Finding]:
    """Yield the passwords in "log in with password …"."""
    for match, value, start, _ in values(text, _BESIDE_PASSWORD):
        bare = value.rstrip(_TRAILING)
        if _is_strong(bare) and (any(map(str.isalpha, bare)) or match["quote"].strip()):
            yield _secret(start, bare, "password")


def _secret(start: int, value: str, name: str) -> Finding:
    return Finding(start, start + len(value), SensitiveKind.SECRET, name)


def _is_strong(value: str) -> bool:
    """Return True for a value that is no ordinary word: at least four characters, a digit, and not a date."""
    has_digit = any(each.isdigit() for each in value)
    return len(value) >= 4 and has_digit and not is_reference(value) and not _DATE.fullmatch(value)


def _is_word_as_password(value: str, rest: str, *, is_quoted: bool) -> bool:
    """Return True for a word that ends its clause and doesn't describe the password: "… is tulip and it works"."""
    if (
        not value
        or is_reference(value)
        or value.lower() in _NO_VALUE | NO_LITERALS
        or _DATE.fullmatch(value)
        or value.isdigit()
    ):
        return False
    return is_quoted or _CLAUSE_ENDS.match(rest) is not None
