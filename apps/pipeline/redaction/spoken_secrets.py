"""Secrets in sentences: "my pin is …", "das WLAN-Passwort lautet …", "tape …, c'est le code", "la clave: …".

A sentence with a word for a secret is searched for values. A number counts where nothing is counted by it and it is no
date or time; a word of letters and digits where its place or its form shows it; an ordinary word only as a password.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.redaction.finding import Finding, pattern
from apps.pipeline.redaction.vendor_keys import NO_LITERALS, is_reference

_NEAR = 80  # maximal distance of a value from the word for the secret, in characters
_PASSWORD, _CODE, _ACCOUNT, _KEY, _LOGIN, _LOCK, _ONE = "password", "code", "account", "key", "login", "lock", "one"
# The words for a secret, by what its value looks like. Prefixes are those of compounds: "WLAN-Passwort", "Türcode".
_COMPOUND = r"[\pL\d-]*"
_NOUNS = (
    (_PASSWORD, rf"pass-?(?:words?|codes?|phrases?)|{_COMPOUND}(?:passwort|passwörter|kennwort|losungswort|passphrase)"
                r"|(?:code|secret|safe|magic) ?words?|mots? de passe|phrase secrète|mdp|contraseñas?|senha|pwd?|pass"
                r"|(?:wi-?fi|wlan|wpa2?|network)[ -]?(?:code|key|pass|schlüssel)|clé (?:du )?(?:wi-?fi|wpa|wep)"
                r"|code (?:du )?wi-?fi"),
    (_CODE, rf"{_COMPOUND}(?:code|kombination)s?|(?:{_COMPOUND}-)?pin(?:[ -]?(?:code|nummer|number))?s?|puk|cvv2?|cvc2?"
            rf"|prüfziffer|cryptogramme|{_COMPOUND}geheimzahl|combinations?|combos?|combinaison|combinación|códigos?"
            r"|claves?|digicode|otp|\d[- ](?:digit|stellige\pL?) \pL+"),
    (_LOCK, rf"(?:\pL+[ _-])?key[ -]?(?:box|safe)|{_COMPOUND}(?:locks?|schloss|tresor|anlage|spind)|locker|lockbox|safe"
            r"|vault|keypad|door|gate|garage|alarm|cadenas|coffre|boîte à clés|porte|portail|alarme|interphone|candado"
            r"|caja fuerte|puerta|portal|alarma|opens? (?:the|my|our|his|her)|öffnet (?:das|die|den)|ouvre (?:le|la)"
            r"|abre (?:el|la)|entsperr\pL*|déverrouill\pL*|débloqu\pL*|desbloque\pL*"),
    (_ACCOUNT, r"(?:bank )?account(?: (?:number|no))?|kontonummer|numéro de compte|número de cuenta"),
    (_KEY, r"(?:\pL+[ _-])?(?:keys?|tokens?|schlüssel|jetons?|clés?)(?: (?:api|secrète|privée|d['’]accès))?"),
    (_LOGIN, r"log-?ins?|(?:log|sign)[ -](?:in|on)|anmeldung|credentials?|zugangsdaten|anmeldedaten|identifiants?|accès"
             r"|acceso|credenciales|(?:user(?:name)?|benutzer\w*|utilisateur|usuario)"),
    (_ONE, r"(?:the|my|our) [\pL\d-]+ one"),
)  # fmt: skip
_NOUN = r"(?i)(?:^|[^\pL\pN_])(?:" + "|".join(f"(?P<{kind}>{nouns})" for kind, nouns in _NOUNS) + r")\b"
# What each word for a secret contains: a fast search in texts without one.
_MAY_NAME = (
    r"(?i)pass|pw|kennwort|losungswort|word|mot|phrase|mdp|contraseñ|senha|wi-?fi|wlan|wpa|network|code|kombi|comb|pin"
    r"|puk|cv[vc]|prüfziffer|crypto|zahl|código|clave|otp|digit|stellige|key|token|schlüssel|jeton|clé|account|konto"
    r"|compte|cuenta|log|sign|anmeld|credential|zugang|identifiant|acc[èe]s|credencial|user|benutzer|utilisateur|usuario"
    r"|lock|schloss|tresor|anlage|spind|safe|vault|door|gate|garage|alarm|cadenas|coffre|boîte|port|interphone|candado"
    r"|caja|puerta|entsperr|verrouill|débloqu|desbloque|opens? |öffnet|ouvre|abre|\bone\b"
)
# A noun that heads another compound, and codes that everybody may know.
_OTHER_HEAD = (
    r"(?i)^(?:-\pL|[ -](?:polic|manager|reset|hash|rules?\b|protect|requirement|length|field|strength|generator|postal"
    r"|name|reviews?|base|freeze|style|of conduct|editor|block|snippet|source|page|form|button|screen|card|promo"
    r"|barres?\b|(?:de |d['’])?(?:erreur|error|descuento|barras|la route)|du travail|civil|pénal|couleur|del éxito))"
)
_PUBLIC = (
    r"(?i)(?:zip|post(?:al)?|area|country|flight|dial(?:l?ing)?|error|exit|status|return|http|response|dress|qr|bar|discount"
    r"|promo\w*|coupon|voucher|source|tax|colou?r|currency|airport|product|item|order|booking|tracking|course|fehler"
    r"|rabatt|gutschein|quell|strich|vorwahl|länder|farb|morse|genetic|building|hs|icd|iso|sort|swift|bic|isbn|ean|sku"
    r"|git|artikel|versand|lines of|revue de|líneas de|zeilen)[ -]?"
)
_IS_PUBLIC, _PUBLIC_NOUN = rf"{_PUBLIC}$", rf"{_PUBLIC}(?:codes?|pins?)$"

_SENTENCE = r"(?:[^.!\n]|[.!][^\s])+[.!]?"
_TURNS = r"(?:\d\d? (?:left|right|links|rechts|(?:à )?(?:gauche|droite)|izquierda|derecha)[, ]*){2,4}"
_SPACED = r"\d(?: \d){3,9}|\d\d(?: \d\d){2,3}\b|\d{3} \d{3}(?: \d{3})?\b"
_TOKEN = rf"{_TURNS}|{_SPACED}|[^\s\"“”„«»]+"
_NUMBER = rf"^(?:{_TURNS}|{_SPACED}|\d{{3,19}}|\d{{1,4}}(?:-\d{{1,4}}){{2,4}})$"
_QUOTED = r"(?:^|[\s(:=])[\"“„«‘']\s?(?P<value>[^\"“”„«»\n‘’']{3,60}?)\s?[\"“”»’']"
_PAIR = (
    r"(?i)[\pL\d.@+_-]{2,64}(?:\s*[/|,]\s*|\s+(?:and(?: then)?|und|et|y)\s+)"
    r"(?P<value>[^\s\"“”„«»/|,]{4,64})"
)
_OPENING, _TRAILING = "('‘’`[{", ".,;:?)]}'’`#*"
_YEAR = r"^(?:19|20)\d\d$"
_DATE = (
    r"^(?:\d{4}[-./]\d\d?[-./]\d\d?|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d|\d{1,2}[./]\d{1,2}(?:[./]\d\d)?"
    r"|\d\d?:\d\d\S*)$"
)
# Versions, amounts with a unit, ordinals, numbers in code, and addresses.
_OTHER_VALUE = (
    r"(?i)^(?:v?\d+(?:[.,]\d+)*(?:[°%€$£]|[µmkcd]?[gml]|[km]?[whvzs]|k?wh|[kmgt]i?b|mah|px|k|p|x|°c|st|nd|rd|th|er|ème"
    r"|e)?|[€$£]\d\S*|0x[0-9a-f]+|\S+@\S+\.\S+|https?:\S*|\S*[/(\[]\S*)$"
)
# The words that make what follows the value: of being, changing and setting, with an adverb or article after it.
_LINK = (
    r"(?i)(?:(?:^|[\s,])(?:is|are|was|be|to|as|ist|sind|war|lautet|heißt|hieß|auf|als|est|était|sont|en|comme|es|era"
    r"|son|siendo|como|a|remains|bleibt|reste)|(?:^|\bit|\bthat|\bone)['’]s|\bc['’]est|[:=])"
    r"(?:\s(?:now|still|always|again|set to|currently|just|probably|jetzt|immer noch|noch|früher|mal|einfach|weiterhin"
    r"|wieder|nun|maintenant|toujours|encore|simplement|ahora|todavía|simplemente|le|la|el|the|die|den|nicht mehr))*"
    r"\s*[\"“„«'‘(]?\s?$"
)
_LINKS_BACK = r"(?i)(?:^|[\s,])(?:is|was|as|ist|war|als|lautet|est|était|comme|es|era|como|(?:that|it)['’]s|c['’]est)\s"
_OPENS_WITH = (
    r"(?i)(?:^|\s)(?:it['’]?s|that['’]?s|with|to"
    r"|uses?|enter|type|press|punch in|dial|is|mit|auf|tippe|drücke|wähle|avec|tape|compose|utilise|con"
    r"|marca|usa|pulsa)(?: (?:the|die|den|le|la|el))?\s$"
)
# What may follow a number that counts nothing: the end of a clause, a function word or a German participle.
_CLAUSE_GOES_ON = (
    r"(?i)^[#*]?(?:\s*$|\s*[.,;:!?()\n\"'”»–—/-]|\s+(?:and|or|but|for|at|since|now|if|so|it|by|from|on|in|to|as|is|was|are"
    r"|of|the|my|our|when|while|until|before|after|because|that|which|with|last|today|yesterday|please|not|again|too|und"
    r"|oder|aber|für|fürs|seit|jetzt|gestern|bitte|ist|war|lautet|als|ein|eingeben|eintippen|der|die|das|beim|am|im|zum"
    r"|wenn|weil|nicht|auch|auf|(?-i:ge\pL+)|et|ou|mais|pour|depuis|maintenant|hier|est|comme|le|la|au|à|sur|dans|de|du"
    r"|quand|si|puis|y|o|pero|para|desde|ahora|ayer|es|como|el|en|del|cuando|porque|por)\b)"
)
_COUNTS_TIME = (
    r"(?i)(?:^|\s)(?:in|from|since|until|by|at|of|on|around|im|seit|von|vom|bis|um|en|de|depuis|dès|à|desde|hasta|las"
    r"|del)\s$"
)
_NUMBERED = (
    r"(?i)(?:^|\s)(?:rooms?|page|lines?|port|flight|version|article|chapter|section|route|bus|ral|iso|zimmer|raum|seite"
    r"|zeile|artikel|flug|chambre|salle|ligne|vol|habitación|página|artículo|línea|vuelo)\s$"
)
# Words after "the password is" that describe it; so do adjectives and participles by their endings.
_DESCRIBES = frozenset(
    "too not never very always in on at to so the a an my your our their correct different gone empty weak strong short"
    " long secure safe lost unknown set important old new easy hard good bad ok okay fine case-sensitive it that this"
    " what something also still now only under with by for from sent about kept stolen public here there below above"
    " same wrong broken forgotten written hidden zu nicht nie sehr immer im am der die das ein eine mein dein falsch"
    " abgelaufen weg leer schwach stark kurz lang sicher unsicher geheim vergessen verloren bekannt unbekannt neu alt"
    " gut noch auch nur schon trop pas jamais très toujours dans sur le la les un une mon ton votre notre faux requis"
    " vide faible fort court sûr perdu connu inconnu nouveau ancien bon encore aussi seulement muy demasiado el mi en"
    " larga corta débil segura nueva vieja igual mal secreta".split()
)
_DESCRIBES_BY_ENDING = r"(?i)(?:ed|ing|able|ible|ive|lich|bar|iert|é|ée|ado|ada|ido|ida|ct|id)$"
_ENDS_CLAUSE = r"(?i)^[\"'`”“»]?\s*(?:$|\n|[.,;!?)]|(?:and|but|for|so|und|aber|oder|et|mais|y)\b)"


@dataclass(frozen=True, slots=True)
class _Named:
    """A word for a secret in a sentence."""

    kind: str
    word: str
    start: int
    end: int

    @property
    def finding(self) -> str:
        """Return the name of a finding beside it."""
        word = self.word.lower()
        if self.kind == _ACCOUNT:
            return "account_number"
        if self.kind == _KEY:
            return "api_key"
        if "pin" in word or "geheimzahl" in word or "puk" in word:
            return "pin"
        return "access_code" if self.kind in (_CODE, _LOCK) else "password"


def find_spoken_secrets(text: str) -> Iterator[Finding]:
    """Yield the passwords, codes and account numbers in the sentences of a text."""
    if not pattern(_MAY_NAME).search(text):
        return
    for sentence in pattern(_SENTENCE).finditer(text):
        said = sentence.group()
        if pattern(_MAY_NAME).search(said) and (named := _named_in(said)):
            for start, end, name in _secrets_in(said, named):
                yield Finding(sentence.start() + start, sentence.start() + end, SensitiveKind.SECRET, name)


def _named_in(sentence: str) -> list[_Named]:
    """Return the words for a secret, without those for a public code or a thing about secrets ("password policy")."""
    named = []
    for found in pattern(_NOUN).finditer(sentence):
        kind = next(kind for kind, _ in _NOUNS if found.group(kind))
        start, end = found.span(pattern(_NOUN).groupindex[kind])
        is_public = pattern(_IS_PUBLIC).search(sentence[max(0, start - 20) : start])
        if not (
            is_public
            or pattern(_PUBLIC_NOUN).search(sentence[start:end])
            or pattern(_OTHER_HEAD).search(sentence[end : end + 20])
        ):
            named.append(_Named(kind, sentence[start:end], start, end))
    return named


def _secrets_in(sentence: str, named: list[_Named]) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and name of each secret in a sentence."""
    for noun in named:
        if noun.kind == _LOGIN:
            yield from _passwords_of_logins(sentence, noun)
        if noun.kind == _PASSWORD:
            quotations = pattern(_QUOTED).finditer(sentence[: noun.end + _NEAR], noun.end)
            yield from ((*each.span(1), "password") for each in quotations if not is_reference(each.group("value")))
    may_be_word = any(each.kind == _PASSWORD for each in named)
    for token in pattern(_TOKEN).finditer(sentence):
        if not may_be_word and token.group().isalpha():
            continue
        value = token.group().lstrip(_OPENING)
        start = token.end() - len(value)
        value = value.rstrip(_TRAILING)
        noun_beside = _nearest(named, start, start + len(value))
        if noun_beside is not None and _is_secret(sentence, start, value, noun_beside):
            yield start, start + len(value), noun_beside.finding


def _passwords_of_logins(sentence: str, noun: _Named) -> Iterator[tuple[int, int, str]]:
    """Yield the password in "login: name / password", in either order with the word for a login."""
    for pair in pattern(_PAIR).finditer(sentence):
        value, is_after = pair.group("value").rstrip(_TRAILING), noun.end <= pair.start() <= noun.end + _NEAR
        if (is_after or "/" in pair.group()) and _is_mixed(value) and len(value) >= 6:
            yield pair.start(1), pair.start(1) + len(value), "password"


def _nearest(named: list[_Named], start: int, end: int) -> _Named | None:
    """Return the last word for a secret before a value, else the first one after it; things with a lock come last."""
    if any(each.start < end and start < each.end for each in named):
        return None
    before = [each for each in reversed(named) if each.end <= start <= each.end + _NEAR]
    after = [each for each in named if end <= each.start <= end + _NEAR]
    strong = (each for each in (*before, *after) if each.kind in (_PASSWORD, _CODE, _ACCOUNT))
    return next(strong, next(iter((*before, *after)), None))


def _is_secret(sentence: str, start: int, value: str, noun: _Named) -> bool:
    end = start + len(value)
    if len(value) < 3 or is_reference(value) or pattern(_DATE).search(value):
        return False
    is_before = end <= noun.start
    gap = sentence[end : noun.start] if is_before else sentence[noun.end : start]
    if is_before:
        is_linked = pattern(_LINKS_BACK).search(gap) is not None
    else:
        is_linked = pattern(_LINK).search(f"{gap} ") is not None or not gap.strip(" ,\"“„«'‘’(#")
    if pattern(_NUMBER).search(value):
        return _is_code_number(sentence, start, end, noun, is_linked=is_linked)
    if pattern(_OTHER_VALUE).search(value):
        return False
    if _is_mixed(value):
        return _is_mixed_secret(value, noun, is_linked=is_linked)
    may_be_word = noun.kind == _PASSWORD and is_linked and not is_before and bool(gap.strip())
    return may_be_word and _is_word(value, sentence[end:])


def _is_code_number(sentence: str, start: int, end: int, noun: _Named, *, is_linked: bool) -> bool:
    """Return True for a number that counts nothing, is no year or time, and numbers no other thing."""
    value, before = sentence[start:end], sentence[max(0, start - 20) : start]
    is_pin_itself = noun.finding == "pin" and not sentence[noun.end : start].strip(" :#") and noun.end <= start
    # "3812 opens the shed"
    opens = noun.kind == _LOCK and " " in noun.word and end <= noun.start and not sentence[end : noun.start].strip()
    counts = not (is_pin_itself or opens) and not pattern(_CLAUSE_GOES_ON).search(sentence[end : end + 20])
    if (counts and not (is_linked and end <= noun.start)) or pattern(_NUMBERED).search(before):
        return False
    if noun.kind in (_KEY, _ACCOUNT):
        return len(value) >= 8 if noun.kind == _KEY else is_linked and len(value) >= 5
    if noun.kind in (_LOCK, _LOGIN, _ONE):
        return noun.kind == _LOCK and bool("-" in value or opens or pattern(_OPENS_WITH).search(before))
    is_year = pattern(_YEAR).search(value) is not None
    if pattern(_COUNTS_TIME).search(before) and (is_year or before.endswith(("at ", "um ", "on "))):
        return False
    return is_linked or not (len(value) == 3 or is_year)


def _is_mixed(value: str) -> bool:
    """Return True for a word with digits, or with a sign within."""
    letters = sum(map(str.isalpha, value))
    signs = sum(each in "!#$%&*+=@_?" for each in value[:-1])
    is_product = value.lower().endswith("password")  # of a manager of passwords
    return letters > 0 and len(value) >= 4 and not is_product and (signs > 0 or any(map(str.isdigit, value)))


def _is_mixed_secret(value: str, noun: _Named, *, is_linked: bool) -> bool:
    digits = sum(map(str.isdigit, value))
    is_interleaved = pattern(r"\pL[\d!#$%&*+=@_]+\pL").search(value) is not None
    if noun.kind == _PASSWORD:
        return is_linked or (digits > 0 and len(value) >= 6 and "=" not in value)
    if noun.kind == _CODE and pattern(r"^\d{1,4}[A-Z]{1,2}\d{0,4}$").search(value):  # "15B40", no name or version
        return True
    least = {_ONE: is_interleaved and len(value) >= 8, _KEY: digits > 0 and len(value) >= 8}
    of_code = digits >= 3 or (digits > 0 and is_interleaved)
    return is_linked and least.get(noun.kind, noun.kind == _CODE and of_code)


def _is_word(value: str, rest: str) -> bool:
    """Return True for a word that ends its clause and doesn't describe the password: "… is tulip and it works"."""
    word = value.lower()
    if word in _DESCRIBES | NO_LITERALS or pattern(_DESCRIBES_BY_ENDING).search(word):
        return False
    return pattern(_ENDS_CLAUSE).search(rest) is not None
