"""English function words and other words with little meaning."""

from apps.pipeline.lexicon.tables import read_table

_TABLE = {name: frozenset(words.split()) for name, words in read_table("function_words").items()}

SMALL = _TABLE["small"]  # without a meaning of their own
LIGHT = _TABLE["light"]  # add nothing to a sentence that otherwise says the same
SUPPORT = _TABLE["support"]  # verbs that add nothing beside another verb
FRAME = LIGHT | _TABLE["common"]  # so frequent that sharing them does not relate two sentences
