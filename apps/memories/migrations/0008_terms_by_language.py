r"""Terms by language: a memory's words are stemmed as its own language has it, a query's as all those of the end user.

A memory's tongue is the language that it is in: the declared one, else what its letters or its function words tell, else
those of its context, else English, or none (0: whole words, no stop words) where a word in small letters has one
that English lacks. `memory_terms` and `query_terms` say what a term is: a stem without the marks above its letters, as
the first 4 bytes of its MD5 in network order, after the tongue, so that stems of two languages are never mistaken for
each other; each CJK character a word of its own; of the first 20,000 characters. A query's terms come with the places
of their words (4 bytes before each), which are the same in every language; a stop word of the query's own language is
none in another, where it would be a rare word.
"""

from django.db import migrations, models
from django.db.models import F, Func

# What PostgreSQL can stem, by ISO 639-1 code. A tongue is the place in this list, and a bit in a mask of them.
CONFIGURATIONS = {
    "": "simple", "en": "english", "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese",
    "it": "italian", "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "fi": "finnish",
    "hu": "hungarian", "tr": "turkish", "ro": "romanian", "ru": "russian", "el": "greek", "ar": "arabic",
    "hi": "hindi", "ca": "catalan", "eu": "basque", "et": "estonian", "ga": "irish", "hy": "armenian",
    "id": "indonesian", "lt": "lithuanian", "ne": "nepali", "sr": "serbian", "ta": "tamil", "yi": "yiddish",
}  # fmt: skip
TONGUES = list(CONFIGURATIONS)

# Words by which a language is known: frequent, and not English ones; the English ones are in no other list's language.
HEARD = {
    "en": "the and are were has have with my his their our you she they this that from been does did what who where"
    " when how which but about would could should because than there here likes loves lives works wants said"
    " ll ve",
    "de": "der das und ist ich nicht ein eine einen einem einer mit für auf zu von dem sich auch bei aus nach wie sie"
    " wir sind haben wird seine seinen ihre mein meine meinen dass oder kein keine zum zur wo wer zwei drei wohnt lebt"
    " arbeitet heißt mag liebt trinkt spielt kauft gern gerne",
    "fr": "le la les un une des du et je il elle nous vous dans avec qui que pas ne sur aux ce cette sa ses mes ma mon"
    " leur être suis sont était chez où à été très deux trois habite travaille aime préfère déteste boit joue appelle",
    "es": "el la los las un una y de que en con por para se su sus mis está como pero muy más tiene ella del lo qué"
    " dónde también dos tres vive trabaja gusta prefiere odia bebe juega llama",
    "pt": "um uma de da dos das na não que com por para se seu sua meu minha são está muito ela eu você também mas"
    " tem foi dois duas três mora trabalha gosta prefere odeia bebe joga chama",
    "it": "il lo la gli un una di che è con della dei nel nella sono ho mio mia suo sua anche più questo io dal tre"
    " vive abita lavora piace preferisce odia beve gioca chiama",
    "nl": "de het een en ik niet dat heeft hij zij ze wij naar maar ook bij uit mijn haar geen wordt deze wat twee"
    " drie woont werkt houdt drinkt speelt heet",
    "sv": "och att det är jag inte som på med av ett har hon till från också bor två tre arbetar jobbar gillar älskar"
    " dricker spelar heter",
    "da": "og det er jeg ikke som på med af et har hun fra også bor tre arbejder elsker drikker spiller hedder",
    "no": "og det er jeg ikke som på med av et har hun fra også bor tre jobber elsker drikker spiller heter",
    "fi": "ja ei se että hän minä ole oli mutta kun myös joka hänen minun ovat asuu kaksi kolme pitää rakastaa juo",
    "hu": "az és nem hogy egy meg csak már én ő nagyon vagyok két három lakik él dolgozik szereti iszik",
    "tr": "bir bu çok için ile ben sen değil olarak benim onun ama gibi iki üç yaşıyor çalışıyor seviyor içiyor",
    "ro": "și este în nu cu la un sunt din pentru lui mea meu două trei locuiește lucrează iubește bea",
}
# By their letters; Cyrillic ones that Russian lacks tell of a language that isn't stemmed.
SCRIPTS = (("", "[іїєґўђјљњћџѓќ]"), ("ru", "[а-яё]"), ("el", "[α-ω]"), ("ar", "[ء-ي]"), ("hi", "[अ-ह]"))
NAME = r"\m[[:upper:]]\w*"  # "moved to LA" and "Ella moved" are not Spanish
FOREIGN_LETTER = r"\m[a-zß-ɏ]*[ß-öø-ɏ]"


HEARING = """
create function tongue_heard(given text) returns int language sql immutable parallel safe as $$
    select case {scripts} else (
        select heard.tongue
        from to_tsvector('pg_catalog.simple', regexp_replace(left(given, 2000), '{name}', '', 'g')) told,
             (values {heard}) as heard(tongue, words),
             lateral length(ts_delete(told, heard.words)) as unknown
        where unknown < length(told)
        order by unknown, heard.tongue
        limit 1
    ) end
$$"""


def _list(texts: list[str], kind: str) -> str:
    return f"'{{{','.join(texts)}}}'::{kind}[]"


def _scripts() -> str:
    return " ".join(f"when given ~* '{letters}' then {TONGUES.index(code)}" for code, letters in SCRIPTS)


def _heard() -> str:
    return ", ".join(f"({TONGUES.index(code)}, {_list(words.split(), 'text')})" for code, words in HEARD.items())


CREATE = [
    # Constants are as fast as any column; PostgreSQL puts such a function's body where it is called.
    f"""
create function tongue_configuration(tongue int) returns regconfig language sql immutable parallel safe as $$
    select ({_list(["pg_catalog." + each for each in CONFIGURATIONS.values()], "regconfig")})[tongue + 1]
$$""",
    f"""
create function tongue_declared(code text) returns int language sql immutable parallel safe as $$
    select case when code <> '' then coalesce(
        array_position({_list([each or "simple" for each in TONGUES], "text")}, lower(split_part(code, '-', 1))), 1) - 1
    end
$$""",
    HEARING.format(scripts=_scripts(), heard=_heard(), name=NAME),
    r"""
create function term_of(tongue int, stem text) returns bytea language sql immutable parallel safe as $$
    select decode(left(md5(tongue || case when octet_length(stem) = length(stem) then stem
                           else regexp_replace(normalize(stem, NFD), '[\u0300-\u036f]', '', 'g') end), 8), 'hex')
$$""",
    r"""
create function words_of(tongue int, given text) returns tsvector language sql immutable parallel safe as $$
    select to_tsvector(
        tongue_configuration(tongue),
        regexp_replace(left(given, 20000), '([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff])', ' \1 ', 'g'))
$$""",
    """
create function memory_terms(tongue int, given text) returns bytea language sql immutable parallel safe as $$
    select coalesce(string_agg(term_of(tongue, word.lexeme), ''), '')
    from unnest(words_of(tongue, given)) as word cross join lateral unnest(word.positions)
$$""",
    # Its plan is kept; where all memories are in one language nothing else is asked.
    """
create function query_terms(tongues int, given text) returns bytea language plpgsql immutable parallel safe as $$
declare
    told smallint[];
begin
    if tongues & (tongues - 1) <> 0 then
        told := array(
            select place from unnest(words_of(coalesce(tongue_heard(given), 0), given)) word, unnest(word.positions) place);
    end if;
    return (
        select coalesce(string_agg(int4send(place) || term_of(tongue, word.lexeme), ''), '')
        from generate_series(0, 29) tongue
        cross join lateral unnest(words_of(tongue, given)) as word
        cross join lateral unnest(word.positions) place
        where tongues & (1 << tongue) <> 0 and (told is null or place = any(told))
    );
end $$""",
]
# Told once a row, for it takes longer than all its stems; who writes a memory can't forget it.
KEEP = """
create function keep_tongue() returns trigger language plpgsql as $$
begin
    new.tongue := coalesce(
        tongue_declared(new.language), tongue_heard(new.content), tongue_heard(new.context),
        case when new.content ~ '{foreign}' then 0 else 1 end);
    return new;
end $$;
create trigger memory_tongue_kept before insert or update of language, content, context on memories_memory
    for each row execute function keep_tongue();
"""
LOSE = "drop trigger memory_tongue_kept on memories_memory; drop function keep_tongue();"
DROP = [
    "drop function query_terms(int, text)",
    "drop function memory_terms(int, text)",
    "drop function words_of(int, text)",
    "drop function term_of(int, text)",
    "drop function tongue_heard(text)",
    "drop function tongue_declared(text)",
    "drop function tongue_configuration(int)",
]
# As before: English stems for all.
CREATE_ENGLISH = r"""
create function memory_terms(given text) returns bytea language sql immutable parallel safe as $$
    select coalesce(string_agg(decode(left(md5(word.lexeme), 8), 'hex'), ''::bytea), ''::bytea)
    from unnest(to_tsvector(
        'pg_catalog.english',
        regexp_replace(left(given, 20000), '([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff])', ' \1 ', 'g')
    )) as word cross join lateral unnest(word.positions)
$$
"""
DROP_ENGLISH = "drop function memory_terms(text)"


def _terms(column: str) -> models.GeneratedField:
    return models.GeneratedField(
        expression=Func(F("tongue"), F(column), function="memory_terms"),
        output_field=models.BinaryField(),
        db_persist=True,
        help_text=f"hashes of the {column}'s stems",
    )


class Migration(migrations.Migration):
    dependencies = [("memories", "0007_weeks_and_quarters")]

    operations = [
        migrations.AlterField(
            "memory",
            "language",
            models.CharField(max_length=8, default="", blank=True, help_text="as declared; blank: as it sounds"),
        ),
        migrations.RemoveField("memory", "terms"),
        migrations.RemoveField("memory", "context_terms"),
        migrations.RunSQL(DROP_ENGLISH, CREATE_ENGLISH),
        *(migrations.RunSQL(create, drop) for create, drop in zip(CREATE, reversed(DROP), strict=True)),
        migrations.AddField(
            "memory",
            "tongue",
            models.PositiveSmallIntegerField(
                default=1, editable=False, help_text="the language that its words are stemmed as"
            ),
        ),
        migrations.RunSQL(KEEP.format(foreign=FOREIGN_LETTER), LOSE),
        migrations.AddField("memory", "terms", _terms("content")),
        migrations.AddField("memory", "context_terms", _terms("context")),
    ]
