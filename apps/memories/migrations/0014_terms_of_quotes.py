r"""Terms of the quote in its own language and of the predicate, beside those of the content; types of answers.

An extractor writes its statements in English, whatever the end user speaks, and keeps the quote as it was said. Until
now one language was detected per memory, so that either the statement or the quoted turn was stemmed as a language in
which it isn't. Now `tongue` is the language of the content and `source_tongue` that of quote and context. Where the two
differ, the words of the quote count as words of the memory (`content_terms`), so that a question in the end user's
language finds it. So do the words of the predicate, for `lives_in` is asked for with "live" whatever the sentence says.

`answer_types` says which questions an English statement can answer: "when" (1), "where" (2), "how many" (4). Statements
in other languages are taken to answer all of them.
"""

import importlib

from django.db import migrations, models
from django.db.models import F, Func

_by_language = importlib.import_module("apps.memories.migrations.0008_terms_by_language")

CREATE = """
create function content_terms(tongue int, content text, predicate text, source_tongue int, quote text) returns bytea
language sql immutable parallel safe as $$
    select memory_terms(tongue, content || ' ' || replace(predicate, '_', ' '))
        || case when source_tongue <> tongue then memory_terms(source_tongue, quote) else '' end
$$
"""
DROP = "drop function content_terms(int, text, text, int, text)"

CALENDAR = (
    r"((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|January|February|March|April|May|June|July|August|September|October|November|December)\M"
)
TIME = (
    rf"\d|\m{CALENDAR}"
    r"|\m(every|daily|weekly|monthly|yearly|mornings?|afternoons?|evenings?|nights?|weekends?|noon|midnight)\M"
)
PLACE = (
    r"\m(in|at|near|from|to|on|under|behind|inside|outside|opposite)"
    rf" (?!{CALENDAR})(the|a|an|his|her|its|their|User|[[:upper:]][[:alpha:]]+)\M"
)
QUANTITY = (
    r"\d|\m(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?"
    r"|half|once|twice|no|none)\M"
)
CREATE_TYPES = f"""
create function answer_types(tongue int, content text, event_at timestamptz) returns smallint
language sql immutable parallel safe as $$
    select (case when tongue <> 1 then 7 else
        (event_at is not null or content ~ '{TIME}')::int
        + 2 * (content ~ '{PLACE}')::int
        + 4 * (content ~ '{QUANTITY}')::int
    end)::smallint
$$
"""
DROP_TYPES = "drop function answer_types(int, text, timestamptz)"

# The content of a memory with a trace was written by an extractor, so its context is no witness of its language.
KEEP = """
create or replace function keep_tongue() returns trigger language plpgsql as $$
begin
    new.tongue := coalesce(
        tongue_declared(new.language), tongue_heard(new.content),
        case when new.trace_id is null then tongue_heard(new.context) end,
        case when new.content ~ '{foreign}' then 0 else 1 end);
    new.source_tongue := coalesce(tongue_heard(new.evidence), tongue_heard(new.context), new.tongue);
    return new;
end $$;
drop trigger memory_tongue_kept on memories_memory;
create trigger memory_tongue_kept before insert or update of language, content, context, evidence on memories_memory
    for each row execute function keep_tongue();
"""
KEEP_AS_BEFORE = """
create or replace function keep_tongue() returns trigger language plpgsql as $$
begin
    new.tongue := coalesce(
        tongue_declared(new.language), tongue_heard(new.content), tongue_heard(new.context),
        case when new.content ~ '{foreign}' then 0 else 1 end);
    return new;
end $$;
drop trigger memory_tongue_kept on memories_memory;
create trigger memory_tongue_kept before insert or update of language, content, context on memories_memory
    for each row execute function keep_tongue();
"""

# A change of the quote changes what a search reads.
REVISED = """
drop trigger memory_revised on memories_memory;
create constraint trigger memory_revised after insert or delete or update of
    status, subject_id, predicate, object, content, context, {quote} language, session_id, said_at,
    valid_from, valid_until, expires_at, confidence, importance
    on memories_memory deferrable initially deferred for each row execute function memory_revised();
"""

# Every row is written, so that the trigger detects both languages; pending deferred triggers would block later changes
# of the table, so they run at once.
DETECT = """
set constraints all immediate;
update memories_memory set language = language where evidence <> '' or context <> '';
set constraints all deferred;
"""


def _terms(function: str, *columns: str, help_text: str) -> models.GeneratedField:
    return models.GeneratedField(
        expression=Func(*map(F, columns), function=function),
        output_field=models.BinaryField(),
        db_persist=True,
        help_text=help_text,
    )


class Migration(migrations.Migration):
    dependencies = [("memories", "0013_one_live_memory_a_hash")]

    operations = [
        migrations.RunSQL(CREATE, DROP),
        migrations.RunSQL(CREATE_TYPES, DROP_TYPES),
        migrations.AddField(
            "memory",
            "source_tongue",
            models.PositiveSmallIntegerField(
                default=1, editable=False, help_text="the language that the words of quote and context are stemmed as"
            ),
        ),
        migrations.RunSQL(
            KEEP.format(foreign=_by_language.FOREIGN_LETTER), KEEP_AS_BEFORE.format(foreign=_by_language.FOREIGN_LETTER)
        ),
        migrations.RunSQL(REVISED.format(quote="evidence,"), REVISED.format(quote="")),
        migrations.RunSQL("update memories_memory set source_tongue = tongue", migrations.RunSQL.noop),
        migrations.RunSQL(DETECT, migrations.RunSQL.noop),
        migrations.RemoveField("memory", "terms"),
        migrations.RemoveField("memory", "context_terms"),
        migrations.AddField(
            "memory",
            "terms",
            _terms(
                "content_terms",
                "tongue",
                "content",
                "predicate",
                "source_tongue",
                "evidence",
                help_text="hashes of the stems of content and predicate, and of the quote where it is in another language",
            ),
        ),
        migrations.AddField(
            "memory",
            "context_terms",
            _terms("memory_terms", "source_tongue", "context", help_text="hashes of the context's stems"),
        ),
        migrations.AddField(
            "memory",
            "answer_types",
            models.GeneratedField(
                expression=Func(F("tongue"), F("content"), F("event_at"), function="answer_types"),
                output_field=models.PositiveSmallIntegerField(),
                db_persist=True,
                help_text="which questions it can answer: 1 when, 2 where, 4 how many",
            ),
        ),
    ]
