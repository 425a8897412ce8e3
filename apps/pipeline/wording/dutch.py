"""Dutch in English words."""

from apps.pipeline.wording.tongue import tongue

DUTCH = tongue(
    name="nl",
    stemmer="dutch",
    table="""
the: de | het
a: een
of: van
not: niet | geen
not anymore: niet meer | geen meer
never: nooit
without: zonder
and: en
or: of
with: met
to: naar
in: in
at: bij
near: vlak bij | dicht bij
on: op
for: voor | sinds | al
until: tot
before: vóór
after: na
between: tussen
is: is | zijn | heet | werkt als | is werkzaam als | is in dienst als
is from: komt uit
was: was | waren
has: heeft | hebben | bezit
had: had | hadden
can: kan | kunnen
may: mag
must: moet
wants: wil | zou graag
perhaps: misschien
probably: waarschijnlijk
also: ook
only: alleen | enkel | slechts
always: altijd
often: vaak
sometimes: soms
rarely: zelden
usually: meestal
all: alle | alles
most: de meeste
some: sommige
works: werkt | is werkzaam
worked: werkte | gewerkt
lives: woont | leeft
lived: woonde | gewoond
likes: houdt van | vindt leuk | vindt lekker | is dol op | is gek op | lust
hates: haat | heeft een hekel aan | houdt niet van | vindt niet leuk | lust geen
likes : eet graag | drinkt graag
gladly: graag
prefers: verkiest | heeft liever
favourite: favoriete | lievelings
eats: eet
drinks: drinkt
buys: koopt
bought: kocht | gekocht
sells: verkoopt
sold: verkocht
moved: verhuisde | verhuisd
travels: reist
travelled: reisde | gereisd
plays: speelt
played: speelde | gespeeld
studies: studeert | leert
learned: studeerde | leerde
teaches: geeft les in | onderwijst
speaks: spreekt
reads: leest
smokes: rookt
swimming: zwemmen
swims: zwemt
runs: loopt hard | rent
costs: kost
pays: betaalt
earns: verdient
needs: heeft nodig
begins: begint | start
began: begon
stopped: stopte | gestopt
visits: bezoekt
visited: bezocht
born: geboren
died: stierf | overleed | overleden
is spouse of: is getrouwd met
spouse: getrouwd
married: trouwde
fears: is bang voor | heeft angst voor | vreest
allergic: allergisch | allergie
goes by bike: gaat met de fiets | fietst
job: baan | beroep
: van beroep
work: werk
company: bedrijf
boss: baas
doctor: arts | dokter
teacher: leraar | lerares | docent
nurse: verpleegkundige
house: huis
flat: appartement
car: auto
bike: fiets
dog: hond | honden
cat: kat | katten
child: kinderen
holiday: vakantie
money: geld
rent: huur
meat: vlees
fish: vis
friend: vriend | vriendin
sister: zus | zussen
brother: broer | broers
mother: moeder
father: vader
son: zoon
daughter: dochter | dochters
wife: vrouw
husband: man | echtgenoot
uncle: oom
aunt: tante
in-law mother: schoonmoeder
in-law father: schoonvader
grandmother: oma
grandfather: opa
big: groot | grote
small: klein | kleine
old: oud | oude
young: jong | jonge
early: vroeg
late: laat
much: veel
little: weinig
more: meer
less: minder
red: rood | rode
blue: blauw | blauwe
green: groen | groene
black: zwart | zwarte
white: wit | witte
left-hand: links | linker
right-hand: rechts | rechter
january: januari
february: februari
march: maart
in May: in mei
may: mei
june: juni
july: juli
august: augustus
october: oktober
monday: maandag
tuesday: dinsdag
wednesday: woensdag
thursday: donderdag
friday: vrijdag
saturday: zaterdag
sunday: zondag
summer: zomer
autumn: herfst
spring: lente | voorjaar
morning: ochtend
evening: avond
night: nacht
yesterday: gisteren
today: vandaag
tomorrow: morgen
last: vorige | afgelopen
next: volgende
year: jaar | jaren
month: maand | maanden
week: weken
day: dag | dagen
hour: uur | uren
years old: jaar oud
every day: elke dag | iedere dag | dagelijks | per dag
every week: elke week | iedere week | wekelijks | per week
every month: elke maand | iedere maand | maandelijks | per maand
every year: elk jaar | ieder jaar | jaarlijks | per jaar
every morning: elke ochtend | iedere ochtend
2 times: twee keer | tweemaal
3 times: drie keer | driemaal
: die | dat | te | zeer | heel | zich | er | nog | om | momenteel | haar | hij | ze
0: nul
2: twee
3: drie
4: vier
5: vijf
6: zes
7: zeven
8: acht
9: negen
10: tien
11: elf
12: twaalf
13: dertien
14: veertien
15: vijftien
16: zestien
17: zeventien
18: achttien
19: negentien
20: twintig
30: dertig
40: veertig
50: vijftig
60: zestig
70: zeventig
80: tachtig
90: negentig
100: honderd
1000: duizend
""",
)
