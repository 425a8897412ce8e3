"""Train the gate of the plain extractor from the gold lists."""

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand

from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.linear_model import LinearModel, to_json
from apps.pipeline.extraction.plain.gate import WEIGHTS, features_of
from apps.pipeline.extraction.plain.notes import sentence_scores
from apps.pipeline.extraction.plain.own_sentences import own_sentences, question_before
from benchmarks.gate_training import (
    LabelledSentence,
    ScoredMessage,
    figures_at,
    short_sentences,
    telling_sentences,
    train,
)
from benchmarks.truth import gold

HELD_OUT = frozenset({"blind_11", "blind_12", "blind_13"})  # the halves of authors who wrote nothing of the rest
_THRESHOLDS = (0.5, 0.7)


class Command(BaseCommand):
    """Train the gate from the gold lists and short sentences; print its figures on authors of neither."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file to write."""
        parser.add_argument("--to", type=Path, default=WEIGHTS, help="file for the weights")

    def handle(self, *args: Any, **options: Any) -> None:
        """Train, write the weights, and measure them."""
        conversations = (*gold.load(), *gold.load(gold.WITHOUT_ANSWERS))
        messages = [message for each in conversations if each.half not in HELD_OUT for message in _messages(each)]
        labelled = [sentence for message in messages for sentence in message.labelled()]
        labelled += short_sentences()
        gate = train([features_of(each.text, each.question) for each in labelled], [each.is_kept for each in labelled])
        options["to"].write_text(to_json({"gate": gate}), encoding="utf-8")
        self.stdout.write(f"{len(gate.weights)} weights from {len(messages)} messages: {options['to']}")
        held_out = [each for each in conversations if each.half in HELD_OUT]
        scored = [message.scored(gate) for each in held_out for message in _messages(each)]
        for threshold in _THRESHOLDS:
            found = figures_at(threshold, scored)
            self.stdout.write(
                f"at {threshold}: {found.kept} of {found.messages} messages of held-out authors kept,"
                f" precision {found.precision:.3f}, required facts covered {found.covered:.3f}"
            )


@dataclass(frozen=True, slots=True)
class _Message:
    """A user's message with the facts that it tells."""

    sentences: tuple[str, ...]
    question: str
    facts: tuple[gold.Fact, ...]
    repeats: bool  # it tells a fact again
    conversation: str

    def labelled(self) -> Iterator[LabelledSentence]:
        """Yield its sentences, of which the first answers the question."""
        telling = telling_sentences(self.sentences, [fact.text for fact in self.facts])
        for place, sentence in enumerate(self.sentences):
            yield LabelledSentence(sentence, self.question if place == 0 else "", place in telling)

    def scored(self, gate: LinearModel) -> ScoredMessage:
        """Return its score by the rules of notes."""
        required = frozenset(f"{self.conversation} {fact.id}" for fact in self.facts if not fact.optional)

        def scorer(sentence: str, asked: str = "") -> float:
            return gate.probability(features_of(sentence, asked))

        scores = sentence_scores(self.sentences, question=self.question, scorer=scorer)
        return ScoredMessage(max(scores, default=0.0), bool(self.facts) or self.repeats, required)


def _messages(conversation: gold.GoldConversation) -> Iterator[_Message]:
    most = ExtractionPolicy().max_turn_characters
    session = ""
    before: list[SourceTurn] = []
    for place, said in enumerate(conversation.turns):
        if session != (session := said.id.partition(".")[0]):
            before = []
        turn = SourceTurn(
            id=UUID(int=place),
            role=Role(said.role),
            content=said.text,
            speaker=said.speaker,
            position=place,
            received_at=said.said_at,
        )
        if turn.role is Role.USER:
            yield _Message(
                sentences=own_sentences(turn, before=before, most=most),
                question=question_before(turn, before=before),
                facts=tuple(fact for fact in conversation.facts.values() if said.id in fact.said),
                repeats=any(said.id in fact.repeated for fact in conversation.facts.values()),
                conversation=conversation.name,
            )
        before.append(turn)
