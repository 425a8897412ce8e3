"""Words as data: English verbs, kinship, calendar, numerals and synonyms, and how to recognise other languages.

Tables lie in TOML files beside their modules and are read once, on import.
"""
