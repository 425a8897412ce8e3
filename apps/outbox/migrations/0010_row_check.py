"""Rows of the outbox are checked by a function, which costs a quarter of lists in each constraint.

A new word of an enum replaces the function.
"""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

CREATE = """
create function is_valid_work(kind varchar, state varchar, turn_count smallint, attempts smallint) returns boolean
language plpgsql immutable parallel safe as $$
begin
    return kind in ('ask_questions', 'extract_session', 'index_memory', 'run_pipeline')
        and state in ('dead', 'done', 'pending', 'running') and turn_count >= 0 and attempts >= 0;
end $$;
"""
CHECK = models.CheckConstraint(
    condition=models.Func(
        "kind", "state", "turn_count", "attempts", function="is_valid_work", output_field=models.BooleanField()
    ),
    name="work_is_valid",
)


class Migration(migrations.Migration):
    dependencies = [("outbox", "0009_job_rounds")]

    operations = [
        migrations.RunSQL(CREATE, "drop function is_valid_work(varchar, varchar, smallint, smallint)"),
        AddConstraintNotValid("outboxrow", CHECK),
    ]
