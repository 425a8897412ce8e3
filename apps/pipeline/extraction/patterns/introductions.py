"""Who somebody is, within what is said of them: "Leila, User's sister, is vegetarian" instead of two statements.

"Leila is User's sister" alone says nothing that the longer sentence doesn't, and "Leila is vegetarian" alone leaves open
who that is.
"""

import re
from collections.abc import Sequence

from apps.pipeline.core.enums import Polarity, SourceConfidence, SpeechAct
from apps.pipeline.core.statement import Candidate, Mention
from apps.pipeline.lexicon.kinship import relation_noun

_TIE = re.compile(r"^(?P<name>[^,]+) is (?P<described>[^,]+'s [^,]+)\.$")


def with_ties_inside(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates of a turn with each tie to a relative put into the first certain statement about them."""
    written = list(candidates)
    for tie in candidates:
        found = _TIE.match(tie.content) if _is_tie(tie) else None
        if found is None:
            continue
        name, described = found["name"], found["described"]
        place = next((at for at, each in enumerate(written) if _tells_of(each, name, described)), None)
        if place is not None:
            written[place] = _introduced(written[place], tie, described=described)
            written = [each for each in written if each is not tie]
    return tuple(written)


def _is_tie(candidate: Candidate) -> bool:
    """Return True for a relation of the family; others have one holder at a time and are compared as such."""
    other = candidate.object.entity
    noun = relation_noun(candidate.content.removesuffix(".").rpartition(" ")[2])
    is_of_speaker = candidate.predicate.endswith("_of") and other is not None and other.is_speaker
    return is_of_speaker and noun is not None and candidate.speech_act is SpeechAct.ASSERTED


def _tells_of(candidate: Candidate, name: str, described: str) -> bool:
    is_certain = candidate.source_confidence is not SourceConfidence.SPECULATED
    is_meant = candidate.speech_act is SpeechAct.ASSERTED and candidate.polarity is Polarity.POSITIVE
    is_named = candidate.content.startswith(f"{name} ") or candidate.content.endswith(f" {described} {name}.")
    return is_certain and is_meant and is_named and not candidate.traits.ties_entities


def _introduced(candidate: Candidate, tie: Candidate, *, described: str) -> Candidate:
    name = tie.subject.text
    content = candidate.content
    if content.startswith(f"{name} "):
        content = f"{name}, {described}, {content.removeprefix(f'{name} ')}"
    else:
        content = f"{content.removesuffix(f'{described} {name}.')}{name}, {described}."
    mentions = tuple(each for each in candidate.mentions if each.text not in (f"{described} {name}", name))
    if candidate.subject.text != name:
        mentions = (*mentions, Mention(text=name, type=tie.subject.type))
    return candidate.evolve(content=content, mentions=mentions, importance=max(candidate.importance, tie.importance))
