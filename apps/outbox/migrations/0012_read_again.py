"""A kind of work: read the turns of a session again with a model."""

from django.db import migrations, models

REPLACE = """
create or replace function is_valid_work(kind varchar, state varchar, turn_count smallint, attempts smallint)
returns boolean language plpgsql immutable parallel safe as $$
begin
    return kind in ({kinds})
        and state in ('dead', 'done', 'pending', 'running') and turn_count >= 0 and attempts >= 0;
end $$;
"""
BEFORE = "'ask_questions', 'extract_session', 'index_memory', 'run_pipeline'"


class Migration(migrations.Migration):
    dependencies = [("outbox", "0011_row_check_validated")]

    operations = [
        migrations.RunSQL(REPLACE.format(kinds=f"{BEFORE}, 'read_again'"), REPLACE.format(kinds=BEFORE)),
        migrations.AlterField(
            "outboxrow",
            "kind",
            models.CharField(
                choices=[
                    ("run_pipeline", "run pipeline"),
                    ("index_memory", "index memory"),
                    ("extract_session", "extract session"),
                    ("ask_questions", "ask questions"),
                    ("read_again", "read again"),
                ],
                max_length=24,
            ),
        ),
    ]
