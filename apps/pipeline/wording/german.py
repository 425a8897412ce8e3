"""German in English words."""

from apps.pipeline.wording.tongue import tongue

GERMAN = tongue(
    name="de",
    stemmer="german",
    brackets=r"\b(ist|war) (mit \w+) (verheiratet)\b",
    table="""
the: der | die | das | den | dem | des
a: ein | eine | einen | einem | einer | eines
not: nicht | kein | keine | keinen | keinem | keiner | keines
not anymore: nicht mehr | kein mehr
never: nie | niemals | noch nie
without: ohne
and: und
or: oder
with: mit
from: aus | von
of: vom
to: zu | zum | zur | nach
in: im | ins | in
on: am | auf | an
at: bei | beim
near: in der nähe von | nahe | nahe bei
for: für | seit
since:
over: über
under: unter
behind: hinter
before: vor
ago:
after:
until: bis
between: zwischen
is: ist | sind | heißt | heisst | bin | wird | arbeitet als | ist tätig als | ist angestellt als
is: verdient sein geld als
is from: kommt aus | stammt aus
was: war | waren | wurde | arbeitete als
has: hat | haben | habe | besitzt | besitzen | es gibt
had: hatte | hatten
can: kann | können | konnte
may: darf | dürfen
must: muss | müssen | soll
wants: will | möchte | möchten | wollen
perhaps: vielleicht
probably: wahrscheinlich
also: auch
only: nur | bloß
always: immer | stets
often: oft | häufig | öfter
sometimes: manchmal | ab und zu
rarely: selten
usually: meistens | normalerweise | gewöhnlich
all: alle | alles | jeder
most: die meisten
some: einige | manche
works: arbeitet | arbeite | jobbt | ist angestellt | ist beschäftigt | berufstätig
worked: arbeitete | gearbeitet
lives: wohnt | lebt | wohne | lebe | ist zu hause | ist wohnhaft
lived: wohnte | lebte | gewohnt | gelebt
likes: mag | liebt | gern hat | mögen | schätzt | ist ein fan von | begeistert sich für
likes : isst gern | isst gerne | trinkt gern | trinkt gerne | hört gern | hört gerne | spielt gern | spielt gerne
likes : liest gern
hates: hasst | verabscheut | kann nicht ausstehen | mag nicht
gladly: gern | gerne
best: am liebsten
prefers: bevorzugt | zieht vor
favourite: lieblings
eats: isst | esse | essen
ate: aß | gegessen
drinks: trinkt
drank: trank | getrunken
buys: kauft
bought: kaufte | gekauft | erwarb | erworben
sells: verkauft
sold: verkaufte
moved: zog | gezogen | umgezogen | zog um
travels: reist | fährt | fliegt
travelled: reiste | gereist | fuhr | gefahren | flog | geflogen
plays: spielt
played: spielte | gespielt
studies: studiert | lernt
learned: studierte | lernte | gelernt
teaches: unterrichtet | lehrt
speaks: spricht
spoke: sprach | gesprochen
reads: liest
read: las | gelesen
smokes: raucht
runs: läuft | joggt | geht joggen | geht laufen
swims: schwimmt | geht schwimmen
costs: kostet | beträgt
pays: zahlt | bezahlt
earns: verdient
needs: braucht | benötigt
begins: beginnt | fängt an | startet
began: begann | begonnen | angefangen
ends: endet | hört auf
stopped: hörte auf | aufgehört | aufgegeben
visits: besucht
visited: besuchte
met: traf | getroffen
born: geboren
died: starb | gestorben | verstorben | verstarb
is spouse of: ist verheiratet mit
spouse: verheiratet
married: heiratete | geheiratet
passed: bestand | bestanden
owes: schuldet
helps: hilft
called: rief an | angerufen | telefonierte mit
suffers from: leidet an | leidet unter
allergic: allergisch | allergie
afraid: angst | fürchtet
does without: verzichtet
drives: fährt auto
job: stelle | job | beruf
by profession: von beruf
work: arbeit
company: firma | unternehmen
boss: chef | chefin
doctor: arzt | ärztin
teacher: lehrer | lehrerin
nurse: krankenpfleger | krankenschwester
house: haus
flat: wohnung
car: auto | wagen
bike: fahrrad | rad
by bike: mit dem rad | mit dem fahrrad
dog: hund | hunde
cat: katze | katzen
child: kind | kinder | kindern
holiday: urlaub | ferien
money: geld
rent: miete
meat: fleisch
friend: freund | freundin | freunde
sister: schwester | schwestern
brother: bruder | brüder
mother: mutter
father: vater
son: sohn | söhne
daughter: tochter | töchter
wife: frau | ehefrau
husband: ehemann
uncle: onkel
aunt: tante
cousin: cousine | vetter
grandmother: oma | großmutter
grandfather: opa | großvater
in-law mother: schwiegermutter
in-law sister: schwägerin
in-law brother: schwager
in-law father: schwiegervater
big: groß | große | großen | großes
small: klein | kleine | kleinen | kleines
old: alt | ältere | älter
young: jung | jünger | jüngere
good: gut | gute
bad: schlecht | schlechte
warm: heiß | warm
cold: kalt
early: früh
late: spät
much: viel
little: wenig
fears: hat angst vor | fürchtet sich vor
seeks: sucht | ist auf der suche nach
vegetarian: vegetarier | vegetarierin | vegetarisch
new: neue | neuen | neuer | neues
more: mehr
less: weniger
left-hand: linke | linken | links
right-hand: rechte | rechten | rechts
city: stadt
country: land
january: januar | jänner
february: februar
march: märz
may: mai
june: juni
july: juli
october: oktober
december: dezember
monday: montag | montags
tuesday: dienstag | dienstags
wednesday: mittwoch | mittwochs
thursday: donnerstag | donnerstags
friday: freitag | freitags
saturday: samstag | samstags | sonnabend
sunday: sonntag | sonntags
in May: im mai
summer: sommer
autumn: herbst
spring: frühling | frühjahr
morning: morgens | am morgen | vormittags
evening: abends | am abend
noon: mittags
night: nachts | nacht
yesterday: gestern
today: heute
tomorrow: morgen
last: letzte | letzten | letztes | letztem
next: nächste | nächsten | nächstes
weekend: wochenende
year: jahr | jahre | jahren
month: monat | monate | monaten
week: woche | wochen
day: tag | tage | tagen
hour: stunde | stunden
minute: minuten
second: sekunde | sekunden
franc: franken
years old: jahre alt
every day: jeden tag | täglich | am tag | pro tag
every week: jede woche | wöchentlich | pro woche | in der woche | die woche
every month: jeden monat | monatlich | pro monat | im monat
every year: jedes jahr | jährlich | pro jahr | im jahr
every morning: jeden morgen
every evening: jeden abend
2 times: zweimal
3 times: dreimal
: sich | sehr | ganz | schon | noch | als | dass | weil | ihr | ihre | ihren | ihrem | sein | seine | seinen | seinem
: um | so | gerade | zurzeit | derzeit | überhaupt | hier | da | wo | er | sie | namens | gegen
0: null
2: zwei
3: drei
4: vier
5: fünf
6: sechs
7: sieben
8: acht
9: neun
10: zehn
11: elf
12: zwölf
13: dreizehn
14: vierzehn
15: fünfzehn
16: sechzehn
17: siebzehn
18: achtzehn
19: neunzehn
20: zwanzig
30: dreißig
40: vierzig
50: fünfzig
60: sechzig
70: siebzig
80: achtzig
90: neunzig
100: hundert | einhundert
1000: tausend | eintausend
""",
)
