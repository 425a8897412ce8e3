"""The wording of a memory as a number, by which the review queue groups pending memories that say the same.

`wording_of` folds width, case, punctuation and white space, as apps/pipeline/core/canonical.py does: two texts with
the same words have the same number. A function, since the expression of a generated column must be immutable.
"""

from django.db import migrations, models
from django.db.models import F, Func

CREATE = """
create function wording_of(given text) returns bigint language sql immutable parallel safe as $$
    select hashtextextended(trim(regexp_replace(lower(normalize(given, NFKC)), '[^[:alnum:]]+', ' ', 'g')), 0)
$$
"""
DROP = "drop function wording_of(text)"


class Migration(migrations.Migration):
    dependencies = [("memories", "0024_first_access_index")]

    operations = [
        migrations.RunSQL(CREATE, DROP),
        migrations.AddField(
            model_name="memory",
            name="wording",
            field=models.GeneratedField(
                db_persist=True,
                expression=Func(F("content"), function="wording_of"),
                help_text="the same for contents with the same words",
                output_field=models.BigIntegerField(),
            ),
        ),
    ]
