"""Search by terms: the words of a memory as 4-byte hashes, one a word as often as it occurs, kept by the database.

`memory_terms` is the one place that says what a term is, for memories and queries alike: the english configuration
(stop words out, stems), each CJK character a word of its own, the first 20,000 characters. A hash is the first 4 bytes
of the stem's MD5, in network order; it is stable across versions, and two stems of one user practically never share it.
"""

from django.db import migrations, models
from django.db.models import F, Func

CREATE = r"""
create function memory_terms(given text) returns bytea language sql immutable parallel safe as $$
    select coalesce(string_agg(decode(left(md5(word.lexeme), 8), 'hex'), ''::bytea), ''::bytea)
    from unnest(to_tsvector(
        'pg_catalog.english',
        regexp_replace(left(given, 20000), '([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff])', ' \1 ', 'g')
    )) as word cross join lateral unnest(word.positions)
$$
"""
DROP = "drop function memory_terms(text)"


class Migration(migrations.Migration):
    dependencies = [("memories", "0003_ledger_append_only")]

    operations = [
        migrations.RunSQL(CREATE, DROP),
        migrations.RemoveField(model_name="memory", name="lexemes"),
        migrations.AddField(
            model_name="memory",
            name="terms",
            field=models.GeneratedField(
                expression=Func(F("content"), function="memory_terms"),
                output_field=models.BinaryField(),
                db_persist=True,
                help_text="hashes of the content's stems",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="context_terms",
            field=models.GeneratedField(
                expression=Func(F("context"), function="memory_terms"),
                output_field=models.BinaryField(),
                db_persist=True,
            ),
        ),
    ]
