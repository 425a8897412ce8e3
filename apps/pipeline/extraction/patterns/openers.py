"""Words before a statement: interjections are removed, times are moved to the end."""

import re
from dataclasses import dataclass

from apps.pipeline.lexicon.calendar import MONTHS
from apps.pipeline.lexicon.health_terms import BODY_PART
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

# Openers without content, and those with a time.
_OPENER = re.compile(
    r"(?i)^(?:(?:wow|whoa|hey|hi|hello|oh|ah|aw+|hm+|um+|uh|yeah+|yes|yep|yup|yea|no|nope|nah|well|so|and|but|also|plus|btw|by the way|honestly|anyway|anyways|"
    r"thanks|thank you|thx|sure|ok|okay|lol|haha+|unfortunately|luckily|fortunately|sadly|anyhow|cool|nice|great|awesome|absolutely|definitely|totally|exactly|"
    r"actually|correction|sorry|wait|sorry to hear that|that's (?:great|awesome|cool|nice)|guess what|good question|of course|right|true|fun fact|fyi|ps|p\.s|tbh|"
    r"to be honest|in fact|for (?:me|context|reference|the record)|just so you know|remember|note|please (?:note|remember)|i mean|you know|long story short|as you know"
    r"|speaking of which|good news|bad news|big news|update|quick update|for your information|no worries|let me see|finally|turns out|it turns out|it turned out|turned out|heads up|reminder|now)\b(?:[,!.:;\-–— ]+|$)(?:that\b\s*)?)"
)
_WHEN = (
    r"(?:yesterday|today|tonight|this (?:morning|afternoon|evening|week|weekend|month|year|summer|winter|spring|fall|autumn)|last (?:night|week|weekend|month|year|summer|winter|spring|fall|autumn|\w+day)"
    r"|next (?:week|weekend|month|year|summer|\w+day)|(?:a|one|two|three|four|five|six|a few|few|couple of|a couple of|\d+) (?:days?|weeks?|months?|years?) ago|recently|lately|tomorrow"
    rf"|the other (?:day|night|week)|(?:on|since|in|by) (?:\w+day|{alternation(MONTHS)}|\d{{4}}|summer|winter|spring|autumn|fall)(?: (?:morning|evening|night|afternoon|\d{{1,4}}))?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days|every (?:day|morning|evening|night|week|weekend|month|year|\w+day)|on weekends|these days|nowadays|right now|currently|as of (?:today|now|\w+)|at the moment|as a (?:kid|child|teenager))"
)
_WHEN_FIRST = re.compile(rf"(?i)^({_WHEN}),?\s+(?=(?:I|we|my|our|she|he)\b)")
# "After finishing school, I moved": the first clause is moved to the end.
_SUBORDINATE = re.compile(
    r"^(?P<first>(?:[Aa]fter|[Dd]uring|[Ww]hile|[Oo]ver|[Aa]t|[Ii]n|[Oo]n|[Ff]or|[Bb]efore|[Ss]ince|[Ff]rom|[Uu]ntil|[Bb]ack in) [^,;.!?]{3,50}?),? (?=(?:I|we)\b)"
)
# What is shown is told as an event: "Here's a photo of our garden".
_SHOWN = re.compile(
    r"^[Hh]ere(?:'s| is| are) (?=one of (?:my|our) .{6,}|(?:a|an|the|some|my|our|one)\b.*\b(?:photos?|pics?|pictures?|paintings?|drawings?|snaps?|shots?|videos?|recipes?|sketch(?:es)?)\b .{6,})"
)
_NAME_OF = re.compile(r"^(?P<who>(?:[Mm]y|[Oo]ur) [\w -]{2,30})'s name(?: is|'s) ")
# "I wanted to tell you I joined a choir" says that I joined a choir.
_TOLD = re.compile(
    r"(?i)^(?:i|we)(?:(?='ve)| )(?:(?:just|also|recently) )*(?:(?:wanted|want|have|need|forgot|gotta|got) to (?:tell|let) (?:you|ya)(?: all)?(?: know)?|(?:(?:have|'ve) )?(?:just )?(?:found out|realized|realised|discovered|learned|learnt)(?: recently| yesterday)?)(?: that)?:? (?=(?:I|my|we|our)\b)"
)
# "They found out I'm anaemic", "my GP says I have asthma"
_FOUND_OUT = re.compile(
    r"(?i)^(?:they|(?:the|my) (?:doctors?|gp|dentist|consultant|specialist|hospital|blood tests?|tests?))(?:'ve| have| has)? (?:just )?(?:found(?: out)?|confirmed|discovered|told me|say|says|said) (?:that )?(?=I(?:'m| am|'ve| have| should| must| can't| cannot| need to| have to| mustn't| shouldn't)\b)"
)
# "Floor said I must not carry anything"
_FORBADE = re.compile(
    r"^(?:[A-ZÀ-Þ][\w'-]+|[Ss]he|[Hh]e|(?:[Mm]y|[Tt]he) [a-z]+(?: [a-z]+)?)(?:'s| has| have)? (?:says|said|told me|thinks|insists|ordered) (?:that )?(?=I (?:must not|mustn't|can't|cannot|can not|am not allowed|'m not allowed|may not|shouldn't|should not)\b)"
)
_BOUNDS = ("from ", "until ")  # these belong to what comes first: "from May I'll be in Rome, then in Oslo"
_BELIEF = re.compile(
    r"(?i)^(?:i|we) (?:think|believe|guess|suppose|feel like|reckon|figure)(?: that)?\s+(?=(?:I|we|my|our|he|she)\b)|^(?:maybe|perhaps|probably|possibly)\s+(?=(?:I|we|my|our|he|she)\b)"
)
_VOCATIVE = re.compile(r"^[A-ZÀ-Þ][a-zà-ÿ]+, (?=(?:[A-ZÀ-Þ]|my|our|i )[\w' ]+ )")


_APOSTROPHES = str.maketrans(dict.fromkeys("’`´‘", "'"))


@dataclass(frozen=True, slots=True)
class Opened:
    """A clause that begins with its subject, and whether it was stated as a belief."""

    said: str
    is_belief: bool


# "Our youngest can't have nuts" is about a child.
_CHILD = re.compile(
    rf"\b(?P<whose>[Mm]y|[Oo]ur) (?P<which>youngest|oldest|eldest)(?! (?:\w+ )?(?:{alternation(KIN_WORDS)})\b)(?=[ ',)])"
)
# "Mum turns 80", "my dad" as a child says it.
_TITLE = re.compile(
    r"^(?:[Mm]ummy|[Mm]ommy|[Dd]addy|[Pp]apa|[Nn]an|[Mm]um|[Mm]om|[Dd]ad|[Gg]ran|[Gg]randma|[Gg]randpa|[Gg]randad|[Gg]ranny|[Nn]ana)(?='s | [a-z])"
)
_THE_KIDS = re.compile(
    r"^(?:[Bb]oth|[Tt]he|[Bb]oth (?:the|my|our)|[Aa]ll (?:the|my|our)) (?P<who>kids|children|boys|girls|twins|dog|cat|puppy|kitten|baby) "
)
# "Left knee has been sore since March" is the speaker's own.
_BODY = re.compile(
    rf"^(?=(?:[Ll]eft |[Rr]ight |[Ll]ower |[Uu]pper )?(?i:{BODY_PART}) (?:is|has|was|hurts|aches|still|keeps)\b)"
)
_GOES_WITHOUT = re.compile(
    r"(?:^|[.,!?] )(?:(?:[Ss]till|[Aa]lso) )?[Nn]o (?P<what>[a-z]+(?: [a-z]+)?) for me (?P<since>(?:since|any ?more|these days)\b.*)$"
)
_COMPANION = rf"(?:(?:[Mm]y|[Tt]he) (?:[a-z]+ )?(?:{alternation(KIN_WORDS)})(?: [A-ZÀ-Þ][\w-]+)?|[A-ZÀ-Þ][\w-]+)"
# "Bristol, that's where I live"
_WHERE = re.compile(
    r"^(?:(?:[Ff]rom|[Ii]n|[Aa]t|[Nn]ear) )?(?P<place>[A-ZÀ-Þ][\w' -]{1,40}), (?:and )?that's where (?P<who>I|we) (?P<verb>live|work|study)\b(?P<rest>.{0,40})$"
)


# "No more drink during the week", "no milk for me any more"
_NEVER_AGAIN = re.compile(
    r"(?:^|[.,!?] )(?:(?:[Ss]o|[Aa]lso|[Aa]nd) )?[Nn]o (?:more )?(?P<what>(?!(?:one|way|time|problem|need|idea|doubt|wonder|worries|rush|longer)\b)[a-z]+) (?:for me )?(?P<since>any ?more|(?:during|in|on|at) (?:the )?(?:week|weekdays|weekends?|evenings?)|after \d[\w:]*|until [A-Z]\w+|from now on)\b"
)
_TOLD_WORDS = frozenset("told advised warned ordered meant supposed".split())
# "Mum's been told she's prediabetic"
_TOLD_TO_BE = re.compile(
    r"^(?P<who>(?:(?:[Mm]y|[Oo]ur) )?[\w-]+(?: [A-Z][\w-]+)?)(?:['’]s| has) (?:just )?been told (?:that )?(?:she|he)(?:['’]s| is) "
)
# "The doctor told me not to drink", "I've been told not to lift anything"
_TOLD_NOT_TO = re.compile(
    r"^(?:(?:(?:the|my) (?:new )?[a-z]+|she|he|they|[Dd]r\.? [A-ZÀ-Þ][\w-]+)(?:'s| has|'ve| have)? (?:told|advised|warned|ordered) me|(?:I(?:'ve been| have been| was|'m| am)) (?:told|advised|warned|ordered|meant|supposed)) (?:not|never) to ",
    re.IGNORECASE,
)
_TOLD_TO_AVOID = re.compile(
    r"^(?:(?:(?:the|my) (?:new )?[a-z]+|she|he|they|[Dd]r\.? [A-ZÀ-Þ][\w-]+)(?:'s| has|'ve| have)? (?:told|advised|warned|ordered) me|(?:I(?:'ve been| have been| was)) (?:told|advised|warned|ordered)) to (?=(?:avoid|cut out|stay off|keep off|stay away from|give up)\b)",
    re.IGNORECASE,
)
# "The four of us", "Tom and I", "me and my wife"
_WE = re.compile(
    rf"^(?:(?:[Aa]ll|[Bb]oth|[Tt]he (?:two|three|four|five|six)) of us|[Mm]e and {_COMPANION}|{_COMPANION} and (?:I|me))(?= (?:are|were|have|had|will|can|can't|don't|never|always|both|all|[a-z]+)\b)"
)


def clause_words(clause: str) -> str:
    """Return a clause with plain apostrophes and without what only opens it: "Oh, by the way, "."""
    said = " ".join(clause.translate(_APOSTROPHES).split())
    words = frozenset(said.lower().split())  # a set is quicker to ask than the expressions
    if not _TOLD_WORDS.isdisjoint(words):
        said = _TOLD_TO_AVOID.sub("I should ", _TOLD_NOT_TO.sub("I must not ", _TOLD_TO_BE.sub(r"\g<who> is ", said)))
    if "no" in words and (never := _NEVER_AGAIN.search(said)):
        since = "" if never["since"].endswith(("more", "on")) else f" {never['since']}"
        return f"I go without {never['what']}{since}"
    if without := _GOES_WITHOUT.search(said):
        return f"I don't have {without['what']} {without['since']}"
    if where := _WHERE.match(said):
        return f"{where['who']} {where['verb']} in {where['place']}{where['rest']}"
    said = _without_openers(said)
    said = _WE.sub("we", _without_openers(_VOCATIVE.sub("", said)))
    if _BODY.match(said):
        said = f"my {said[:1].lower()}{said[1:]}"
    said = _TITLE.sub(lambda found: f"my {found.group().lower()}", said)
    return with_child_named(_THE_KIDS.sub(r"our \g<who> ", said))


def with_child_named(said: str) -> str:
    """Write "our youngest child" for "our youngest"."""
    return _CHILD.sub(r"\g<whose> \g<which> child", said)


def opened(clause: str) -> Opened:
    """Bring the subject to the front: "Yesterday I ran" → "I ran yesterday", "I think I…" → "I…" as a belief."""
    said = _NAME_OF.sub(r"\g<who> is called ", _SHOWN.sub("I shared ", clause))
    said = _FORBADE.sub("", _FOUND_OUT.sub("", _TOLD.sub("", said)))
    if when := _WHEN_FIRST.match(said):
        told, comma, more = _without_openers(said[when.end() :]).partition(", which ")
        said = f"{told} {_in_sentence(when.group(1))}{comma}{more}"
    elif first := _SUBORDINATE.match(said):
        told, comma, more = said[first.end() :].rstrip(" .!,").partition(", ")
        if first["first"].lower().startswith(_BOUNDS):
            said = f"{told} {_in_sentence(first['first'])}{comma}{more}"
        else:
            said = f"{told}{comma}{more} {_in_sentence(first['first'])}"
    belief = _BELIEF.match(said)
    return Opened(said=said[belief.end() :] if belief else said, is_belief=belief is not None)


def _without_openers(said: str) -> str:
    for _ in range(5):
        opener = _OPENER.match(said)
        if opener is None or opener.end() >= len(said):
            return said
        said = said[opener.end() :].lstrip()
    return said


def _in_sentence(when: str) -> str:
    first, _, rest = when.partition(" ")
    return f"{first.lower()} {rest}".strip()
