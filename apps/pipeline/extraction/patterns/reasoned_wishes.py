"""Wishes to the assistant behind a reason that lasts: "I have ADHD so no massive paragraphs"."""

import re

import re2

_LEAD = r"(?i)^(?:(?:please|pls|and|also),? )*"
# "My English is not so good so please use easy words": who gives a reason that lasts, wishes for good.
_REASONED = re.compile(
    r"^(?P<reason>(?:I (?:can['’]t|cannot|don['’]t|do not|have|['’]ve)|I['’](?:ve|m)|My|my|We|Our|our) [^,;]{3,70}),? so (?P<rule>(?:please|pls|don['’]t|dont|do not|no|never|always|keep|use|be|speak|write|call|text|mail) .+)$"
)
_PASSING_REASON = re.compile(
    r"(?i)\b(?:today|tonight|now|tomorrow|this|tired|hurry|rush|train|bus|plane|car|driving|outside?|busy|meeting|late|minutes?|hours?|deadline|exam|phone|low|battery|going|in bed|sick|ill|guests?|questions?|problems?|ideas?|drafts?|codes?|files?|errors?|texts?|letters?|essays?)\b"
)
_PLAIN_WORDS = re2.compile(
    rf"{_LEAD}(?P<object>(?:use|write|answer|reply|respond|speak|talk|explain)(?: to me| me)?(?: only)?(?: (?:in|with))? (?:(?:very|more|only) )?[a-z]+(?: and [a-z]+)? (?:words|english|language|terms|sentences|answers|paragraphs|units|steps))(?:,? (?:please|pls|ok|okay))?$"
)
_NO_TEXTS = re2.compile(
    r"(?i)^(?:please,? )?no (?P<object>(?:(?:more|massive|long|big|huge|endless|giant) )*(?:paragraphs|essays|walls of text|long texts|lists|calls|phone calls|links|videos))(?:,? (?:please|pls|ok|okay))?$"
)


def gives_reason(sentence: str) -> bool:
    """Return True if a sentence tells of the speaker before it wishes: "I have ADHD so keep it short"."""
    return _REASONED.match(sentence.replace("’", "'")) is not None


def wish_with_reason(sentence: str) -> str:
    """Return the wish behind a reason that lasts; "" if there is none, or the reason is of the moment."""
    found = _REASONED.match(sentence.replace("’", "'").rstrip(" .!")) if " so " in sentence else None
    return found["rule"] if found and not _PASSING_REASON.search(sentence) else ""


def plain_style_in(wish: str) -> str:
    """Return how texts should be written: "use easy words"; "" for other wishes."""
    found = _PLAIN_WORDS.match(wish)
    return str(found.group("object")) if found else ""


def unwanted_texts_in(wish: str) -> str:
    """Return which texts nobody wants: "massive paragraphs"; "" for other wishes."""
    found = _NO_TEXTS.match(wish)
    return str(found.group("object")) if found else ""
