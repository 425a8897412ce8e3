"""ParsedClause: one clause in the form that patterns read."""

from dataclasses import dataclass

from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.statement import Mention
from apps.pipeline.extraction.patterns import relatives
from apps.pipeline.lexicon import verbs


@dataclass(frozen=True, slots=True)
class ParsedClause:
    """A finite clause in the third person with a singular affirmative verb; other fields describe its original form."""

    subject: Mention
    phrase: str  # "lives in Munich"
    about_speaker: bool = True
    is_plural: bool = False
    is_owned: bool = False  # about something of the speaker: "our dog", "my sister Lena"
    adverbs: tuple[str, ...] = ()
    is_negated: bool = False
    is_over: bool = False  # "no longer", "anymore"
    is_past_denial: bool = False  # "did not"
    is_after_all: bool = False  # "not allergic after all": the former belief is wrong
    is_hedged: bool = False
    relation: relatives.Kinship | None = None

    @classmethod
    def about(cls, speaker: str) -> "ParsedClause":
        """Return a clause about the speaker."""
        return cls(subject=Mention(text=speaker, type=EntityType.PERSON, is_speaker=True), phrase="")

    @property
    def verb(self) -> str:
        """Return the finite verb."""
        return self.phrase.partition(" ")[0]

    def sentence(self, phrase: str = "") -> str:
        """Write the sentence of the clause, with `phrase` instead of its own."""
        return f"{self.subject.text} {self.predicate_text(phrase or self.phrase)}."

    def predicate_text(self, phrase: str) -> str:
        """Put negation, number and adverbs back into an affirmative singular phrase."""
        if self.is_after_all:
            phrase = f"{phrase} after all"
        if self.is_over:
            phrase = _over(phrase)
        elif self.is_negated and "never" not in self.adverbs:
            phrase = verbs.negative(phrase, past=self.is_past_denial)
        elif self.adverbs:
            phrase = _with_adverbs(phrase, self.adverbs)
        if not self.is_plural:
            return phrase
        head, _, rest = phrase.partition(" ")
        return f"{verbs.plural(head)} {rest}".strip()


def _with_adverbs(phrase: str, adverbs: tuple[str, ...]) -> str:
    head, _, rest = phrase.partition(" ")
    if head in ("is", "was", "has", "will", "can", "would"):
        return " ".join((head, *adverbs, rest))
    return " ".join((*adverbs, phrase))


def _over(phrase: str) -> str:
    head, _, rest = phrase.partition(" ")
    return f"{head} no longer {rest}" if head in ("is", "has", "can") else f"no longer {phrase}"
