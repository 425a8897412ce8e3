"""The English names of months, weekdays and seasons."""

MONTHS = tuple("january february march april may june july august september october november december".split())
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
SEASONS = tuple("spring summer autumn fall winter".split())
UNAMBIGUOUS_MONTHS = tuple(month for month in MONTHS if month != "may")  # "may" is mostly a modal verb
# Abbreviations; "mar" and those of weekdays could be other words.
_ABBREVIATIONS = "jan feb apr jun jul aug sept sep oct nov dec".split()

# Every one-word spelling of a month, season or weekday, with its name.
NAMES: dict[str, str] = {
    **{month: month for month in UNAMBIGUOUS_MONTHS},
    **{short: next(month for month in MONTHS if month.startswith(short)) for short in _ABBREVIATIONS},
    **{form: day for day in WEEKDAYS for form in (day, f"{day}s")},
    **{form: season for season in ("summer", "winter") for form in (season, f"{season}s")},
    "spring": "spring",
    **dict.fromkeys(("autumn", "fall"), "autumn"),
}
