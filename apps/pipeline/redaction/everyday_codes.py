"""Secrets beside the everyday word for them: a code, pin, combination, login or password, in four languages.

A word for a secret alone is none: what counts is a value in the shape of a secret, at the place of the sentence where
the value stands. Codes that everybody may know (of errors, towns, discounts) are left alone.
"""

from collections.abc import Iterator
from typing import Any

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.redaction.finding import Finding, pattern, values
from apps.pipeline.redaction.vendor_keys import is_reference

_PASSWORD = (
    r"(?:pass(?:words?|codes?|phrases?)|[\w-]{0,30}(?:passwort|passwörter|kennwort)|mots? de passe|mdp|contraseña"
    r"|clave|pwd?"
    r"|(?:wi-?fi|wlan)[ -]?(?:code|key|pin|pass|schlüssel)|code (?:du )?wi-?fi)"
)
_COMBINATION = r"(?:combination|combo|[\w-]{0,20}kombination|combinaison|combinación)"
_CODE = rf"(?:(?:[\w-]{{0,20}}[^\W\d_])?(?:code|pin)s?|código|clave|digicode|geheimzahl|{_COMBINATION})"
_LOGIN = (
    r"(?:log-?ins?|log in|credentials?|zugangsdaten|anmeldedaten|identifiants?|accès|acceso|credenciales"
    r"|(?:user(?:name)?|benutzer\w*|utilisateur|usuario)(?: ?/ ?| (?:and|und|et|y) )(?:pass\w*|mot de passe"
    r"|contraseña))"
)
_IS = r"(?:\s(?:is|was|are|ist|war|lautet|heißt|est|était|es|era)|['’]s|c['’]est|\s?[:=])"
_STILL = (
    r"(?:\s(?:now|still|always|again|jetzt|immer noch|weiterhin|wieder|nun|maintenant|toujours|le|ahora|el"
    r"|la))*\s+[\"'`“„«]?"
)
_DIGITS = r"\d{4,10}|\d(?: \d){3,7}|\d{1,3}-\d{1,3}-\d{1,3}(?:-\d{1,3})?"
_PART = r"[^\s\"'`“”„«»,;:/()]"
_TOKEN = rf"{_PART}{{0,32}}[\d!#$%&*+=@_]{_PART}{{0,32}}"  # a word with a digit or a sign
_GAP = r"[^.!?\n\d]{0,50}?"
_THE = r"(?:the|my|our|his|her|their|der|die|das|mein\w?|unser\w?|le|la|mon|ma|notre|el|mi|nuestr[oa])"
_CODE_IS = rf"(?i)\b(?P<noun>{_CODE})\b(?P<gap>{_GAP}){_IS}{_STILL}(?P<value>{_DIGITS}|{_TOKEN})"
_CODE_BESIDE = (
    rf"(?i)\b(?P<noun>{_CODE})(?P<gap>)\s+(?P<value>{_DIGITS})#?(?:\s*$|[.,;!?)\n]|\s+(?:and|und|et|y|or|oder)\b)"
)
_CODE_TO = rf"(?i)\b(?P<noun>{_CODE})(?P<gap>{_GAP})\s(?:to|auf|a|à)\s+(?P<value>{_DIGITS})\b"
_CODE_LAST = (
    rf"(?i)\b(?P<value>{_DIGITS})#?[,;]?\s+(?:[^\s.!?\d]+\s+){{0,5}}?(?:as|is|that['’]s|als|ist|lautet|c['’]est|est"
    rf"|es|comme|como)\s+{_THE}\s+"
    rf"(?:[\w-]+\s+){{0,2}}?(?P<noun>{_CODE})\b(?P<gap>)(?P<after>\s[\w-]+)?"
)
_ANOTHER = rf"(?i)\b(?P<noun>{_CODE})\b(?P<gap>[^.!?\n]{{0,60}}?)\bone\s(?:is|was)\s+(?P<value>\d{{4,10}})\b"
_PASSWORD_NEAR = rf"(?i)\b(?P<noun>{_PASSWORD})\b(?P<gap>[^.!?\n\d]{{0,60}}?)[\s:=\"'“„«](?P<value>{_TOKEN})"
_LOGIN_PAIR = (
    rf"(?i)\b(?P<noun>{_LOGIN})\b(?P<gap>[^.!?\n]{{0,60}}?)(?:{_IS}|\ssont|\ssind|\sare"
    rf"|\sson)?\s+[\w.@+-]{{2,64}}\s*(?:/|,|\||\s(?:and|und|et|y))\s*"
    rf"(?P<value>{_TOKEN})"
)
_ONE_IS = rf"(?i)\b(?P<noun>(?:the|my|our)\s[\w-]+\sone)(?P<gap>)\sis\s+(?P<value>{_TOKEN})"
_MENTIONS = rf"(?i)\b(?:{_CODE}|{_PASSWORD}|{_LOGIN}|one is)\b"
# Codes that are no secrets, by the word before or after: an error code, code postal, the code of the labour law.
_PUBLIC_BEFORE = (
    r"(?i)(?:zip|post(?:al)?|area|country|dial(?:l?ing)?|error|exit|status|return|http|response|dress|qr|bar"
    r"|discount|promo\w*|coupon"
    r"|voucher|source|tax|colou?r|country|currency|airport|product|item|order|booking|tracking|course|fehler|rabatt"
    r"|gutschein"
    r"|quell|strich|vorwahl|länder|farb|morse|genetic|building|hs|icd|iso|sort|swift|bic|isbn|ean|sku|git|hair|bobby"
    r"|rolling|safety)[ -]?$"
)
_PUBLIC_AFTER = (
    r"(?i)^[\s-]*(?:postal|name|review|base|freeze|style|du travail|de la route|pénal|civil|promo|barre|erreur"
    r"|d['’]erreur|de error"
    r"|de descuento|de barras|of conduct|editor|block|snippet|source|couleur|polic|manager|reset|hash|rule"
    r"|requirement|length|generator|number of"
    r"|del éxito|page|form|button|screen)"
)
_PUBLIC_NOUN = (
    r"(?i)^(?:zip|post|error|exit|status|qr|bar|promo|fehler|rabatt|gutschein|quell|strich|farb|vor|source|morse)-?"
)
_PUBLIC_VALUE = (
    r"(?i)^(?:v?\d+(?:[.,]\d+)*(?:[a-zµ°%€$]{1,4})?|0x[0-9a-f]+|\w+@\S+|https?\S*|\d+(?:st|nd|rd|th)|(?:19"
    r"|20)\d\d-\d\d-\d\d)$"
)
# What may follow a number that is a secret: "3000 lines" and "8 horas" are amounts.
_NUMBER_ENDS = (
    r"(?i)^#?(?:\s*$|\s*[.,;:!?)(\n\"'”»–—-]|\s+(?:and|or|but|for|at|since|now|if|so|it|by|from|on|in|to|today"
    r"|yesterday|please|und|oder|aber"
    r"|für|seit|jetzt|bitte|et|ou|mais|pour|depuis|maintenant|y|o|pero|para|desde|ahora)\b)"
)
_TRAILING = ".,;:?)]}'’#"


def find_everyday_codes(text: str) -> Iterator[Finding]:
    """Yield the values that stand beside the everyday word for a secret."""
    if not pattern(_MENTIONS).search(text):
        return
    for expression in (_CODE_IS, _CODE_BESIDE, _CODE_TO, _CODE_LAST, _ANOTHER):
        for match, value, start, _ in values(text, expression):
            bare = value.rstrip(_TRAILING)
            is_code = _is_number(bare) and (expression is _CODE_TO or _ends_here(text, start + len(bare)))
            if (is_code or _is_mixed(bare) or expression is _CODE_LAST) and not _is_public(text, match):
                yield Finding(start, start + len(bare), SensitiveKind.SECRET, "access_code")
    for expression, is_secret in ((_PASSWORD_NEAR, _has_both), (_LOGIN_PAIR, _has_both), (_ONE_IS, _is_interleaved)):
        for match, value, start, _ in values(text, expression):
            bare = value.rstrip(_TRAILING)
            if is_secret(bare) and not _is_public(text, match):
                yield Finding(start, start + len(bare), SensitiveKind.SECRET, "password")


def _is_public(text: str, match: Any) -> bool:
    """Return True if the word around which a value was found names a code that is no secret."""
    noun = match.re.groupindex["noun"]
    start, end = match.start(noun), match.end(noun)
    before, after = text[max(0, start - 20) : start], text[end : end + 20]
    return bool(
        pattern(_PUBLIC_BEFORE).search(before)
        or pattern(_PUBLIC_AFTER).search(after)
        or pattern(_PUBLIC_NOUN).search(text[start:end])
    )


def _ends_here(text: str, end: int) -> bool:
    return pattern(_NUMBER_ENDS).search(text[end : end + 20]) is not None


def _is_number(value: str) -> bool:
    return value.replace(" ", "").replace("-", "").isdigit() and pattern(rf"^(?:{_DIGITS})$").search(value) is not None


def _has_both(value: str) -> bool:
    """Return True for a token of letters with a digit, or with a sign that no word has, that is no size or version."""
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    signs = sum(each in "!#$%&*+=@_?" for each in value[:-1])
    if is_reference(value) or pattern(_PUBLIC_VALUE).search(value):
        return False
    return len(value) >= 6 and letters >= 3 and (digits > 0 or signs > 0)


def _is_mixed(value: str) -> bool:
    """Return True for a token whose letters and digits no name or version has: "BraveOtter-7715", "47B15"."""
    digits = sum(map(str.isdigit, value))
    return (
        not pattern(_PUBLIC_VALUE).search(value)
        and "." not in value
        and ((digits >= 3 and any(map(str.isalpha, value))) or (_has_both(value) and _is_interleaved(value)))
    )


def _is_interleaved(value: str) -> bool:
    """Return True for a word with digits or signs within: "hunter2Winter", "Kettle!bell9"."""
    return len(value) >= 6 and not is_reference(value) and pattern(r"\pL[\d!#$%&*+=@_]+\pL").search(value) is not None
