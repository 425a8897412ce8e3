"""One row of vectors a memory and embedder instead of one a text: a search reads them all, and rows lie scattered.

Rows of up to 8 KB stay in one piece: four vectors of 256 dimensions take 2 KB.
"""

import django.contrib.postgres.fields
from django.db import migrations, models

import apps.memories.models.vector

GATHER = [
    """
    update memories_memoryvector content
    set questions = asked.texts, question_embeddings = asked.embeddings
    from (
        select end_user_id, memory_id, embedder, array_agg(text order by slot) as texts,
               array_agg(embedding order by slot) as embeddings
        from memories_memoryvector where slot > 0 group by end_user_id, memory_id, embedder
    ) asked
    where content.slot = 0 and content.end_user_id = asked.end_user_id
      and content.memory_id = asked.memory_id and content.embedder = asked.embedder
    """,
    "delete from memories_memoryvector where slot > 0",
]


class Migration(migrations.Migration):
    dependencies = [("memories", "0004_search_terms")]

    operations = [
        migrations.AddField(
            model_name="memoryvector",
            name="questions",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(), blank=True, default=list, size=None
            ),
        ),
        migrations.AddField(
            model_name="memoryvector",
            name="question_embeddings",
            field=apps.memories.models.vector.HalfVectorsField(blank=True, default=list, size=None),
        ),
        migrations.RunSQL(GATHER, migrations.RunSQL.noop),
        migrations.AlterModelOptions(name="memoryvector", options={"ordering": ("memory",)}),
        migrations.RemoveConstraint(model_name="memoryvector", name="vector_once_a_slot"),
        migrations.RemoveField(model_name="memoryvector", name="slot"),
        migrations.RemoveField(model_name="memoryvector", name="text"),
        migrations.AddConstraint(
            model_name="memoryvector",
            constraint=models.UniqueConstraint(
                fields=("end_user", "memory", "embedder"), name="vector_once_an_embedder"
            ),
        ),
        migrations.RunSQL(
            "alter table memories_memoryvector set (toast_tuple_target = 8160)",
            "alter table memories_memoryvector reset (toast_tuple_target)",
        ),
    ]
