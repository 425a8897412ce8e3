"""Say which entries of a memory store are worth keeping, and what is wrong with the others; nothing is stored.

mem0 (its export, and the answers of its REST API), Zep (facts), Letta (passages and blocks), ChatGPT's saved memories
as copied text, JSON lines, and any list of texts.
"""

import json
import re
import tomllib
from collections import defaultdict
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
from apps.imports.readers.entries import (
    MOST_CONTENT,
    Element,
    ImportProblem,
    end_of_day,
    fields_or_none,
    moment_of,
    text_of,
)
from apps.imports.readers.files import json_elements
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import DedupePolicy, PreFilterPolicy
from apps.pipeline.core.ports import Model
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


class Verdict(StrEnum):
    """What an entry is."""

    KEPT = "kept"
    JUNK = "junk"
    SECRET = "secret"
    INSTRUCTION = "instruction"
    REPEATED = "repeated"
    OUTDATED = "outdated"
    CONTRADICTED = "contradicted"  # kept: which of the two holds is for a person to say


@dataclass(slots=True)
class StoreEntry:
    """One entry of a store, of which the file says `fields`, with the verdict on it and the reason in words."""

    at: str
    text: str
    user_id: str = ""
    said_at: datetime | None = None
    ends_at: datetime | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    verdict: Verdict = Verdict.KEPT
    reason: str = ""
    other: str = ""  # the place of the entry that it repeats or contradicts

    @property
    def is_open(self) -> bool:
        """Return True as long as nothing speaks against it."""
        return self.verdict is Verdict.KEPT

    def settle(self, verdict: Verdict, reason: str, other: "StoreEntry | None" = None) -> None:
        """Note what it is; the first verdict stays."""
        if self.is_open:
            self.verdict, self.reason, self.other = verdict, reason, other.at if other else ""


def store_entries(content: bytes) -> Iterator[StoreEntry | ImportProblem]:
    """Yield the entries of a file in its order, and a problem for each place that is none."""
    text = content.decode("utf-8-sig", errors="replace")
    if "\x00" in text:
        yield ImportProblem("the file", "is not text")
        return
    lines = ((f"line {number}", line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    first, _, rest = text.strip().partition("\n")
    is_lines = rest.lstrip().startswith("{") and isinstance(_decoded(first), dict)  # one JSON object a line
    elements: Iterator[Element] = ((at, _decoded(line)) for at, line in lines if line)
    if text.lstrip()[:1] in ("[", "{") and not is_lines:
        elements = json_elements(content, kind="entry", lists=_LISTS)
    try:
        for at, raw in elements:
            yield _entry(raw, at=at)
    except ImportProblem as problem:
        yield problem


def _decoded(line: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(line)
    return line.lstrip("-*• \t")


def _entry(raw: Any, *, at: str) -> StoreEntry | ImportProblem:
    if isinstance(raw, str):
        return StoreEntry(at, raw[:MOST_CONTENT].strip())
    fields = fields_or_none(raw)
    text = next((fields[name] for name in _TEXTS if isinstance(fields.get(name), str)), "").strip()
    if not text:
        return ImportProblem(at, "holds no text")
    return StoreEntry(
        at,
        text[:MOST_CONTENT],
        user_id=text_of(fields.get("user_id") or fields.get("userId")),
        said_at=_first_moment(fields, _SAID),
        ends_at=_first_moment(fields, _ENDS) or end_of_day(fields.get("expiration_date")),
        fields=fields,
    )


def _first_moment(fields: Mapping[str, Any], names: Iterable[str]) -> datetime | None:
    return next((moment for name in names if (moment := moment_of(fields.get(name)))), None)


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


KEPT = frozenset({Verdict.KEPT, Verdict.CONTRADICTED})
# What the older entry of a pair is by the verdict of a model.
_OF_PAIR = {
    PairVerdict.SAME: (Verdict.REPEATED, SAYS_SAME),
    PairVerdict.REPLACES: (Verdict.OUTDATED, REPLACED),
    PairVerdict.CONTRADICTS: (Verdict.CONTRADICTED, SAYS_OPPOSITE),
}


@dataclass(slots=True)
class Audit:
    """All entries of a file with their verdicts, in its order."""

    audited: list[StoreEntry] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)

    def faults(self, *, most: int) -> list[dict[str, Any]]:
        """Return what is wrong with entries: verdict, reason, count, and some of different words; no secrets."""
        alike: defaultdict[tuple[Verdict, str], list[StoreEntry]] = defaultdict(list)
        for each in self.audited:
            if not each.is_open:
                alike[each.verdict, each.reason].append(each)
        found = []
        for (verdict, reason), entries in sorted(alike.items(), key=lambda kind: -len(kind[1])):
            shown = [] if verdict is Verdict.SECRET else [*{each.text: each for each in entries}.values()][:most]
            found.append({"verdict": verdict, "reason": reason, "count": len(entries), "entries": shown})
        return found

    def kept(self) -> list[StoreEntry]:
        """Return what is worth importing."""
        return [each for each in self.audited if each.verdict in KEPT]


def audit_store(content: bytes, *, most: int | None = None, asks_model: bool = False) -> Audit:
    """Say what is worth keeping of the first `most` entries of a file. Raises Unfit without a model that is wanted."""
    if asks_model and not has_model():
        raise Unfit("no model is configured: set MODEL")
    judge = PricedModels() if asks_model else None
    return audit(islice(store_entries(content), most), now=timezone.now(), judge=judge)


def audit(entries: Iterable[StoreEntry | ImportProblem], *, now: datetime, judge: Model | None = None) -> Audit:
    """Judge each entry by itself, then those that remain against the others of their user.

    A judge is asked about pairs of nearly the same meaning that the rules leave open.
    """
    found = Audit()
    by_user: defaultdict[str, list[StoreEntry]] = defaultdict(list)
    for each in entries:
        if isinstance(each, ImportProblem):
            found.problems.append(each)
            continue
        found.audited.append(each)
        each.settle(*_judged_alone(each, now=now))
        if each.is_open:
            by_user[each.user_id].append(each)
    for mine in by_user.values():
        _judge_together(mine, judge=judge, now=now)
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


def _judge_together(entries: Sequence[StoreEntry], *, judge: Model | None, now: datetime) -> None:
    """Settle what repeats, contradicts or outdates another entry of the same user."""
    first: dict[tuple[str, ...], StoreEntry] = {}
    for entry in entries:
        twin = first.setdefault(plain_words(entry.text), entry)
        if twin is not entry:
            entry.settle(Verdict.REPEATED, SAYS_SAME, twin)
    pairs: list[tuple[StoreEntry, StoreEntry]] = []  # an older and a newer entry
    for one, two in _near([entry for entry in entries if entry.is_open]):
        if one.is_open and two.is_open:
            pairs.append((one, two))
            _compare(one, two)
    _settle_replaced(entries)
    left_open = [(one, two) for one, two in pairs if one.is_open and two.is_open]
    if judge:
        _ask(left_open[:MOST_ASKED], judge=judge, now=now)


def _ask(pairs: Sequence[tuple[StoreEntry, StoreEntry]], *, judge: Model, now: datetime) -> None:
    """Settle the pairs on which a model has a verdict; one that does not answer leaves them open."""
    for begin in range(0, len(pairs), ASKED_AT_ONCE):
        some = pairs[begin : begin + ASKED_AT_ONCE]
        shown = [
            memory_pairs.StatementPair(
                earlier=one.text, earlier_said=one.said_at or now, later=two.text, later_said=two.said_at or now
            )
            for one, two in some
        ]
        request = memory_pairs.render(pairs=shown)
        verdicts, _ = ask_judge(request, count=len(some), judge=AskedJudge(judge), words=PairVerdict)
        for (one, two), said in zip(some, verdicts, strict=True):
            if said in _OF_PAIR:
                one.settle(*_OF_PAIR[PairVerdict(said)], two)
            if said == PairVerdict.CONTRADICTS:  # so each contradicts the other
                two.settle(*_OF_PAIR[PairVerdict(said)], one)


def _near(entries: Sequence[StoreEntry]) -> Iterator[tuple[StoreEntry, StoreEntry]]:
    """Yield pairs of entries that may say the same by their cosine, the nearest of each entry, the older one first."""
    near = embedder()
    least = DedupePolicy().band(embedder=near.name).unsure
    matrix = np.asarray(near.embed([entry.text for entry in entries]) if entries else (), dtype=np.float32)
    for begin in range(0, len(entries), ROWS):
        cosines = matrix[begin : begin + ROWS] @ matrix.T
        for row, values in enumerate(cosines, start=begin):
            values[row:] = -1  # each pair once
            nearest = np.argpartition(values, -NEAREST)[-NEAREST:] if len(values) > NEAREST else np.arange(len(values))
            for other in nearest[values[nearest] >= least]:
                one, two = sorted((entries[other], entries[row]), key=_said)
                yield one, two


def _said(entry: StoreEntry) -> float:
    """Return when an entry was said, to sort by; of those of one time the first of the file stays the older one."""
    return entry.said_at.timestamp() if entry.said_at else 0.0


def _compare(one: StoreEntry, two: StoreEntry) -> None:
    """Settle an older and a newer entry of nearly the same meaning where their words decide."""
    first, second = content_words(one.text), content_words(two.text)
    found = differences(one.text, two.text)
    if not found and (first <= second or second <= first):
        less, more = (two, one) if second < first else (one, two)
        less.settle(Verdict.REPEATED, SAYS_SAME if first == second else "says less than another entry", more)
    elif found == {Difference.NEGATION} and first and len(first & second) >= len(first | second) / 2:
        one.settle(Verdict.CONTRADICTED, SAYS_OPPOSITE, two)
        two.settle(Verdict.CONTRADICTED, SAYS_OPPOSITE, one)


def _settle_replaced(entries: Sequence[StoreEntry]) -> None:
    """Settle each entry whose value is another one in a later entry."""
    latest: dict[str, tuple[StoreEntry, Sequence[str]]] = {}
    for entry in sorted(entries, key=_said):
        match = _ONE_VALUE.match(entry.text)
        if match is None or not entry.is_open or entry.said_at is None:
            continue
        slot, value = match["of"].casefold(), plain_words(match["value"])[:1]
        earlier, former = latest.get(slot, (entry, value))
        if former != value:
            earlier.settle(Verdict.OUTDATED, REPLACED, entry)
        latest[slot] = entry, value


def importable(entries: Sequence[StoreEntry]) -> Mapping[str, Any]:
    """Return entries in the form of mem0, which the import reads."""
    rows = []
    for number, entry in enumerate(entries, start=1):
        row = {
            "id": str(entry.fields.get("id") or number),
            "memory": entry.text,
            "user_id": entry.user_id,
            "created_at": entry.said_at.isoformat() if entry.said_at else None,
            "expiration_date": entry.ends_at.isoformat() if entry.ends_at else None,
        }
        row |= {name: entry.fields.get(name) for name in ("metadata", "categories", "agent_id", "app_id", "run_id")}
        rows.append({name: value for name, value in row.items() if value})
    return {"results": rows}
