"""The pattern extractor: typed rows over third-person statements, without a model."""

from apps.pipeline.extractors.patterns.extract import extract

__all__ = ["extract"]
