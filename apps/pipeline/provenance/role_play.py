"""Role play: the words in a scene are those of a role, in one turn or over several."""

from collections.abc import Iterable, Iterator

import re2

from apps.pipeline.provenance import marks
from apps.pipeline.provenance.spans import HIDDEN, ForeignKind, ForeignSpan


def gives_a_role(text: str) -> bool:
    """Return True if a turn begins by giving the assistant a role: it sets a scene and states no facts."""
    return marks.ROLE_FOR_THE_ASSISTANT.match(text) is not None


def is_in_scene(earlier: Iterable[str]) -> bool:
    """Return True if an earlier turn has opened a scene for two that has not been closed since."""
    playing = False
    for text in earlier:
        opened, closed = _last_end(marks.SCENE_OPENS, text), _last_end(marks.SCENE_CLOSES, text)
        playing = playing if opened == closed else opened > closed
    return playing


def _last_end(pattern: "re2._Regexp[str]", text: str) -> int:
    return max((found.end() for found in pattern.finditer(text)), default=-1)


def scenes(prose: str, *, is_playing: bool) -> Iterator[ForeignSpan]:
    """Yield the text of a scene, from the end of the opening sentence to the closing words, or of a given role."""
    place = 0
    if is_playing:
        place = end_of_scene(prose)
        yield ForeignSpan(0, place, ForeignKind.ROLE_PLAY)
    while opening := marks.SCENE_OPENS.search(prose, place):
        start, place = _next_sentence(prose, opening.end()), end_of_scene(prose, opening.end())
        if start < place:
            yield ForeignSpan(start, place, ForeignKind.ROLE_PLAY)
        place = max(place, opening.end())
    for opening in (*marks.SCENE_ALONE.finditer(prose), *marks.PLAYS_A_NAME.finditer(prose)):
        start, end = _next_sentence(prose, opening.end() - 1), _end_of_paragraph(prose, opening.end())
        if start < end and HIDDEN not in opening.group():
            yield ForeignSpan(start, min(end, end_of_scene(prose, start)), ForeignKind.ROLE_PLAY)
    if gives_a_role(prose):
        end = _next_sentence(prose, 0)
        yield ForeignSpan(end, end, ForeignKind.ROLE_PLAY, is_open=True)


def end_of_scene(prose: str, start: int = 0) -> int:
    """Return the position at which an open scene is closed, or the end of the text."""
    closing = marks.SCENE_CLOSES.search(prose, start)
    return int(closing.end()) if closing else len(prose)


def _next_sentence(prose: str, place: int) -> int:
    end = marks.SENTENCE_END.search(prose, place)
    return int(end.end()) if end else len(prose)


def _end_of_paragraph(prose: str, place: int) -> int:
    end = prose.find("\n\n", place)
    return end if end >= 0 else len(prose)
