"""Somebody whom a statement of health is about."""

from dataclasses import dataclass

from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.statement import Mention


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody whom a statement of health is about."""

    mention: Mention
    is_speaker: bool = False
    pronoun: str = ""  # that has meant them: "she" is nobody whom "he" meant

    @property
    def is_known(self) -> bool:
        """Return False for somebody whom a clause only mentions: "a patient"."""
        return bool(self.mention.text)

    @property
    def is_only_a_pronoun(self) -> bool:
        """Return True for "she" or "he" of whom nobody has said who that is."""
        return self.mention.text in ("She", "He")

    @property
    def text(self) -> str:
        """Return how sentences call them."""
        return self.mention.text


STRANGER = Owner(Mention(text=""))  # somebody whom a memory could not name
PLACE = Owner(Mention(text="", type=EntityType.PLACE))  # a name before a verb, behind "at" or "in"


def speaker_as_owner(speaker: Mention) -> Owner:
    """Return the speaker."""
    return Owner(mention=speaker, is_speaker=True)
