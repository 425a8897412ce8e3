"""Say which entries of a memory store are worth keeping, and what is wrong with the others; nothing is stored.

mem0 (its export, and the answers of its REST API), Zep (facts), Letta (passages and blocks), ChatGPT's saved memories
as copied text, JSON lines, and any list of texts.
"""

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from django.utils import timezone

from apps.common.errors import Unfit
from apps.imports.readers.entries import MOST_CONTENT, ImportProblem, end_of_day, moment_of, text_of
from apps.imports.readers.files import json_elements
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import DedupePolicy, PreFilterPolicy, SimilarityBand
from apps.pipeline.core.ports import Embedder, Model, Vector
from apps.pipeline.deduplication.guard import Difference, content_words, differences, plain_words
from apps.pipeline.prefilter.default_rules import default_rules
from apps.pipeline.prefilter.folding import fold
from apps.pipeline.prefilter.matcher import rule_books
from apps.pipeline.prefilter.text_shape import is_code_only, is_emoji_only, is_payload, letters
from apps.pipeline.prompts import memory_pairs
from apps.pipeline.prompts.llm_judge import AskedJudge, ask_judge
from apps.pipeline.prompts.memory_pairs import PairVerdict
from apps.pipeline.provenance.orders import looks_injected, orders_agent
from apps.pipeline.redaction.redact import holds_secret
from apps.pipeline.resolution.dates import around, date_with_year
from apps.providers.registry import PricedModels, embedder, has_model

_LISTS = ("results", "memories", "facts", "edges", "passages", "archival_memory", "blocks", "data", "items", "entries")
_TEXTS = ("memory", "fact", "text", "content", "value", "data", "sentence")
_SAID = ("valid_at", "created_at", "said_at", "timestamp", "updated_at")
_ENDS = ("invalid_at", "expired_at", "valid_until", "expires_at")


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """One entry of a store; `fields` is what the file says of it."""

    at: str
    text: str
    user_id: str = ""
    said_at: datetime | None = None
    ends_at: datetime | None = None
    fields: Any = None


def store_entries(content: bytes) -> Iterator[StoreEntry | ImportProblem]:
    """Yield the entries of a file in its order, and a problem for each place that is none."""
    text = content.decode("utf-8-sig", errors="replace")
    if "\x00" in text:
        yield ImportProblem("the file", "is not text")
        return
    first, _, rest = text.strip().partition("\n")
    is_lines = rest.lstrip().startswith("{") and isinstance(_decoded(first), dict)  # one JSON object a line
    if text.lstrip()[:1] in ("[", "{") and not is_lines:
        for element in json_elements(content, kind="entry", lists=_LISTS):
            yield element if isinstance(element, ImportProblem) else _entry(element[1], at=element[0])
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield _entry(_decoded(line.strip()), at=f"line {number}")


def _decoded(line: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(line)
    return line.lstrip("-*• \t")


def _entry(raw: Any, *, at: str) -> StoreEntry | ImportProblem:
    if isinstance(raw, str):
        return StoreEntry(at, raw[:MOST_CONTENT].strip(), fields=raw)
    fields: dict[str, Any] = raw if isinstance(raw, dict) else {}
    text = next((fields[name] for name in _TEXTS if isinstance(fields.get(name), str)), "").strip()
    if not text:
        return ImportProblem(at, "holds no text")
    ends = next((moment for name in _ENDS if (moment := moment_of(fields.get(name)))), None)
    return StoreEntry(
        at,
        text[:MOST_CONTENT],
        user_id=text_of(fields.get("user_id") or fields.get("userId")),
        said_at=next((moment for name in _SAID if (moment := moment_of(fields.get(name)))), None),
        ends_at=ends or end_of_day(fields.get("expiration_date")),
        fields=fields,
    )


SAYS_SAME = "says the same as another entry"
SAYS_OPPOSITE = "says the opposite of another entry"
REPLACED = "has another value in a later entry"
MOST_ASKED = 400  # pairs that a model is asked about, for each end user
ASKED_AT_ONCE = 20
NEAREST = 8  # entries that each entry is compared with
ROWS = 512  # of the matrix that are multiplied at once
_OF_THE_USER = re.compile(r"(?i)^(?:the )?user\b")
_PLANNED = re.compile(r"(?i)\b(?:will|plans?|planning|is going to|intends?|upcoming|scheduled)\b")
_BEGINS = re.compile(r"(?i)\b(?:from|since|as of|starting|beginning)\b")  # what goes on after its day
# Statements of which one holds at a time: a later one with another value replaces the earlier one.
_ONE_VALUE = re.compile(
    r"(?i)^(?P<of>.{0,60}?\b(?:(?:lives?|is based|resides) (?:in|at)|works? (?:at|for|as)|is (?:called|married to)"
    r"|name is|(?:job|role|birthday|email|address|weight|height) is|weighs|is(?= \d+ years old)))\s+(?P<value>[^.]+)"
)


class Verdict(StrEnum):
    """What an entry is."""

    KEPT = "kept"
    JUNK = "junk"
    SECRET = "secret"
    INSTRUCTION = "instruction"
    REPEATED = "repeated"
    OUTDATED = "outdated"
    CONTRADICTED = "contradicted"  # kept: which of the two holds is for a person to say


KEPT = frozenset({Verdict.KEPT, Verdict.CONTRADICTED})
# What the older entry of a pair is by the verdict of a model.
_OF_PAIR = {
    PairVerdict.SAME: (Verdict.REPEATED, SAYS_SAME),
    PairVerdict.REPLACES: (Verdict.OUTDATED, REPLACED),
    PairVerdict.CONTRADICTS: (Verdict.CONTRADICTED, SAYS_OPPOSITE),
}


@dataclass(frozen=True, slots=True)
class Audited:
    """An entry with its verdict, the reason in words, and the place of the entry that it repeats or contradicts."""

    entry: StoreEntry
    verdict: Verdict
    reason: str = ""
    other: str = ""


@dataclass(slots=True)
class Audit:
    """What became of all entries of a file, in its order."""

    audited: list[Audited] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """Return the number of entries by verdict, the most frequent first."""
        return dict(Counter(each.verdict for each in self.audited).most_common())

    @property
    def reasons(self) -> Mapping[tuple[Verdict, str], int]:
        """Return the number of entries that are not kept by verdict and reason, the most frequent first."""
        left = (each for each in self.audited if each.verdict is not Verdict.KEPT)
        return dict(Counter((each.verdict, each.reason) for each in left).most_common())

    def examples(self, verdict: Verdict, *, reason: str = "", most: int) -> list[Audited]:
        """Return some entries of a verdict, and of a reason if one is given, of different words."""
        kind = [each for each in self.audited if each.verdict is verdict and (not reason or each.reason == reason)]
        found = {each.entry.text: each for each in kind}
        return list(found.values())[:most]

    def kept(self) -> list[StoreEntry]:
        """Return what is worth importing."""
        return [each.entry for each in self.audited if each.verdict in KEPT]


def audit_store(content: bytes, *, most: int | None = None, asks_model: bool = False) -> Audit:
    """Say what is worth keeping of the first `most` entries of a file. Raises Unfit without a model that is wanted."""
    if asks_model and not has_model():
        raise Unfit("no model is configured: set MODEL")
    near = embedder()
    band = DedupePolicy().band(embedder=near.name)
    judge = PricedModels() if asks_model else None
    return audit(islice(store_entries(content), most), embedder=near, band=band, now=timezone.now(), judge=judge)


def audit(
    entries: Iterable[StoreEntry | ImportProblem],
    *,
    embedder: Embedder,
    band: SimilarityBand,
    now: datetime,
    judge: Model | None = None,
) -> Audit:
    """Judge each entry by itself, then those that remain against the others of their user.

    A judge is asked about pairs of nearly the same meaning that the rules leave open.
    """
    found = Audit()
    by_user: defaultdict[str, list[int]] = defaultdict(list)
    for each in entries:
        if isinstance(each, ImportProblem):
            found.problems.append(each)
            continue
        verdict, reason = _judged_alone(each, now=now)
        if verdict is Verdict.KEPT:
            by_user[each.user_id].append(len(found.audited))
        found.audited.append(Audited(each, verdict, reason))
    for places in by_user.values():
        mine = [found.audited[place].entry for place in places]
        settled = _judged_together(mine, embedder=embedder, band=band, judge=judge, now=now)
        for index, judged in settled.items():
            found.audited[places[index]] = judged
    return found


def _judged_alone(entry: StoreEntry, *, now: datetime) -> tuple[Verdict, str]:
    """Return the verdict on an entry by its own words and times; the first of these checks decides."""
    text = entry.text
    if holds_secret(text):
        return Verdict.SECRET, "holds a secret or a personal number"
    if looks_injected(text) or (orders_agent(text) and not _OF_THE_USER.match(text)):
        return Verdict.INSTRUCTION, "tells agents what to do, and nobody knows who said it"
    if reason := _junk(text):
        return Verdict.JUNK, reason
    if entry.ends_at and entry.ends_at <= now:
        return Verdict.OUTDATED, "has ended, as the store itself says"
    day = date_with_year(text) if _PLANNED.search(text) and not _BEGINS.search(text) else None
    if day and around(day.begins, day.precision, shift=1).begins <= now.date():
        return Verdict.OUTDATED, "is a plan for a day that has passed"
    return Verdict.KEPT, ""


def _junk(text: str) -> str:
    """Return why an entry says nothing of anybody, or ""."""
    policy, kinds = _rules_of_junk()
    if is_payload(text) or is_code_only(text):
        return "is code or data"
    if is_emoji_only(text) or letters(text, enough=policy.min_letters) < policy.min_letters:
        return "has no words"
    if rule_books(policy)[Role.USER, False].first_hit(fold(text, limit=policy.scan_characters)):
        return "is small talk"
    return next((says for says, pattern in kinds if pattern.search(text)), "")


@cache
def _rules_of_junk() -> tuple[PreFilterPolicy, tuple[tuple[str, re.Pattern[str]], ...]]:
    """Return the policy that finds small talk, and what entries of each other kind say of nobody."""
    read = tomllib.loads(Path(__file__).with_name("audit_rules.toml").read_text(encoding="utf-8"))
    kinds = ((kind["says"], re.compile("|".join(kind["patterns"]), re.IGNORECASE)) for kind in read["kinds"])
    return PreFilterPolicy(rules=default_rules()), tuple(kinds)


def _judged_together(
    entries: Sequence[StoreEntry], *, embedder: Embedder, band: SimilarityBand, judge: Model | None, now: datetime
) -> Mapping[int, Audited]:
    """Return what repeats, contradicts or outdates another entry of the same user, by its place."""
    settled: dict[int, Audited] = {}

    def settle(found: Iterable[tuple[int, Verdict, str, int]]) -> None:
        for place, verdict, reason, other in found:
            settled.setdefault(place, Audited(entries[place], verdict, reason, entries[other].at))

    first: dict[tuple[str, ...], int] = {}  # the place of each text by its words
    twins = ((place, first.setdefault(plain_words(entry.text), place)) for place, entry in enumerate(entries))
    settle((place, Verdict.REPEATED, SAYS_SAME, twin) for place, twin in twins if twin != place)
    pairs: list[tuple[int, int]] = []  # an older and a newer entry
    left = [place for place in range(len(entries)) if place not in settled]
    for one, two in _near(entries, left, embedder=embedder, band=band):
        if one not in settled and two not in settled:
            pairs.append((one, two))
            settle(_compared(entries, one, two))
    settle((one, Verdict.OUTDATED, REPLACED, two) for one, two in _replaced(entries, without=settled))
    left_open = [(one, two) for one, two in pairs if one not in settled and two not in settled]
    asked = _asked(entries, left_open[:MOST_ASKED], judge=judge, now=now)
    settle((one, *_OF_PAIR[said], two) for one, two, said in asked)
    return settled


def _asked(
    entries: Sequence[StoreEntry], pairs: Sequence[tuple[int, int]], *, judge: Model | None, now: datetime
) -> Iterator[tuple[int, int, PairVerdict]]:
    """Yield the pairs on which a model has a verdict; one that does not answer leaves them open."""
    if judge is None:
        return
    for begin in range(0, len(pairs), ASKED_AT_ONCE):
        some = pairs[begin : begin + ASKED_AT_ONCE]
        shown = [
            memory_pairs.StatementPair(
                earlier=entries[one].text,
                earlier_said=entries[one].said_at or now,
                later=entries[two].text,
                later_said=entries[two].said_at or now,
            )
            for one, two in some
        ]
        request = memory_pairs.render(pairs=shown)
        verdicts, _ = ask_judge(request, count=len(some), judge=AskedJudge(judge), words=PairVerdict)
        for (one, two), said in zip(some, verdicts, strict=True):
            if said in _OF_PAIR:
                yield one, two, PairVerdict(said)
            if said == PairVerdict.CONTRADICTS:  # so each contradicts the other
                yield two, one, PairVerdict(said)


def _near(
    entries: Sequence[StoreEntry], places: Sequence[int], *, embedder: Embedder, band: SimilarityBand
) -> Iterator[tuple[int, int]]:
    """Yield pairs of entries that may say the same by their cosine, the nearest of each entry, the older one first."""
    vectors: Sequence[Vector] = embedder.embed([entries[place].text for place in places]) if places else ()
    matrix = np.asarray(vectors, dtype=np.float32)
    for begin in range(0, len(places), ROWS):
        cosines = matrix[begin : begin + ROWS] @ matrix.T
        for row, values in enumerate(cosines, start=begin):
            values[row:] = -1  # each pair once
            nearest = np.argpartition(values, -NEAREST)[-NEAREST:] if len(values) > NEAREST else np.arange(len(values))
            for other in nearest[values[nearest] >= band.unsure]:
                one, two = sorted((places[row], places[other]), key=lambda place: _age(entries[place], place))
                yield one, two


def _age(entry: StoreEntry, place: int) -> tuple[float, int]:
    return (entry.said_at.timestamp() if entry.said_at else 0.0, place)


def _compared(entries: Sequence[StoreEntry], one: int, two: int) -> Iterator[tuple[int, Verdict, str, int]]:
    """Yield what an older and a newer entry of nearly the same meaning become."""
    first, second = content_words(entries[one].text), content_words(entries[two].text)
    found = differences(entries[one].text, entries[two].text)
    if not found and (first <= second or second <= first):
        less, more = (two, one) if second < first else (one, two)
        yield less, Verdict.REPEATED, SAYS_SAME if first == second else "says less than another entry", more
    elif found == {Difference.NEGATION} and first and len(first & second) >= len(first | second) / 2:
        for place, other in ((one, two), (two, one)):
            yield place, Verdict.CONTRADICTED, SAYS_OPPOSITE, other


def _replaced(entries: Sequence[StoreEntry], *, without: Mapping[int, Audited]) -> Iterator[tuple[int, int]]:
    """Yield each entry whose value is another one in a later entry, with that."""
    latest: dict[str, tuple[int, Sequence[str]]] = {}
    for place in sorted(range(len(entries)), key=lambda place: _age(entries[place], place)):
        match = _ONE_VALUE.match(entries[place].text)
        if match is None or place in without or entries[place].said_at is None:
            continue
        slot, value = match["of"].casefold(), plain_words(match["value"])[:1]
        earlier, former = latest.get(slot, (place, value))
        if former != value:
            yield earlier, place
        latest[slot] = place, value


def importable(entries: Sequence[StoreEntry]) -> Mapping[str, Any]:
    """Return entries in the form of mem0, which the import reads."""
    rows = []
    for number, entry in enumerate(entries, start=1):
        given = entry.fields if isinstance(entry.fields, dict) else {}
        row = {
            "id": str(given.get("id") or number),
            "memory": entry.text,
            "user_id": entry.user_id or None,
            "created_at": entry.said_at.isoformat() if entry.said_at else None,
            "expiration_date": entry.ends_at.isoformat() if entry.ends_at else None,
        }
        row |= {name: given.get(name) or None for name in ("metadata", "categories", "agent_id", "app_id", "run_id")}
        rows.append({name: value for name, value in row.items() if value is not None})
    return {"results": rows}
