"""Standing rules for the assistant: conventions ("always…") and constraints ("never…")."""

import re
from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import CONSTRAINT, CONVENTION, MemoryType, Polarity
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.pattern import Pattern, trim_object
from apps.pipeline.lexicon import verbs

# Verbs for actions of an assistant; without them, "never give up" would be a constraint.
_DO = (
    r"(?:answer|respond|reply|use|write|format|give|include|show|explain|mention|say|add|translate|summari[sz]e|speak|talk|keep|list|send|suggest|recommend|ask|"
    r"assume|quote|cite|put|start|end|begin|convert|remind|check|make|wrap|sign|spell|round|sort|group|return|provide|avoid|prefer|tell|share|book|schedule|"
    r"contact|repeat|apologi[sz]e|address|refer|output|generate|stick|draft|run|commit|deploy|delete|touch|change|call|skip|leave|highlight|express|describe)"
)
_LEAD = r"(?i)^(?:(?:please|pls|and|also|so|ok|okay|yes|no|hey|remember|note|one more thing|in (?:the )?future|going forward|as a rule)[,:.]? )*"
_ALWAYS = re2.compile(
    rf"{_LEAD}(?:(?:you (?:should|must|can) )?always|from now on,?(?: please)?(?: always)?|going forward,?(?: please)?|in (?:the )?future,?(?: please)?|make sure (?:to|that you|you)(?: always)?|be sure to(?: always)?|remember to(?: always)?"
    rf"|I(?:'d| would)? (?:want|like|prefer|love) (?:you|it if you) to(?: always)?|I need you to always) (?P<object>{_DO}\b.*)$"
)
_WHENEVER = re2.compile(
    rf"{_LEAD}(?P<when>(?:every time|whenever|each time|any time|anytime|when(?:ever)?) (?:I|you|we|there)\b[^,]{{3,80}}),? (?:please |always |then )*(?P<object>{_DO}\b.*)$"
)
# A rule without a verb: "in our code always type hints".
_ALWAYS_THIS = re2.compile(
    rf"{_LEAD}(?:(?P<where>(?:in|for) (?:my|our|all|the) [\w -]{{2,30}}? )always (?P<object>[a-z][\w-]*(?: [\w-]+){{0,4}})(?:,.*)?|always (?P<plain>[\w-]+ [\w-]+(?: [\w-]+)?),? please)$"
)
# "In my family we always make cake" tells what others do; "for my mum always write large" has a verb of its own.
_SUBJECT = re2.compile(r"(?i)\b(?:i|we|they|he|she|you|it)$")
_IS_DONE = re2.compile(rf"(?i)^{_DO}\b")
# "Please use British spelling in everything you write for us"
_EVERYWHERE = re2.compile(
    rf"{_LEAD}(?P<object>{_DO}\b.*? (?:everywhere|in everything|for everything|in all (?:of )?(?:your|my|our|the)|in every|at all times|throughout)\b.*)$"
)
# "Do use ounces and inches with me"
_WITH_ME = re2.compile(rf"{_LEAD}(?:do )?(?P<object>(?:use|speak|write|stick to) .{{3,60}}? with me)$")
# "Give me paces in km, never miles"
_AND_NEVER = re2.compile(rf"{_LEAD}(?P<object>{_DO}\b[^,;]*),? (?:and |but )?never (?P<never>[^,;]+)$")
_TEXTS = r"(?:answers?|replies|responses?|sentences?|words?|lines?|lists?|paragraphs?|explanations?|summaries|messages|texts?|bullet points|steps|units|spelling)"
# "Short answers please": a style needs no verb.
_STYLE = re2.compile(
    rf"(?i)^(?P<object>(?:(?:only|just) )?(?:[a-z]+,? ){{1,2}}{_TEXTS})(?:,? (?:only|always))?,? (?:please|pls)(?: always)?$"
)
# "Please write me always in easy words"
_LATE_ALWAYS = re2.compile(rf"{_LEAD}(?P<what>{_DO}\b(?: [a-z]+){{0,3}}) always (?P<how>(?:in|with|as|without) .*)$")
# Wishes about the style of texts are standing ones, even without such a word.
_KEEP = re2.compile(
    rf"{_LEAD}(?P<object>keep (?:the |your |all |all your )?(?:explanations?|answers?|replies|responses|summaries|comments|messages) (?:as )?(?:short|brief|concise|simple|terse|formal|informal|polite|plain|to the point|under \d+ \w+)\b.*)$"
)
# "Could you keep it short from now on", "can you please always…"; without either it may ask whether one can.
_REQUEST = re2.compile(
    r"(?i)^(?:(?:hey|hi|ok|also|and|so|please),? )*(?:can|could|would|will) you (?:(?:please )?(?P<wish>.*\b(?:from now on|going forward|in (?:the )?future|every time))|(?:please )?(?P<style>keep (?:things|everything|(?:your |the )?(?:answers?|replies|texts?|messages)) .*?)(?:,? (?:please|pls))?(?:,.*)?|please (?P<polite>(?:always|never) .*))$"
)
# "Be concise", "so be blunt with me please"
_MANNER = re2.compile(
    r"(?i)^(?:(?:please|pls|and|also|so|just),? )*be (?P<object>(?:(?:more|very|really|as|always) )?(?:concise|brief|succinct|terse|direct|blunt|honest|frank|formal|informal|casual|critical|specific|precise|gentle|patient|kind|strict)(?: (?:and|but|,) (?:(?:concise|brief|succinct|terse|direct|blunt|honest|frank|formal|informal|casual|critical|specific|precise|gentle|patient|kind|strict)\b))?(?: (?:with me|as possible|in your \w+))?)(?:,? (?:please|pls))?$"
)
# "Put weekly status updates as bullet points": a report that is made again and again is a rule; another text is one task.
_REPORT = r"(?:updates?|reports?|summary|summaries|recaps?|digests?|overviews?|minutes)"
_TIMES = r"(?:daily|weekly|monthly)"
_REGULARLY = re2.compile(
    rf"{_LEAD}(?P<object>(?:put|send|give|write|format|show|list|summari[sz]e|draft) (?:(?:me )?{_TIMES} (?:[a-z]+ )?{_REPORT}\b.*"
    rf"|me (?:an?|the) (?:[a-z-]+ )?{_REPORT} (?:{_TIMES}|every (?:\w+day|day|week|month|morning|evening))))$"
)
# "House rule on our team: every migration has to be reversible"; without the work it is a rule of a house or a game.
_NAMED_RULE = re2.compile(
    r"(?i)^(?:(?:and|also|so),? )?(?:(?:a|one|our|my|the|new|other) )*(?:house|team|our) rule (?:on|in|of|for) (?:our|my|the|this) (?:team|repo|project|codebase|code): (?P<object>.+)$"
)
# Words before somebody else's statement, or before a text.
_SAYING = re2.compile(
    r"(?i)\b(?:said|says|wrote|writes|called|title|text|prompt|sentence|line|reads|answer|error|translate|rule is)\b"
)
_NEVER = re2.compile(
    rf"{_LEAD}(?:never(?: ever)?|(?:don't|do not|dont) ever|don't|do not|dont|you (?:must|should) (?:never|not)|under no circumstances|stop|I (?:don't|do not|never) want you to(?: ever)?) (?P<object>(?:{_DO}|answering|responding|using|writing|giving|including|mentioning|saying|adding|asking|suggesting|recommending|calling|apologi[sz]ing)\b.*)$"
)
# "I'd rather you didn't use emojis"; of a thing at hand it is a wish for this time.
_RATHER_NOT = re.compile(
    r"(?i)^I(?:'d| would) (?:rather|prefer (?:it )?if) you (?:didn't|did not) (?P<object>(?:use|call me|include|write|say|suggest|recommend|add|start with|end with) (?!(?:my|the|this|that|it|these|those|them|at|on|in|when|while)\b)\w.*)$"
)
_FROM_NOW_ON = re2.compile(
    rf"{_LEAD}(?:actually,? )?(?P<object>{_DO}\b.*?),? (?:from now on|going forward|in (?:the )?future|every time|by default)$"
)
_IN_LANGUAGE = re.compile(
    r"^(?:answer|respond|reply|speak|talk|write)(?: to \w+)? (?:only )?in (?P<language>[A-Z]\w+)$"
)
_NO_MORE = re2.compile(
    r"(?i)^(?:please,? )?no (?:more )?(?P<object>(?:emojis?|bullet points|markdown|tables|jargon|small talk|abbreviations|exclamation marks|pep talks?|long lists|lectures|clich[eé]s|filler|waffle|fluff|flattery|sugarcoating|idioms|capitals|headings)\b.*)$"
)
# "My name is Rebecca, but call me Bex, please."
_CALL_ME = re.compile(
    r"^(?:(?i:my name(?:'s| is)|I'm|I am) [A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)?,? )?(?i:(?:but|and|so),? )?"
    r"(?i:(?:please |just |you can ){0,2}call me|(?:everyone|people|my friends) calls? me) "
    r"(?!(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Tomorrow|Later|Back|Now)\b)(?P<object>[A-ZÀ-Þ][a-zà-ÿ]+)(?i:,? (?:please|pls|thanks|ok|okay|from now on))?$"
)
_NOT_LASTING = re2.compile(
    r"(?i)\b(?:this one|this time|that one|for now|just now|right now|yet|today|tonight|to (?:give|take|relax|breathe)|up on|give up|hold (?:on|back)|safe|in touch|going|it up|yourself|me know|about (?:it|that)|worry|forget)\b|\b(?:it|this|that|them)[.!]*$|\bit (?:sound|look|be|seem)\b"
)
_STATEMENTS = ("I ", "I'm ", "I've ", "My ", "my ", "We ", "we ", "We're ", "Our ", "our ", "i ", "i'm ", "He ", "She ")
_WISHED = (
    "I want ",
    "I need ",
    "I like ",
    "I prefer ",
    "I love ",
    "I would ",
    "I don't want ",
    "I do not want ",
    "I never want ",
    "My friends call",
)
_YOUR = re2.compile(r"(?i)\byour\b")
_YOU = re.compile(r"(?i)\byou (?P<verb>[a-z]+)\b")

_convention = Pattern(
    name="convention", type=MemoryType.PREFERENCE, predicate="wants_assistant_to", expression=".*", topic="assistant",
    tags=(CONVENTION, "procedure"), importance=0.9, max_words=30,
)  # fmt: skip
_constraint = Pattern(
    name="constraint", type=MemoryType.PREFERENCE, predicate="wants_assistant_to", expression=".*", topic="assistant",
    tags=(CONSTRAINT,), importance=0.95, max_words=30, polarity=Polarity.NEGATIVE,
)  # fmt: skip
_nickname = Pattern(
    name="call_me", type=MemoryType.FACT, predicate="nickname", expression=".*", topic="identity", importance=0.8
)


# Expression, row, the adverb of the sentence, and the verb if the wish has none.
_FORMS = (
    (_NEVER, _constraint, "never ", ""),
    (_RATHER_NOT, _constraint, "never ", ""),
    (_NO_MORE, _constraint, "never ", "use "),
    (_ALWAYS, _convention, "always ", ""),
    (_FROM_NOW_ON, _convention, "always ", ""),
    (_EVERYWHERE, _convention, "always ", ""),
    (_KEEP, _convention, "", ""),
    (_WITH_ME, _convention, "always ", ""),
    (_MANNER, _convention, "", "be "),
    (_REGULARLY, _convention, "always ", ""),
)


@dataclass(frozen=True, slots=True)
class StandingRule:
    """A standing rule, and its sentence."""

    row: Pattern
    value: str
    content: str

    @property
    def is_nickname(self) -> bool:
        """Return True for a name that the speaker wants to be called, beside which a sentence may tell more."""
        return self.row is _nickname


def rule_in(sentence: str, *, name: str, asks: bool = False) -> StandingRule | None:
    """Parse a standing wish to the assistant; None if it is for this time only, or to someone else.

    A question counts if it says that it is for good: "could you … from now on?"
    """
    said = sentence.replace("’", "'").rstrip(" .!?")
    if asks:
        wished = _REQUEST.match(said)
        return (
            _wish_in(wished.group("wish") or _wanted_style(wished.group("style")) or wished.group("polite"), name=name)
            if wished
            else None
        )
    if named := _NAMED_RULE.match(said) if "rule" in said else None:
        what = _third(named.group("object"), name)
        is_odd = third_person.addresses_someone(what, name=name) or len(what.split()) > _convention.max_words
        return (
            None
            if is_odd
            else StandingRule(_convention, what, f"{name} wants the assistant to follow the rule: {what}.")
        )
    announced, colon, rule = said.rpartition(": ")
    if colon and len(announced.split()) <= 8 and not _SAYING.search(announced):
        return _wish_in(rule, name=name)
    return _wish_in(said, name=name)


# "Don't tell her I cried": who that is, is not said.
_TO_SOMEBODY = re.compile(r"(?i)\b(?:tell|ask|show|send|give|call|remind) (?:her|him|them)\b")
# "Please use British spelling everywhere, my journal wants it"
_REASON = re.compile(
    r", (?:because |since |as |so )?(?:I|I['’]m|my|our|we|it|it['’]s|that|that['’]s|they|he|she|nobody calls|no one calls)\b[^,]*$"
)
# Behind another word, "always" tells what somebody does: "They always make me smile".
_NEXT_RULE = re.compile(
    r"(?:(?:,|,? (?:and|but)|:| -)|^(?i:in|for) [\w'-]+(?: [\w'-]+){1,3}(?<!\bwe)(?<!\bthey)(?<!\bI)(?<!\bi)(?<!\bhe)(?<!\bshe)(?<!\byou)) (?=(?:always|never|please never|please always) [a-z])|,? and (?=no [a-z]+(?:,? (?:please|pls))?[.!]*$)"
)


def _wanted_style(said: str | None) -> str:
    """Return a wish about all texts as one for good: "keep things in short lines"."""
    return f"always {said}" if said else ""


def rules_in(sentence: str, *, name: str, asks: bool = False) -> tuple[StandingRule, ...]:
    """Parse all standing wishes of a sentence: "don't use emojis, never use tables"."""
    first = rule_in(sentence, name=name, asks=asks)
    if first is None and "," in sentence and (bare := _REASON.sub("", sentence)) != sentence:
        first = rule_in(bare, name=name, asks=asks)
    if first is None:
        each = [] if asks else [rule_in(part, name=name) for part in _NEXT_RULE.split(sentence.replace("’", "'"))]
        return tuple(rule for rule in each if rule is not None)
    parts = [] if asks else _NEXT_RULE.split(sentence.replace("’", "'"))
    read = [rule for part in parts if (rule := rule_in(part, name=name)) is not None]
    return tuple(read) if len(read) == len(parts) > 1 else (first,)


# Every wish contains one of these words.
_WISHES = frozenset(
    "always never don't dont do stop no call from in going make be remember i i'd you whenever every each any anytime when "
    "please pls keep under by ever calls everywhere everything all throughout use speak write stick".split()
)


def _wish_in(said: str, *, name: str) -> StandingRule | None:
    if named := (_CALL_ME.match(said) if "call" in said.lower() else None):
        return StandingRule(_nickname, named.group("object"), f"{name} wants to be called {named.group('object')}.")
    is_statement = said.startswith(_STATEMENTS) and not said.startswith(_WISHED)
    if is_statement or _WISHES.isdisjoint(said.lower().replace(",", " ").split()):
        return None
    if _NOT_LASTING.search(said) or _TO_SOMEBODY.search(said):
        return None
    if whenever := _WHENEVER.match(said):
        when = _third(whenever.group("when"), name)
        return _rule(_convention, whenever.group("object"), name, lead="", tail=f" {when[:1].lower()}{when[1:]}")
    if both := _AND_NEVER.match(said):
        return _rule(_convention, both.group("object"), name, lead="", tail=f", never {both.group('never')}")
    for expression, row, lead, verb in _FORMS:
        if found := expression.match(said):
            return _rule(row, f"{verb}{found.group('object')}", name, lead=lead)
    return _style_in(said, name) or _wished_thing(said, name)


def _style_in(said: str, name: str) -> StandingRule | None:
    """Read "short answers please" and "write me always in easy words"."""
    if late := _LATE_ALWAYS.match(said):
        return _rule(_convention, f"{late.group('what')} {late.group('how')}", name, lead="always ")
    style = _STYLE.match(said)
    return _rule(_convention, f"use {style.group('object').lower()}", name, lead="always ") if style else None


def _wished_thing(said: str, name: str) -> StandingRule | None:
    """Read "in our code always type hints" as what the speaker always wants; a verb would make it something else."""
    found = _ALWAYS_THIS.match(said)
    if found is None:
        return None
    what = found.group("object") or found.group("plain") or ""
    first = what.partition(" ")[0]
    said_where = (found.group("where") or "").strip()
    if verbs.may_be_past(first) or first in verbs.MODALS or _SUBJECT.search(said_where):
        return None
    where = _third(f"{said_where[:1].lower()}{said_where[1:]}", name)
    if _IS_DONE.match(what):
        return _rule(_convention, what, name, lead="always ", tail=f" {where}" if where else "")
    value = f"{what} {where}".strip()
    return StandingRule(_convention, value, f"{name} always wants {value}.")


def _rule(row: Pattern, said: str, name: str, *, lead: str, tail: str = "") -> StandingRule | None:
    what = trim_object(_third(said, name), pattern=row)
    if len(what.split()) < 2 or third_person.addresses_someone(what, name=name):
        return None
    what = what[:1].lower() + what[1:]
    what = _base_form(what)
    if language := _IN_LANGUAGE.match(what) if row is _convention else None:
        row, value = row.evolved(predicate="reply_language"), language["language"]
    else:
        value = f"{what}{tail}"
    return StandingRule(row, value, f"{name} wants the assistant to {lead}{what}{tail}.")


def _base_form(what: str) -> str:
    """Turn "using emojis" (after "stop") into "use emojis"."""
    head, _, rest = what.partition(" ")
    if not head.endswith("ing"):
        return what
    stem = head[:-3]
    return f"{stem + 'e' if stem in ('us', 'writ', 'giv', 'includ', 'apologiz', 'apologis') else stem} {rest}"


def _third(text: str, name: str) -> str:
    owned: str = _YOUR.sub("the assistant's", third_person.third_person(text, name=name))
    return _YOU.sub(lambda found: f"the assistant {verbs.third_person(found['verb'])}", owned)
