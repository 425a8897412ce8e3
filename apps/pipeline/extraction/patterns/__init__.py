"""The pattern extractor: typed rows over third-person statements, without a model."""

from apps.pipeline.extraction.patterns.extractor import extract

__all__ = ["extract"]
