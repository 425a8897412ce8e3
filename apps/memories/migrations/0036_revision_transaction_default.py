"""Give `transaction` a default in the database, as the writer names the column no longer; the next release drops it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0035_revisions_by_writer")]

    operations = [
        migrations.AlterField(
            model_name="memoryrevision",
            name="transaction",
            field=models.BigIntegerField(
                db_default=0, default=0, help_text="no longer read or written; the next release removes it"
            ),
        ),
    ]
