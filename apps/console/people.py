"""The names of people and keys where only their identifiers are stored."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from apps.console.paging import identifier_of
from apps.tenants.models import ApiKey

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
