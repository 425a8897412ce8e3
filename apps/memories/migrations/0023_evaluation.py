"""Samples of evaluation with their items and labels, and when a memory was first told to an agent."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import apps.memories.models.evaluation
import apps.pipeline.core.identifiers


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0022_who_brought_names"),
        ("tenants", "0007_second_factor"),
        ("traces", "0023_withdrawn_turns"),
    ]

    operations = [
        migrations.CreateModel(
            name="EvaluationItem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(help_text="in the random order of the draw")),
                ("memory_type", models.CharField(blank=True, max_length=16)),
                (
                    "model",
                    models.CharField(
                        blank=True, help_text="the model, patterns, or direct; of turns: empty", max_length=120
                    ),
                ),
                (
                    "version",
                    models.PositiveIntegerField(blank=True, help_text="number of the configuration version", null=True),
                ),
            ],
            options={
                "ordering": ("sample", "position"),
            },
        ),
        migrations.CreateModel(
            name="EvaluationLabel",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("labeller", models.CharField(help_text="person or key", max_length=160)),
                ("value", models.CharField(choices=apps.memories.models.evaluation.label_choices, max_length=16)),
                (
                    "remembered_id",
                    models.UUIDField(
                        blank=True, help_text="the memory that the labeller stored of the turn", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="EvaluationSample",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(choices=[("memory", "memory"), ("turn", "turn")], max_length=16)),
                ("week", models.DateField(help_text="the Monday of the week in which the period ends")),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(help_text="excluded")),
                ("seed", models.BigIntegerField(help_text="the same seed draws the same rows")),
                (
                    "population",
                    models.PositiveIntegerField(help_text="memories or turns of the period that could have been drawn"),
                ),
                ("counts", models.JSONField(blank=True, default=list)),
                ("actor", models.CharField(help_text="key, person, command or system that drew it", max_length=160)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.AddField(
            model_name="memory",
            name="first_accessed",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="evaluationitem",
            name="end_user",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.enduser"
            ),
        ),
        migrations.AddField(
            model_name="evaluationitem",
            name="memory",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="memories.memory",
            ),
        ),
        migrations.AddField(
            model_name="evaluationitem",
            name="turn",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="traces.turn",
            ),
        ),
        migrations.AddField(
            model_name="evaluationlabel",
            name="end_user",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.enduser"
            ),
        ),
        migrations.AddField(
            model_name="evaluationlabel",
            name="item",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="labels",
                to="memories.evaluationitem",
            ),
        ),
        migrations.AddField(
            model_name="evaluationsample",
            name="project",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="tenants.project"
            ),
        ),
        migrations.AddField(
            model_name="evaluationitem",
            name="sample",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="items",
                to="memories.evaluationsample",
            ),
        ),
        migrations.AddIndex(
            model_name="evaluationlabel",
            index=models.Index(fields=["item"], name="evaluation_label_by_item"),
        ),
        migrations.AddConstraint(
            model_name="evaluationlabel",
            constraint=models.UniqueConstraint(fields=("end_user", "item", "labeller"), name="evaluation_label_once"),
        ),
        migrations.AddIndex(
            model_name="evaluationsample",
            index=models.Index(fields=["project", "week"], name="evaluation_sample_by_week"),
        ),
        migrations.AddConstraint(
            model_name="evaluationsample",
            constraint=models.UniqueConstraint(
                fields=("project", "kind", "since", "until"), name="evaluation_sample_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationsample",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["memory", "turn"])), name="evaluation_sample_kind_known"
            ),
        ),
        migrations.AddIndex(
            model_name="evaluationitem",
            index=models.Index(fields=["sample"], name="evaluation_item_by_sample"),
        ),
        migrations.AddIndex(
            model_name="evaluationitem",
            index=models.Index(
                condition=models.Q(("memory__isnull", False)), fields=["memory"], name="evaluation_item_by_memory"
            ),
        ),
        migrations.AddIndex(
            model_name="evaluationitem",
            index=models.Index(
                condition=models.Q(("turn__isnull", False)), fields=["turn"], name="evaluation_item_by_turn"
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationitem",
            constraint=models.UniqueConstraint(fields=("end_user", "memory"), name="evaluation_memory_once"),
        ),
        migrations.AddConstraint(
            model_name="evaluationitem",
            constraint=models.UniqueConstraint(fields=("end_user", "turn"), name="evaluation_turn_once"),
        ),
        migrations.AddConstraint(
            model_name="evaluationitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("memory__isnull", True), ("turn__isnull", True), _connector="XOR"),
                name="evaluation_item_of_one_thing",
            ),
        ),
    ]
