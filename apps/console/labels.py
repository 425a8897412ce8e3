"""Stored words, counts, times and actors as people read them."""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from apps.common.number_formats import count_of as count_of
from apps.common.number_formats import duration as duration
from apps.common.number_formats import noun_for as noun_for
from apps.common.number_formats import percent as percent
from apps.console.paging import identifier_of
from apps.tenants.models import ApiKey

# Stored values whose own word would be unclear on a page; all others only lose their underscores.
_LABELS = {
    "dead": "failed",
    "not_asserted": "not meant literally",
    "others_words": "words of others",
    "low_confidence": "said unsurely",
    "untrusted_role": "other role",
    "pre_filter": "pre-filter",
    "resolve_refs": "resolve names",
    "dedupe": "deduplicate",
    "kept_from": "kept one",
    "kept_to": "kept one",
    "patterns": "table and notes",
}


def label(word: Any) -> str:
    """Return the label of a stored value such as a status, stage or reason."""
    return _LABELS.get(str(word), str(word).replace("_", " "))


LONG_AGO = 30 * 86_400  # seconds
_UNITS = ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"))


def time_since(moment: datetime) -> str:
    """Return how long ago a moment was, such as "5 s ago"; a future moment, and one long ago, as its date."""
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 0 or seconds >= LONG_AGO:
        return f"{moment:%Y-%m-%d}"
    for limit, unit, name in _UNITS:
        if seconds < limit:
            return f"{math.floor(seconds / unit)} {name} ago"
    return f"{math.floor(seconds / 86_400)} d ago"


MOST_NAMED = 100
_PERSON, _KEY = "person:", "key:"


def names_of(actors: Iterable[str]) -> dict[str, str]:
    """Return how actors are shown: "person:7" by the name, "key:0192…" as "key agent", others by their kind.

    One query for people and one for keys, where there are any.
    """
    wanted = set(actors)
    numbers = {actor.removeprefix(_PERSON) for actor in wanted if actor.startswith(_PERSON)}
    users = User.objects.filter(pk__in=[int(each) for each in numbers if each.isdigit()]) if numbers else ()
    ids = [found for actor in wanted if actor.startswith(_KEY) and (found := identifier_of(actor.removeprefix(_KEY)))]
    keys = ApiKey.objects.filter(pk__in=ids).only("name") if ids else ()
    names = {f"{_PERSON}{user.pk}": user.get_username() for user in users}
    names |= {f"{_KEY}{key.pk}": f"key {key.name}" for key in keys}
    return {actor: names.get(actor, actor.partition(":")[0]) for actor in wanted}


def actors_named(part: str) -> list[str]:
    """Return the actors whose name contains a text: people, and keys of the project in scope (two queries)."""
    people = User.objects.filter(username__icontains=part).values_list("pk", flat=True)[:MOST_NAMED]
    keys = ApiKey.objects.filter(name__icontains=part).values_list("pk", flat=True)[:MOST_NAMED]
    return [*(f"{_PERSON}{each}" for each in people), *(f"{_KEY}{each}" for each in keys)]
