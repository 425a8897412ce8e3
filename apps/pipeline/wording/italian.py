"""Italian in English words."""

from apps.pipeline.wording.tongue import tongue

ITALIAN = tongue(
    name="it",
    stemmer="italian",
    elides=True,
    brackets=r"\b(non) (\w+) (più|mai)\b",
    table="""
the: il | lo | la | i | gli | le | l'
a: un | uno | una | un'
of: di | del | della | dello | dei | delle | dell' | d'
not: non | nessun | nessuno | nessuna
not anymore: non più
never: mai | non mai
without: senza
and: e | ed
or: o
with: con
to: a | al | alla | allo
in: in | nel | nella
near: vicino a | vicino al | vicino alla
on: su | sul | sulla
for: per
from: da | dal | dalla | dall'
until: fino a
before: prima di | prima del
after: dopo
between: tra | fra
User: a user
is: è | sono | si chiama | lavora come | fa il | fa la | fa l' | è impiegato come
is from: è di | viene da | viene dalla
was: era | fu
has: ha | hanno | possiede | c'è | soffre di
had: aveva
can: può | sa
must: deve
wants: vuole | vorrebbe | desidera
perhaps: forse
probably: probabilmente
also: anche | pure
only: solo | soltanto
always: sempre
often: spesso
sometimes: a volte | qualche volta
rarely: raramente
usually: di solito | normalmente
all: tutti | tutte | tutto
most: la maggior parte dei | la maggior parte delle
some: alcuni | alcune
works: lavora | è impiegato | è impiegata
worked: lavorava | lavorato
lives: abita | vive | risiede
lived: abitava | viveva | vissuto | abitato
likes: ama | adora | gli piace | le piace | piace | piacciono | piace molto | è appassionato di | è appassionata di
hates: odia | detesta | non piace | non piacciono | non sopporta
prefers: preferisce
favourite: preferito | preferita
eats: mangia
ate: mangiato
drinks: beve
drank: bevuto
buys: compra
bought: comprato | comprò | acquistato
sells: vende
sold: venduto
moved: trasferito | trasferita | si è trasferito | si è trasferita | traslocato
travels: viaggia
travelled: viaggiato | fatto un viaggio
plays: gioca | suona
played: giocato | suonato
studies: studia | impara
learned: studiato | imparato
teaches: insegna
speaks: parla
reads: legge
smokes: fuma
runs: corre
swims: nuota
costs: costa
pays: paga
earns: guadagna
needs: ha bisogno di
begins: comincia | inizia
began: cominciato | iniziato
ends: finisce
stopped: smesso di | ha smesso di
visits: visita
visited: visitato
met: incontrato
born: nato | nata
died: morto | morta
is spouse of: è sposato con | è sposata con
spouse: sposato | sposata
fears: ha paura di | ha paura dei | teme
allergic: allergico | allergica | allergia
job: impiego | mestiere | professione
: di professione | di mestiere
work: lavoro
company: azienda | ditta
boss: capo
doctor: medico | dottore
teacher: insegnante | maestro | maestra | professore
nurse: infermiere | infermiera
house: casa
flat: appartamento
car: macchina | auto
bike: bicicletta | bici
dog: cane | cani
cat: gatto | gatti
child: figli | bambini
holiday: vacanze | vacanza
money: soldi
rent: affitto
meat: carne
sea: mare
friend: amico | amica
sister: sorella | sorelle
brother: fratello | fratelli
mother: madre
father: padre
has : è padre di | è madre di
son: figlio
daughter: figlia | figlie
wife: moglie
husband: marito
uncle: zio
aunt: zia
cousin: cugino | cugina
in-law mother: suocera
in-law father: suocero
grandmother: nonna
grandfather: nonno
big: grande
small: piccolo | piccola
old: vecchio | vecchia
young: giovane
early: presto
late: tardi
much: molto
little: poco
at: presso
more: più
less: meno
red: rosso | rossa
blue: blu
green: verde
black: nero | nera
white: bianco | bianca
left-hand: sinistra | sinistro
right-hand: destra | destro
january: gennaio
february: febbraio
march: marzo
april: aprile
in May: a maggio | in maggio
may: maggio
june: giugno
july: luglio
august: agosto
september: settembre
october: ottobre
november: novembre
december: dicembre
monday: lunedì
tuesday: martedì
wednesday: mercoledì
thursday: giovedì
friday: venerdì
saturday: sabato
sunday: domenica
summer: estate
autumn: autunno
spring: primavera
winter: inverno
morning: mattina | la mattina
evening: sera | la sera
night: notte
yesterday: ieri
today: oggi
tomorrow: domani
last: scorso | scorsa | ultimo | ultima
next: prossimo | prossima
year: anno | anni
month: mese | mesi
week: settimana | settimane
day: giorno | giorni
hour: ora | ore
every day: ogni giorno | tutti i giorni | al giorno
every week: ogni settimana | tutte le settimane | alla settimana
every month: ogni mese | tutti i mesi | al mese
every year: ogni anno | tutti gli anni | all'anno
every morning: ogni mattina | tutte le mattine
2 times: due volte
3 times: tre volte
: si | che | suo | sua | suoi | sue | lui | lei | gli | ci | come | attualmente | tanto
0: zero
2: due
3: tre
4: quattro
5: cinque
6: sei
7: sette
8: otto
9: nove
10: dieci
11: undici
12: dodici
13: tredici
14: quattordici
15: quindici
16: sedici
17: diciassette
18: diciotto
19: diciannove
20: venti
30: trenta
40: quaranta
50: cinquanta
60: sessanta
70: settanta
80: ottanta
90: novanta
100: cento
1000: mille
""",
)
