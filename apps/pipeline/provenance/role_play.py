"""Role play: the words in a scene are those of a role, in one turn or over several."""

from collections.abc import Iterable, Iterator

import re2

from apps.pipeline.provenance.spans import HIDDEN, ForeignKind, ForeignSpan

# A scene for two lasts until it is closed.
_OPENS = re2.compile(
    r"(?i)\b(?:role-?play\w*|let['’]?s play\b[^.!?\n]{0,60}\b(?:roles?|pretend|dungeons|adventure|scene|characters?|you['’]?re|you are|as)\b"
    r"|(?:pretend|imagine|suppose|let['’]?s (?:say|pretend|play))\b[^.!?\n]{0,80}\byou(?:['’]re| are|['’]ll be| be| play)\b"
    r"|(?:i['’]ll|i will|let me) (?:be|play) [^.!?\n]{1,60}\byou(?:['’]re| are| be| play)\b|\byou(?:['’]re| are| be| play) [^.!?\n]{1,60}\b(?:i['’]ll|i will) (?:be|play)\b"
    r"|\b(?:stay|be|remain) in character\b|rollenspiel|(?:lass uns|wir) (?:so tun|spielen)|tu so\b[^.!?\n]{0,60}\bdu\b|jeu de rôle|mise en situation|(?:faisons|fais|faites) (?:comme si|semblant)\b[^.!?\n]{0,60}\b(?:tu|vous)\b|juego de rol"
    r"|\b(?:du (?:bist|spielst|wärst)|(?:tu|vous) (?:es|êtes|fais|faites|joues|jouez|seras|serez)|tú (?:eres|haces de|serás))\b[^.!?\n]{1,60}?(?:,|\bund|\bet|\by)(?: moi,?)? (?:ich (?:bin|spiele)|je (?:suis|fais|joue|serai)|yo (?:soy|hago de|seré))\b"
    r"|\b(?:ich (?:bin|spiele)|je (?:suis|fais|joue|serai)|yo (?:soy|hago de|seré))\b[^.!?\n]{1,60}?(?:,|\bund|\bet|\by)(?: toi,?)? (?:du (?:bist|spielst)|(?:tu|vous) (?:es|êtes|fais|faites|joues|jouez|seras|serez)|tú (?:eres|haces de|serás))\b"
    r"|\b(?:jouons|on joue|spielen wir|juguemos)\b[^.!?\n]{0,60}\b(?:rôles?|scène|rollen?|szene|papel(?:es)?|escena|tu (?:es|fais|joues)|vous (?:êtes|faites|jouez)|du (?:bist|spielst)|tú eres)\b)"
)
# A scene that the speaker plays or tells alone lasts to the end of the paragraph.
_OPENS_ALONE = re2.compile(
    r"(?i)\b(?:let['’]?s pretend\b|(?:pretend|imagine|suppose)\b[^.!?\n]{0,30}\b(?:i['’]m|i am|i were|i was|that i|to be)\b|in (?:this|my|our) (?:story|game|novel|book|scene|play|campaign|dream|movie|film|script)\b|in the (?:story|novel|scene|campaign|script|screenplay|role-?play|dream)\b"
    r"|(?:my|the) (?:character|avatar|hero|heroine|narrator|protagonist)\b|once upon a time\b|(?:chapter|scene) (?:one|two|three|\d+)\b"
    r"|(?:write|tell|continue|here is|here's)\b[^.!?\n]{0,60}\b(?:story|monologue|diary entry|novel|fan ?fiction|screenplay|song|poem|scene)\b"
    r"|stell dir vor,? ich|tu so,? als (?:ob|wäre) ich|in meiner geschichte|imagine[zs]? que (?:je|j['’])|supposons que (?:je|j['’])|(?:fais|faites|faisons) comme si (?:je|j['’])|dans mon (?:histoire|roman)|imagina que (?:yo )?(?:soy|estoy|fuera)|finjamos que|en mi (?:historia|novela))"
)
_CLOSES = re2.compile(
    r"(?i)\b(?:(?:ok|okay|right|and)?,? ?stop(?: it| here| now)?[,.!]|i['’]m me again|(?:end|out) of (?:the )?(?:game|scene|role-?play|character|story)|back to (?:reality|normal|real life|me)"
    r"|(?:game|scene|role-?play|story) over|no more pretending|enough (?:of that|pretending|role-?play\w*)|in real life|for real now|ende des spiels|spiel vorbei|im echten leben|schluss (?:mit dem spiel|jetzt)|fin (?:du jeu|de la scène|del juego)|on arrête(?: là| le jeu)?|(?:je suis|c['’]est) (?:de nouveau |à nouveau |redevenue? )moi|dans la vraie vie|fuera de broma|en la vida real)"
)
_SENTENCE_END = re2.compile(r"[.!?…](?:\s|$)|\n")
# The first words of a prompt that gives the assistant a role and describes the speaker's.
_GIVES_A_ROLE = re2.compile(
    r"(?i)^\W*(?:you are (?:now )?(?:an?|the|my) [^.!?\n]*[.!?\n,]|(?-i:You are (?:now )?\p{Lu}\w*\b)|you(?:['’]re| are) (?:reviewing|helping|talking to|speaking to|teaching|interviewing) an?\b"
    r"|(?:please )?(?:act|behave|respond|answer) (?:as|like) (?:an?|the|if)\b|I want you to (?:act|play|pretend|be an?)\b|your (?:role|task|job) is\b)"
)


def gives_a_role(text: str) -> bool:
    """Return True if a turn begins by giving the assistant a role: it sets a scene and states no facts."""
    return _GIVES_A_ROLE.match(text) is not None


def is_in_scene(earlier: Iterable[str]) -> bool:
    """Return True if an earlier turn has opened a scene for two that has not been closed since."""
    playing = False
    for text in earlier:
        opened, closed = _last_end(_OPENS, text), _last_end(_CLOSES, text)
        playing = playing if opened == closed else opened > closed
    return playing


def scenes(prose: str, *, is_playing: bool = False) -> Iterator[ForeignSpan]:
    """Yield the text of a scene, from the end of the opening sentence to the closing words."""
    place = 0
    if is_playing:
        place = end_of_scene(prose)
        yield ForeignSpan(0, place, ForeignKind.ROLE_PLAY)
    while opening := _OPENS.search(prose, place):
        start, place = _next_sentence(prose, opening.end()), end_of_scene(prose, opening.end())
        if start < place:
            yield ForeignSpan(start, place, ForeignKind.ROLE_PLAY)
        place = max(place, opening.end())
    for opening in _OPENS_ALONE.finditer(prose):
        start = _next_sentence(prose, opening.end())
        end = _end_of_paragraph(prose, opening.end())
        if start < end and HIDDEN not in opening.group():
            yield ForeignSpan(start, min(end, end_of_scene(prose, start)), ForeignKind.ROLE_PLAY)


def end_of_scene(prose: str, start: int = 0) -> int:
    """Return the position at which an open scene is closed, or the end of the text."""
    closing = _CLOSES.search(prose, start)
    return int(closing.end()) if closing else len(prose)


def _next_sentence(prose: str, place: int) -> int:
    end = _SENTENCE_END.search(prose, place)
    return int(end.end()) if end else len(prose)


def _end_of_paragraph(prose: str, place: int) -> int:
    end = prose.find("\n\n", place)
    return end if end >= 0 else len(prose)


def _last_end(pattern: "re2._Regexp[str]", text: str) -> int:
    return max((found.end() for found in pattern.finditer(text)), default=-1)
