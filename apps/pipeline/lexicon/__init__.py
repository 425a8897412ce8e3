"""Words as data: English verbs, kinship, calendar, numerals and synonyms, and the recognition of other languages.

Tables are TOML files beside their modules, read once on import.
"""
