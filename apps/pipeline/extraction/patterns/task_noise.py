"""Talk about the task at hand (code, drafts, calculations), which says nothing lasting about the speaker."""

import re2

_THING = (
    r"(?:functions?|variables?|(?:for |while )?loops?|lists? of|arrays?|dict(?:ionary)?|json|yaml|csv|dataframes?|regex|quer(?:y|ies)|endpoints?"
    r"|stack ?traces?|tracebacks?|exceptions?|errors?|bugs?|warnings?|logs?|code|codebase|scripts? (?:that|which|to)|snippets?|(?:unit |failing )?tests|test suite"
    r"|dependenc(?:y|ies)|modules?|merge conflicts?|pull requests?|config(?:uration)?s?|(?:class|method|file|table|object)(?: \w+)? (?:called|named|that)|columns?|rows?|cells?"
    r"|spreadsheets?|paragraphs?|typos?|files?|attachments?|questions?|ideas?|options?|problems?|things?|minutes?|hours?|days?|weeks?|choices?|versions?|images?|pages?|drafts?|(?:problem|issue|trouble) with"
    r"|(?:weird|strange|odd|same|following|cryptic) (?:messages?|outputs?|results?|behaviou?r|numbers?))"
)
_HANDLED = (
    r"(?:has|had|got|gets|uses|is using|ran|runs|is running|wrote|writes|adds|calls|creates|opens|changes|fixes|deploys|updated|changed|installed|fixed|added|removed|deleted|moved|copied|uploaded|typed|clicked|deployed"
    r"|committed|pushed|merged|tested|imported|configured|set|called|restarted|upgraded|checked|opened|closed|saved|formatted|sorted|created|defined|passed|received)"
)
_ORDERED = (
    r"(?:recipe|ideas?|list|name|title|plan|summary|slogan|examples?|template|code|function|query|regex|answers?|advice|suggestions?|words?|synonyms?|translation"
    r"|letter|email|poem|outline|itinerary|table|chart|script|explanation|caption|headline)"
)
_STEP_OR_STATE = re2.compile(
    rf"(?i)^(?:{_HANDLED} (?:[\w'’-]+ ){{0,4}}?{_THING}\b"
    r"|(?:has )?(?:pasted|attached|renamed|refactored|compiled|executed|debugged|reinstalled)\b"
    r"|(?:installed|updated|upgraded|imported|built) (?:the|this|that) (?:package|library|app|driver|plugin)s?\b"
    r"|(?:changed|set|updated) the (?:\w+ )?\w+ to\b"
    rf"|needs (?:(?:this|it|these|that|those|more|help|your|some)\b|(?:[\w-]+ ){{0,4}}?{_ORDERED}\b))"
)
# "uses the inhaler twice a day" is no step of a task.
_HOW_OFTEN = re2.compile(r"(?i) (?:once|twice|\w+ times|every) (?:(?:a|per|each) )?(?:hour|day|week|month)\b")
# When something happened is no thing that is worked on: "moved to Kiel last week", "two weeks ago".
_WHEN_IT_WAS = re2.compile(
    r"(?i) (?:(?:last|this|the other|earlier this|(?:the )?past) (?:week|day)"
    r"|(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|(?:a )?few|a couple of|several) (?:days?|weeks?) (?:ago|back))\b"
)
_ASKS_FOR_A_SUM = re2.compile(
    r"(?i)\bhow (?:many|much)\b[^.!?]*(?:\b(?:left|remain\w*|total|altogether|in all|each)\b"
    r"|\b(?:do|did|will|would) (?:i|we) (?:have|pay|spend|drive|walk|earn|owe|eat|sell|save|travel|run)\b)[^.!?]*\?"
)
_TEXT = (
    r"(?:essay|email|e-mail|letter|text|draft|paragraph|sentences?|story|poem|article|messages?|post|code|logs?|transcript|reviews?|abstract|report|chapter|bio|passage|dialogue|conversation"
    r"|excerpt|document|summary|notes|quote|lyrics|caption|tweet|speech|resume|cv|answer)"
)
_HANDS_OVER_A_TEXT = re2.compile(
    r"(?i)^(?:(?:please|pls|hey|hi|ok|now|also|and|then),? )*(?:(?:can|could|would|will) you (?:please )?|(?:I (?:want|need) you|I'd like you) to |help me )?"
    r"(?:(?:translate|summari[sz]e|rewrite|re-?phrase|paraphrase|proof-?read|correct|edit|improve|shorten|polish|fix|check|spell-?check|review|analy[sz]e|explain|classify|critique|grade|simplify|write|draft|compose|create"
    rf"|convert|expand|continue|complete|comment on|reply to|respond to|answer)\b[^:]{{0,80}}:|here(?:'s| is| are)\b[^:]{{0,60}}\b{_TEXT}\b[^:]{{0,40}}:|(?:the|my|this|original) (?:\w+ )?{_TEXT}(?: is| reads| says)?:)"
)
_NUMBER = re2.compile(r"(?i)\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|half|twice|dozen)\b")


def is_step_or_state(phrase: str) -> bool:
    """Return True if a third-person phrase is about a step of the task, its state, or a request for it."""
    return _STEP_OR_STATE.match(_WHEN_IT_WAS.sub("", _HOW_OFTEN.sub("", phrase))) is not None


def hands_over_a_text(sentence: str) -> bool:
    """Return True if a sentence announces a text to work on, so that the following words are not the speaker's."""
    return _HANDS_OVER_A_TEXT.match(sentence) is not None


def asks_for_a_sum(text: str) -> bool:
    """Return True if a text ends with a calculation, so that its amounts are an exercise."""
    return _ASKS_FOR_A_SUM.search(text) is not None


def gives_a_number(sentence: str) -> bool:
    """Return True if a sentence gives an amount."""
    return _NUMBER.search(sentence) is not None
