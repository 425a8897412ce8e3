"""Audit a store with the embedder and the model of this server."""

from itertools import islice

from django.utils import timezone

from apps.common.errors import Unfit
from apps.imports.audit import Audit, audit
from apps.imports.readers.stores import store_entries
from apps.pipeline.core.policy import DedupePolicy
from apps.providers.registry import PricedModels, embedder, has_model


def audit_store(content: bytes, *, most: int | None = None, asks_model: bool = False) -> Audit:
    """Say what is worth keeping of the first `most` entries of a file. Raises Unfit without a model that is wanted."""
    if asks_model and not has_model():
        raise Unfit("no model is configured: set MODEL")
    near = embedder()
    return audit(
        islice(store_entries(content), most),
        embedder=near,
        band=DedupePolicy().band(embedder=near.name),
        now=timezone.now(),
        judge=PricedModels() if asks_model else None,
    )
