"""The contract of stores: entities and their names."""

from datetime import timedelta

from apps.pipeline.core.operations import (
    AddAlias,
    ReassignAlias,
    RenameEntity,
)
from tests.contracts.store_world import (
    World,
    add,
    entity,
    start,
    told,
)
from tests.pipeline.builders import MONDAY


class EntityContract:
    """Entities in their order, and who has which name; subclasses give the fixture `world`."""

    def test_entities_come_user_first_then_by_mention(self, world: World) -> None:
        started = start(world)
        first, second = world.request("Lena naps.", day=3), world.request("Tom naps.", day=2)
        lena, tom = entity("Lena"), entity("Tom", aliases=("User's brother",))
        world.write(first, lena, add(first, told(first, "Lena naps.", subject=lena)))
        world.write(second, tom, add(second, told(second, "Tom naps.", subject=tom)))
        assert list(world.entities()) == ["User", "Lena", "Tom"]
        assert world.entities()["Tom"].aliases == ("User's brother",)
        assert world.entities()["Lena"].mention_count == 1
        assert world.entities()["Lena"].last_mentioned_at == MONDAY + timedelta(days=3)
        assert len(world.reader.entities(end_user_id=world.end_user_id, limit=2)) == 2
        assert world.entities()["User"].id == started.user.entity.id

    def test_names_come_in_the_order_of_their_uses(self, world: World) -> None:
        started = start(world)
        for name in ("Annie", "Nan", "Nan"):
            world.write(world.request(name), AddAlias(entity_id=started.user.entity.id, alias=name))
        assert world.entities()["User"].aliases == ("Nan", "Annie")

    def test_entities_that_were_mentioned_together_come_in_the_order_of_their_ids(self, world: World) -> None:
        added = [entity(name) for name in ("Lena", "Tom", "Ida")]
        world.write(world.request("Lena, Tom and Ida."), *reversed(added))
        assert list(world.entities()) == ["Lena", "Tom", "Ida"]

    def test_a_description_passes_from_one_to_another(self, world: World) -> None:
        request = world.request("Bob was my manager, Priya is now.")
        bob, priya = entity("Bob", aliases=("User's manager", "Bobby")), entity("Priya")
        world.write(request, bob, priya)
        world.write(
            world.request("Priya is my manager."), ReassignAlias(entity_id=priya.entity.id, alias="User's manager")
        )
        assert world.entities()["Bob"].aliases == ("Bobby",)
        assert world.entities()["Priya"].aliases == ("User's manager",)

    def test_a_renamed_entity_keeps_its_former_name(self, world: World) -> None:
        started = start(world)
        world.write(world.request("I am Ana."), RenameEntity(entity_id=started.user.entity.id, name="Ana"))
        ana = world.entities()["Ana"]
        assert (ana.id, ana.aliases, ana.is_user) == (started.user.entity.id, ("User",), True)
