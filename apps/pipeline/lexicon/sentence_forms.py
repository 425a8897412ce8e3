"""One form for sentences: "X's age is 52" → "X is 52", "the report was written by Nina" → "Nina wrote the report"."""

import re

from apps.pipeline.lexicon.verbs import PARTICIPLES, root

_OWNER = r"\b([\w-]+)'s? "
_FORMS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b(\d+)[ -]years?[ -](?:old|of age)\b", r"\1"),
        (r"\baged (?=\d)", ""),
        (rf"{_OWNER}age is\b", r"\1 is"),
        (rf"{_OWNER}(?:birthday|date of birth) (?:is|was)\b", r"\1 was born"),
        (r"\bhas (?:his|her|their|a) birthday\b", "was born"),
        (r"\b([A-Z][\w-]*) (is|was) spouse of ([A-Z][\w-]*)", r"\1's spouse \2 \3"),
        (rf"{_OWNER}(?:birthplace|place of birth) (?:is|was)\b", r"\1 was born in"),
        (rf"{_OWNER}(?:job|profession|occupation|trade) is\b", r"\1 is"),
        (rf"{_OWNER}weight is\b", r"\1 weighs"),
        (rf"{_OWNER}height is\b", r"\1 is tall"),
        (rf"{_OWNER}name is\b", r"\1 is"),
        (rf"{_OWNER}hobby is\b", r"\1 does as a hobby"),
        (rf"{_OWNER}(?:home|house|flat|apartment|place) is (?=in\b|near\b|at\b)", r"\1 lives "),
        (r"\b([A-Z][\w-]+) has an? ([a-z -]+?) (?:called|named|who is called|who is|is) (?=[A-Z])", r"\1's \2 is "),
        (r"\b(is|was) an? ([a-z]+) (?:who|that) works (?=at|for|in)", r"\1 a \2 "),
    )
)
_SIGNS = ("'s ", "s' ", " has ", " year", "aged ", " who ", " spouse of ")
_PASSIVE = re.compile(
    r"^(?P<lead>[^,]+, )?(?P<done>[^,;]+?) (?P<be>is|are|was|were|has been|have been|had been)"
    r" (?P<verb>\w+)(?P<middle>(?: [\w-]+){0,4}?) by"
    r" (?P<doer>(?:the|a|an|my|his|her|their|[A-Z]\w*'s?) (?:[a-z]+ )?\w+|[A-Z]\w+(?: [A-Z]\w++)*)(?P<rest>.*)$"
)


def normalize_form(text: str) -> str:
    """Return a sentence in the active voice, with owner or subject first."""
    if any(sign in text for sign in _SIGNS):
        for pattern, replacement in _FORMS:
            text = pattern.sub(replacement, text)
    return _PASSIVE.sub(_active, text) if " by " in text else text


def _active(found: re.Match[str]) -> str:
    verb, be = found["verb"], found["be"]
    if not (verb.endswith("ed") or verb in PARTICIPLES):
        return found[0]
    finite = f"{root(verb)}s" if be in ("is", "are") else verb
    return f"{found['lead'] or ''}{found['doer']} {finite} {found['done']}{found['middle']}{found['rest']}"
