"""English function words and other words with little meaning."""

from apps.pipeline.lexicon.tables import read_table

_TABLE = {name: frozenset(words.split()) for name, words in read_table("function_words").items()}

SMALL = _TABLE["small"]  # without a meaning of their own
FRAME = _TABLE["light"] | _TABLE["common"]  # so frequent that sharing them does not relate two sentences
