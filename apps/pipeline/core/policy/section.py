"""The base class of all sections of a policy."""

from pydantic import BaseModel, ConfigDict


class PolicySection(BaseModel):
    """A frozen section of a policy; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
