"""Trust: what a statement may change, by who said it and in whose words."""

from collections.abc import Iterator

import re2

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import Reason, Role, SpeechAct
from apps.pipeline.core.memory_conversion import role_of
from apps.pipeline.core.predicates import HEALTH_PREDICATES
from apps.pipeline.core.statement import PLAIN, Candidate, StoredMemory
from apps.pipeline.provenance.orders import injection_signs, is_binding
from apps.pipeline.provenance.own_words import Standing, TurnWords, is_plain_talk, words_of

_HEALTH = re2.compile(
    r"(?i)\b(?:allerg\w*|intoleran\w*|diagnos\w*|symptoms?|medicat\w*|medicines?|tablets|pills|doctors?|surgery"
    r"|diabet\w*|asthma\w*|cancer|pregnan\w*|disab\w+|disease|disorder|syndrome|\w{3,}itis)\b"
)
SIGNS_IN_OWN_WORDS = 2  # signs of an injection; one alone may be an ordinary wish, such as "never ask for confirmation"


def doubts_about_origin(draft: Draft, candidate: Candidate) -> tuple[str, ...]:
    """Return the reasons for review that follow from where a statement comes from."""
    if candidate.given is not None:
        return candidate.given.doubts
    standing = standing_of(draft, candidate)
    signs = max(injection_signs(candidate.content), injection_signs(candidate.evidence))
    if signs >= (SIGNS_IN_OWN_WORDS if standing is Standing.OWN else 1):
        return (Reason.SUSPECTED_INJECTION,)
    is_of_health = candidate.predicate in HEALTH_PREDICATES or _HEALTH.search(
        f"{candidate.content} {candidate.evidence}"
    )
    is_risky = standing is Standing.RESUMED and (is_binding(candidate) or is_of_health)
    talk = (is_plain_talk(words, candidate.evidence) for words in _words_of_sources(draft, candidate))
    is_unread = candidate.extractor.startswith(PLAIN) and not any(talk)
    return (Reason.OTHERS_WORDS,) if standing is Standing.OTHERS or is_risky or is_unread else ()


def may_change_known(draft: Draft, candidate: Candidate, known: StoredMemory) -> bool:
    """Return True if a statement may close, promote or correct a memory: the user asserts it in their own words."""
    if candidate.given is not None:
        return candidate.given.may_change(known)
    is_users = role_of(draft=draft, candidate=candidate) is Role.USER
    is_asserted = candidate.speech_act is SpeechAct.ASSERTED
    return is_users and is_asserted and standing_of(draft, candidate) is Standing.OWN


def standing_of(draft: Draft, candidate: Candidate) -> Standing:
    """Return whose words the quote of a candidate is; without a quote there is nothing to compare."""
    if not candidate.evidence:
        return Standing.OWN
    standings = {words.standing_of(candidate.evidence) for words in _words_of_sources(draft, candidate)}
    order = (Standing.OWN, Standing.RESUMED, Standing.OTHERS)
    return next((each for each in order if each in standings), Standing.OTHERS)


def _words_of_sources(draft: Draft, candidate: Candidate) -> Iterator[TurnWords]:
    for turn in draft.request.sources_of(candidate):
        earlier = [each for each in draft.request.session_turns if each.position < turn.position]
        yield words_of(turn, earlier=earlier)
