"""The names of people where only their identifiers are stored."""

from collections.abc import Iterable

from django.contrib.auth.models import User

_PERSON = "person:"


def names_of(actors: Iterable[str]) -> dict[str, str]:
    """Return how actors such as "person:7" and "key:0192…" are shown: people by their names, others by their kind."""
    actors = set(actors)
    numbers = {actor.removeprefix(_PERSON) for actor in actors if actor.startswith(_PERSON)}
    users = User.objects.filter(pk__in=[int(each) for each in numbers if each.isdigit()]) if numbers else ()
    people = {f"{_PERSON}{user.pk}": user.get_username() for user in users}
    return {actor: people.get(actor, actor.partition(":")[0]) for actor in actors}
