"""Stage 1: rules and limits of the pre-filter."""

from pydantic import Field, field_validator

from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.policy.section import PolicySection

_SPEAKERS = frozenset({Role.USER, Role.ASSISTANT})
MOST_REPEAT_WINDOW = 10  # the number of earlier turns that intake reads


class Rule(PolicySection):
    """A pre-filter rule: turns of `roles` that match `pattern` (RE2) are dropped for `reason`.

    A rule with `phrase` is an interjection ("ok", "thank you"): it drops only turns that consist of such phrases. Any
    other pattern may match anywhere unless anchored.
    """

    name: str = Field(pattern=r"^[a-z0-9_]{1,64}$")
    reason: Reason
    pattern: str = Field(min_length=1, max_length=2_000)
    phrase: bool = False
    roles: tuple[Role, ...] = (Role.USER,)
    languages: tuple[str, ...] = ()
    enabled: bool = True
    order: int = 100
    # The rule doesn't apply to answers ("yes", "sure") to a question in the turn before.
    unless_answering: bool = False


class PreFilterPolicy(PolicySection):
    """Limits of stage 1."""

    rules: tuple[Rule, ...] = ()
    trusted_roles: tuple[Role, ...] = (Role.USER,)
    min_letters: int = Field(default=2, ge=0, description="turns with fewer letters or digits are dropped as too_short")
    repeat_window: int = Field(
        default=6, ge=0, le=MOST_REPEAT_WINDOW, description="number of previous turns that are checked for a repeat"
    )
    scan_characters: int = Field(
        default=4_000, ge=100, le=20_000, description="rules only see this many characters of a turn"
    )

    @field_validator("trusted_roles")
    @classmethod
    def _check_roles(cls, roles: tuple[Role, ...]) -> tuple[Role, ...]:
        """Refuse roles other than speakers: the output of tools and system prompts are no statements of the user."""
        if not set(roles) <= _SPEAKERS:
            raise ValueError("tool and system can't be trusted as speakers")
        return roles

    def __hash__(self) -> int:
        """Hash a few fields only, because compiled rules are looked up by policy for each request."""
        return hash((len(self.rules), self.min_letters, self.repeat_window, self.scan_characters))
