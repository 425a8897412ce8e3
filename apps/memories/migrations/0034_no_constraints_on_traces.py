"""Deleted traces and turns are checked by a trigger for all of a statement (traces 0030), no longer row by row."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0033_block_columns_revised"),
        ("traces", "0031_no_constraints_on_traces"),
    ]

    operations = [
        migrations.AlterField(
            model_name="memory",
            name="trace",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="memories",
                to="traces.trace",
            ),
        ),
        migrations.AlterField(
            model_name="memorylink",
            name="trace",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="traces.trace",
            ),
        ),
        migrations.AlterField(
            model_name="memoryorigin",
            name="trace",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="traces.trace",
            ),
        ),
        migrations.AlterField(
            model_name="memoryorigin",
            name="turn",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="traces.turn",
            ),
        ),
        migrations.AlterField(
            model_name="memoryversion",
            name="trace",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="traces.trace",
            ),
        ),
    ]
