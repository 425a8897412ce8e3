"""What decides beside a policy: model, embedder and prompts of the server."""

from typing import Any

from django.conf import settings

from apps.pipeline.prompts.versions import prompt_versions


def made_with() -> dict[str, Any]:
    """Return the names of model and embedder and the versions of all prompts, as the server has them now."""
    return {"model": settings.MODEL, "embedder": settings.EMBEDDER, "prompts": prompt_versions()}
