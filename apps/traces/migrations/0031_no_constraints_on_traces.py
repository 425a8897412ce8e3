"""Deleted traces and turns are checked by a trigger for all of a statement (traces 0030), no longer row by row."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("traces", "0030_traces_without_references"),
    ]

    operations = [
        migrations.AlterField(
            model_name="modelcall",
            name="trace",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="model_calls",
                to="traces.trace",
            ),
        ),
        migrations.AlterField(
            model_name="span",
            name="trace",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="spans",
                to="traces.trace",
            ),
        ),
        migrations.AlterField(
            model_name="turn",
            name="trace",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="turns",
                to="traces.trace",
            ),
        ),
    ]
