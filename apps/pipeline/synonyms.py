"""Words that say the same: common verbs and nouns by meaning, turns of phrase, and small words that say nothing."""

import re

# One line is one meaning; only words whose exchange changes nothing that a memory would hold.
_MEANINGS = """
work works working worked employed employee job arbeitet beschäftigt angestellt travaille employé employée trabaja
 empleado empleada lavora impiegato impiegata trabalha empregado werkt
live lives living lived reside resides resided wohnt lebt habite vit vive reside mora abita woont leeft
buy buys bought purchase purchases purchased kauft kaufte gekauft acheté compró comprado
move moves moved relocate relocates relocated
break breaks broke broken fracture fractures fractured
leave leaves departs depart departed
keep keeps follow follows
train trains training prepare prepares preparing
fear fears afraid scared frightened
own owns owned possess possesses
child children kid kids
boss manager supervisor chef jefe capo
company firm employer
flat apartment
car automobile auto wagen coche voiture
bike bicycle
film films movie movies
holiday holidays vacation vacations
photo photos picture pictures
study studies studied studying learn learns learned learning
doctor physician
lawyer attorney
ill sick
need needs require requires
finish finishes finished complete completes completed
talk talks speak speaks
gift present
salary wage wages pay
near nearby close
rest relax relaxes
dream goal
send sends sent
help helps assist assists
visit visits visited
repair repairs repaired fix fixes fixed
build builds built construct constructed
choose chooses chose pick picks picked
teach teaches taught
shop store
travel travels travelled traveled trip reist reiste viajó viaje viajar voyage voyagé
wake wakes
prefer prefers preferred favours favors
want wants wanted wishes
begin begins began start starts started
end ends ended
pass passed succeeds succeeded
play plays playing
cook cooks cooked
meet meets met meeting appointment
hurt hurts injured injury
sick illness
pain ache aches
medicine medication drug drugs
marry marries married wed wedding
spouse partner
baby infant
birth born
house home
city town
job position role
university college uni
degree diploma
graduate graduates graduated
colleague coworker co-worker colleagues coworkers co-workers
friend buddy pal
team group
meal dish
dinner supper
luggage baggage
taxi cab
subway metro underground
plane airplane aircraft
ticket
laptop notebook
mobile cellphone smartphone phone handy móvil portable
couch sofa
garden yard
trousers pants
autumn fall
glasses spectacles
store shops
money cash
cheap inexpensive
expensive pricey costly
quick quickly fast rapid rapidly
often frequently regularly
usually normally generally typically
about around approximately roughly circa
large huge
beautiful pretty
angry mad
happy glad pleased
sad unhappy
tired exhausted
scare scares scared
difficult hard tough
easy simple
important crucial
interested keen
currently presently nowadays
volunteer volunteers volunteered volunteering voluntary
run runs ran running jog jogs jogged jogging
walk walks walked
drive drives drove
ride rides rode
swim swims swam
read reads
write writes wrote
paint paints painted
sing sings sang
dance dances danced
watch watches watched
listen listens listened
attend attends attended
organise organises organised organize organizes organized arrange arranges arranged
plan plans planned planning intends
celebrate celebrates celebrated
receive receives received gets
lend lends lent
lose loses lost
find finds found
win wins won
earn earns makes
pay pays paid
cost costs
grow grows grew
adopt adopts adopted
rescue rescues rescued saved
hire hires hired recruited
fire fired dismissed sacked
promote promoted promotion
retire retires retired
call calls called phoned
answer answers reply replies respond responds
ask asks asked
use uses used utilises utilizes
carry carries
wear wears
collect collects collected
sleep sleeps slept
smoke smokes
raise raises raised increase increases increased
arrive arrives arrived
return returns returned
stay stays stayed
join joins joined
handle handles manages
lead leads led heads
"""
_PHRASES = (
    (r"\b(?:every|each|per|cada|chaque|jede[nrs]?|ogni|elke) (?:day|día|jour|tag|giorno|dag)\b", "daily"),
    (r"\b(?:every|each|per|cada|chaque|jede[nrs]?|ogni|elke) (?:week|semana|semaine|woche|settimana)\b", "weekly"),
    (r"\b(?:every|each|per|cada|chaque|jede[nrs]?|ogni|elke) (?:month|mes|mois|monat|mese|maand)\b", "monthly"),
    (r"\b(?:every|each|per|cada|chaque|jede[nrs]?|ogni|elke) (?:year|año|an|jahr|anno|jaar)\b", "yearly"),
    (r"\b(?:am|pro) tag\b|\bpar jour\b|\bal día\b|\btäglich\b", "daily"),
    (r"\b(?:in der|die|pro) woche\b|\bpar semaine\b|\b(?:a la|por) semana\b|\bwöchentlich\b", "weekly"),
    (r"\b(?:im|pro) monat\b|\bpar mois\b|\bal mes\b|\bmonatlich\b", "monthly"),
    (r"\b(?:im|pro) jahr\b|\bpar an\b|\bal año\b|\bjährlich\b", "yearly"),
    (r"(?<!\bfor )(?<!\bin )(?<!within )\ba day\b(?! ago| later| off| trip)", "daily"),
    (r"(?<!\bfor )(?<!\bin )(?<!within )\ba week\b(?! ago| later| off| trip)", "weekly"),
    (r"(?<!\bfor )(?<!\bin )(?<!within )\ba month\b(?! ago| later| off)", "monthly"),
    (r"(?<!\bfor )(?<!\bin )(?<!within )\ba year\b(?! ago| later| off)", "yearly"),
    (r"\b(?:every|each) (night|morning|evening)\b|\ba (night)\b", r"\1\2"),
    (r"\bpass(?:ed|es)? away\b", "died"),
    (r"\b(?:gets?|got) up\b", "wakes up"),
    (r"\bgoing to bed\b", "bed"),
    (r"\bclose to\b", "near"),
    (r"\b(?:gets?|got|is|was) married\b", "married"),
    (r"\bold\b(?=\W*$)", ""),
    (r"\btake[sn]? place\b|\btook place\b", "done"),
    (r"\bsuffers? from\b", "has"),
)
_SMALL = """
with each who whom which where what his her their its s also too really very quite just still now own am be been being
has have had having get gets got gotten go goes went user user's called named at all ever whenever every done do
der die das den dem des ein eine einen einem einer ist sind war hat haben als wird werden am im in an zu zum zur und von
vom heißt heisst ihre ihr sein seine überhaupt sehr
le la les l un une des de du d au aux est sont a ont qui que en y s'appelle appelle son sa ses très
el los las lo una uno del al es son tiene ha que se llama su sus muy y tomar le
il gli i di da della dello che è ha suo sua molto e si chiama
o os as um uma do da dos das que é tem seu sua muito e em no na
het een van is zijn heeft die dat op te en zeer
jest ma są się jego jej i w we z ze na do
"""

MEANINGS: dict[str, str] = {
    word: line.split()[0] for line in _MEANINGS.strip().replace("\n ", " ").splitlines() for word in line.split()
}
SMALL: frozenset[str] = frozenset(_SMALL.split())
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), said) for pattern, said in _PHRASES)


def in_plain_words(text: str) -> str:
    """Replace turns of phrase by one word that says the same: "every day" by "daily"."""
    for pattern, said in _COMPILED:
        text = pattern.sub(said, text)
    return text
