"""The noise floor of an embedder: the cosine that unrelated texts reach.

Embedders differ: static word vectors stay near 0, some models give any two sentences 0.7. Lower cosines are no
evidence.
"""

from statistics import fmean, stdev

import numpy as np

from apps.pipeline.core.ports import Embedder

# Every question is unrelated to every statement. Two of the questions contain no words.
_QUESTIONS = (
    "How tall is the tower in the harbour?",
    "Which database driver does the backend need?",
    "What did the doctor say about the knee?",
    "Who won the chess match on Sunday?",
    "How much does the train ticket cost?",
    "When is the parents' evening at school?",
    "brankle vossid tuppen",
    "xzqv kjhg wpmt",
)
_STATEMENTS = (
    "User likes strong black coffee.",
    "Lena plays the violin in an orchestra.",
    "User is allergic to penicillin.",
    "User planted tomatoes on the balcony.",
    "Marco's flat is being painted blue.",
    "User wants short answers in metric units.",
    "User watched a film about penguins.",
    "Priya adopted a grey cat.",
    "User bought new hiking boots.",
    "User grew up in a village by the sea.",
    "Tom is afraid of flying.",
    "User bakes sourdough bread.",
)
_DEVIATIONS = 2.5  # about 1 of 100 unrelated pairs is above it, measured with wordllama on LoCoMo


def measure_noise_floor(*, embedder: Embedder) -> float:
    """Return the mean cosine of unrelated texts plus 2.5 standard deviations, at most 0.95.

    Embeds twenty short texts. Raises whatever the embedder raises.
    """
    vectors = np.asarray(embedder.embed([*_QUESTIONS, *_STATEMENTS]), dtype=np.float64)
    cosines = (vectors[: len(_QUESTIONS)] @ vectors[len(_QUESTIONS) :].T).ravel().tolist()
    return min(0.95, max(0.0, fmean(cosines) + _DEVIATIONS * stdev(cosines)))
