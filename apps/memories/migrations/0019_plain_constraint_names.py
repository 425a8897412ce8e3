"""Plain names of constraints; nothing but names changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0018_indexes_of_references")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter index memory_once_a_candidate rename to memory_once_per_candidate",
                    "alter index memory_once_per_candidate rename to memory_once_a_candidate",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memory", name="memory_once_a_candidate"),
                migrations.AddConstraint(
                    model_name="memory",
                    constraint=models.UniqueConstraint(
                        fields=("end_user", "trace", "candidate_index"),
                        condition=models.Q(trace__isnull=False),
                        name="memory_once_per_candidate",
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table memories_memory rename constraint memory_confidence_a_share to memory_confidence_in_range",
                    "alter table memories_memory rename constraint memory_confidence_in_range to memory_confidence_a_share",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memory", name="memory_confidence_a_share"),
                migrations.AddConstraint(
                    model_name="memory",
                    constraint=models.CheckConstraint(
                        condition=models.Q(confidence__gte=0, confidence__lte=1), name="memory_confidence_in_range"
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table memories_memory rename constraint memory_importance_a_share to memory_importance_in_range",
                    "alter table memories_memory rename constraint memory_importance_in_range to memory_importance_a_share",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memory", name="memory_importance_a_share"),
                migrations.AddConstraint(
                    model_name="memory",
                    constraint=models.CheckConstraint(
                        condition=models.Q(importance__gte=0, importance__lte=1), name="memory_importance_in_range"
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table memories_memory rename constraint memory_superseded_ended to memory_superseded_has_end",
                    "alter table memories_memory rename constraint memory_superseded_has_end to memory_superseded_ended",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memory", name="memory_superseded_ended"),
                migrations.AddConstraint(
                    model_name="memory",
                    constraint=models.CheckConstraint(
                        condition=~models.Q(status="superseded") | models.Q(valid_until__isnull=False),
                        name="memory_superseded_has_end",
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table memories_memory rename constraint memory_not_its_own_heir to memory_not_its_own_successor",
                    "alter table memories_memory rename constraint memory_not_its_own_successor to memory_not_its_own_heir",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memory", name="memory_not_its_own_heir"),
                migrations.AddConstraint(
                    model_name="memory",
                    constraint=models.CheckConstraint(
                        condition=models.Q(superseded_by__isnull=True) | ~models.Q(superseded_by=models.F("id")),
                        name="memory_not_its_own_successor",
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table memories_memoryorigin rename constraint origin_once_a_turn to origin_once_per_turn",
                    "alter table memories_memoryorigin rename constraint origin_once_per_turn to origin_once_a_turn",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memoryorigin", name="origin_once_a_turn"),
                migrations.AddConstraint(
                    model_name="memoryorigin",
                    constraint=models.UniqueConstraint(
                        fields=("end_user", "memory", "turn"), name="origin_once_per_turn"
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table memories_memorylink rename constraint link_of_two to link_of_two_memories",
                    "alter table memories_memorylink rename constraint link_of_two_memories to link_of_two",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memorylink", name="link_of_two"),
                migrations.AddConstraint(
                    model_name="memorylink",
                    constraint=models.CheckConstraint(
                        condition=~models.Q(from_memory=models.F("to_memory")), name="link_of_two_memories"
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table memories_entityalias rename constraint alias_once_an_entity to alias_once_per_entity",
                    "alter table memories_entityalias rename constraint alias_once_per_entity to alias_once_an_entity",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="entityalias", name="alias_once_an_entity"),
                migrations.AddConstraint(
                    model_name="entityalias",
                    constraint=models.UniqueConstraint(
                        fields=("end_user", "entity", "folded"), name="alias_once_per_entity"
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "alter table memories_memoryvector rename constraint vector_once_an_embedder to vector_once_per_embedder",
                    "alter table memories_memoryvector rename constraint vector_once_per_embedder to vector_once_an_embedder",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memoryvector", name="vector_once_an_embedder"),
                migrations.AddConstraint(
                    model_name="memoryvector",
                    constraint=models.UniqueConstraint(
                        fields=("end_user", "memory", "embedder"), name="vector_once_per_embedder"
                    ),
                ),
            ],
        ),
    ]
