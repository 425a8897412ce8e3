-- Lexical terms: the words of a memory are stemmed as its own language has it, those of a query as all languages of
-- the end user have it. A language (tongue) is its place in the list of tongue_declared, and a bit in a mask.

-- The number of a declared language, 0 for one that is not stemmed; null where none is declared.
create function tongue_declared(code text) returns integer
    language sql immutable parallel safe
as $$
    select case when code <> '' then coalesce(
        array_position('{simple,en,de,fr,es,pt,it,nl,sv,da,no,fi,hu,tr,ro,ru,el,ar,hi,ca,eu,et,ga,hy,id,lt,ne,sr,ta,
                yi}'::text[], lower(split_part(code, '-', 1))), 1) - 1
    end
$$;

-- The language of a text, by its letters or its function words; null where neither tells. Names do not count.
create function tongue_heard(given text) returns integer
    language sql immutable parallel safe
as $$
    select case
        when given ~* '[іїєґўђјљњћџѓќ]' then 0
        when given ~* '[а-яё]' then 15
        when given ~* '[α-ω]' then 16
        when given ~* '[ء-ي]' then 17
        when given ~* '[अ-ह]' then 18
        else (
        select heard.tongue
        from to_tsvector('pg_catalog.simple', regexp_replace(left(given, 2000), '\m[[:upper:]]\w*', '', 'g')) told,
             (values (1, '{the,and,are,were,has,have,with,my,his,their,our,you,she,they,this,that,from,been,does,did,
                what,who,where,when,how,which,but,about,would,could,should,because,than,there,here,likes,loves,lives,
                works,wants,said,ll,ve}'::text[]),
            (2, '{der,das,und,ist,ich,nicht,ein,eine,einen,einem,einer,mit,für,auf,zu,von,dem,sich,auch,bei,aus,nach,
                wie,sie,wir,sind,haben,wird,seine,seinen,ihre,mein,meine,meinen,dass,oder,kein,keine,zum,zur,wo,wer,
                zwei,drei,wohnt,lebt,arbeitet,heißt,mag,liebt,trinkt,spielt,kauft,gern,gerne}'::text[]),
            (3, '{le,la,les,un,une,des,du,et,je,il,elle,nous,vous,dans,avec,qui,que,pas,ne,sur,aux,ce,cette,sa,ses,
                mes,ma,mon,leur,être,suis,sont,était,chez,où,à,été,très,deux,trois,habite,travaille,aime,préfère,
                déteste,boit,joue,appelle}'::text[]),
            (4, '{el,la,los,las,un,una,y,de,que,en,con,por,para,se,su,sus,mis,está,como,pero,muy,más,tiene,ella,del,
                lo,qué,dónde,también,dos,tres,vive,trabaja,gusta,prefiere,odia,bebe,juega,llama}'::text[]),
            (5, '{um,uma,de,da,dos,das,na,não,que,com,por,para,se,seu,sua,meu,minha,são,está,muito,ela,eu,você,também,
                mas,tem,foi,dois,duas,três,mora,trabalha,gosta,prefere,odeia,bebe,joga,chama}'::text[]),
            (6, '{il,lo,la,gli,un,una,di,che,è,con,della,dei,nel,nella,sono,ho,mio,mia,suo,sua,anche,più,questo,io,
                dal,tre,vive,abita,lavora,piace,preferisce,odia,beve,gioca,chiama}'::text[]),
            (7, '{de,het,een,en,ik,niet,dat,heeft,hij,zij,ze,wij,naar,maar,ook,bij,uit,mijn,haar,geen,wordt,deze,wat,
                twee,drie,woont,werkt,houdt,drinkt,speelt,heet}'::text[]),
            (8, '{och,att,det,är,jag,inte,som,på,med,av,ett,har,hon,till,från,också,bor,två,tre,arbetar,jobbar,gillar,
                älskar,dricker,spelar,heter}'::text[]),
            (9, '{og,det,er,jeg,ikke,som,på,med,af,et,har,hun,fra,også,bor,tre,arbejder,elsker,drikker,spiller,
                hedder}'::text[]),
            (10, '{og,det,er,jeg,ikke,som,på,med,av,et,har,hun,fra,også,bor,tre,jobber,elsker,drikker,spiller,
                heter}'::text[]),
            (11, '{ja,ei,se,että,hän,minä,ole,oli,mutta,kun,myös,joka,hänen,minun,ovat,asuu,kaksi,kolme,pitää,
                rakastaa,juo}'::text[]),
            (12, '{az,és,nem,hogy,egy,meg,csak,már,én,ő,nagyon,vagyok,két,három,lakik,él,dolgozik,szereti,
                iszik}'::text[]),
            (13, '{bir,bu,çok,için,ile,ben,sen,değil,olarak,benim,onun,ama,gibi,iki,üç,yaşıyor,çalışıyor,seviyor,
                içiyor}'::text[]),
            (14, '{și,este,în,nu,cu,la,un,sunt,din,pentru,lui,mea,meu,două,trei,locuiește,lucrează,iubește,
                bea}'::text[])) as heard(tongue, words),
             lateral length(ts_delete(told, heard.words)) as unknown
        where unknown < length(told)
        order by unknown, heard.tongue
        limit 1
    ) end
$$;

-- The text search configuration of a language. PostgreSQL has one for Estonian since version 18.
do $do$
begin
    execute format($function$
        create function tongue_configuration(tongue integer) returns regconfig
            language sql immutable parallel safe
        as $$
            select ('{pg_catalog.simple,pg_catalog.english,pg_catalog.german,pg_catalog.french,pg_catalog.spanish,
                        pg_catalog.portuguese,pg_catalog.italian,pg_catalog.dutch,pg_catalog.swedish,
                        pg_catalog.danish,pg_catalog.norwegian,pg_catalog.finnish,pg_catalog.hungarian,
                        pg_catalog.turkish,pg_catalog.romanian,pg_catalog.russian,pg_catalog.greek,
                        pg_catalog.arabic,pg_catalog.hindi,pg_catalog.catalan,pg_catalog.basque,pg_catalog.%s,
                        pg_catalog.irish,pg_catalog.armenian,pg_catalog.indonesian,pg_catalog.lithuanian,
                        pg_catalog.nepali,pg_catalog.serbian,pg_catalog.tamil,pg_catalog.yiddish}'::regconfig[])
                   [tongue + 1]
        $$
    $function$, (select coalesce(max(cfgname), 'simple') from pg_ts_config where cfgname = 'estonian'));
end
$do$;

-- A stem without the marks above its letters: the first 4 bytes of its MD5, after the language.
create function term_of(tongue integer, stem text) returns bytea
    language sql immutable parallel safe
as $$
    select decode(left(md5(tongue || case when octet_length(stem) = length(stem) then stem
                           else regexp_replace(normalize(stem, NFD), '[\u0300-\u036f]', '', 'g') end), 8), 'hex')
$$;

-- The words of the first 20,000 characters; each CJK character is a word of its own.
create function words_of(tongue integer, given text) returns tsvector
    language sql immutable parallel safe
return to_tsvector(
    tongue_configuration(tongue),
    regexp_replace(left(given, 20000), '([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff])', ' \1 ', 'g'));

-- The terms of a text, one for each place of each word.
create function memory_terms(tongue integer, given text) returns bytea
    language sql immutable parallel safe
return (
    select coalesce(string_agg(term_of(tongue, word.lexeme), '\x'), '\x')
    from unnest(words_of(tongue, given)) as word(lexeme, positions, weights), unnest(word.positions));

-- The terms of a memory's sentence and, in another language, of its quote.
create function content_terms(tongue integer, content text, predicate text, source_tongue integer, quote text)
    returns bytea
    language sql immutable parallel safe
return memory_terms(tongue, content || ' ' || replace(predicate, '_', ' '))
    || case when source_tongue <> tongue then memory_terms(source_tongue, quote) else '\x' end;

-- The terms of the questions and of the other words that a model wrote for a memory. Those of templates are the same
-- for many memories: with them recall on LoCoMo was .699, .782, .839 of 5, 10, 20 instead of .700, .781, .841.
create function question_terms(questions text[], questions_by text) returns bytea
    language sql immutable parallel safe
return case when questions_by = '' then '\x' else memory_terms(1, array_to_string(questions, ' ')) end;

-- The terms of a query in each language of a mask, each after the place of its word (4 bytes). A stop word
-- of the query's own language is none in another, where it would be a rare word.
create function query_terms(tongues integer, given text) returns bytea
    language plpgsql immutable parallel safe
as $$
declare
    told smallint[];
begin
    if tongues & (tongues - 1) <> 0 then
        told := array(
            select place from unnest(words_of(coalesce(tongue_heard(given), 0), given)) word,
                unnest(word.positions) place);
    end if;
    return (
        select coalesce(string_agg(int4send(place) || term_of(tongue, word.lexeme), ''), '')
        from generate_series(0, 29) tongue
        cross join lateral unnest(words_of(tongue, given)) as word
        cross join lateral unnest(word.positions) place
        where tongues & (1 << tongue) <> 0 and (told is null or place = any(told))
    );
end $$;

-- What a sentence can answer: when (1), where (2), how many (4). Known for English alone.
create function answer_types(tongue integer, content text, event_at timestamptz) returns smallint
    language sql immutable parallel safe
as $$
    select (case when tongue <> 1 then 7 else
        (event_at is not null or content ~ '\d|\m((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September|October|November|December)\M|\m(every|daily|weekly|monthly|yearly|mornings?|afternoons?|evenings?|nights?|weekends?|noon|midnight)\M')::int
        + 2 * (content ~ '\m(in|at|near|from|to|on|under|behind|inside|outside|opposite) (?!((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September|October|November|December)\M)(the|a|an|his|her|its|their|User|[[:upper:]][[:alpha:]]+)\M')::int
        + 4 * (content ~ '\d|\m(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?|half|once|twice|no|none)\M')::int
    end)::smallint
$$;

-- A hash that is the same for texts which differ in case, marks and spaces alone.
create function wording_of(given text) returns bigint
    language sql immutable parallel safe
as $$
    select hashtextextended(trim(regexp_replace(lower(normalize(given, NFKC)), '[^[:alnum:]]+', ' ', 'g')), 0)
$$;

-- The terms as numbers, for the index of memories by their words.
create function term_numbers(terms bytea) returns integer[]
    language sql immutable parallel safe
return (
    select coalesce(
        array_agg(distinct ('x' || encode(substring(terms from place * 4 + 1 for 4), 'hex'))::bit(32)::integer), '{}')
    from generate_series(0, length(terms) / 4 - 1) place);
