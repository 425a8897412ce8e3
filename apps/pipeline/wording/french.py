"""French in English words."""

from apps.pipeline.wording.tongue import tongue

FRENCH = tongue(
    name="fr",
    stemmer="french",
    elides=True,
    brackets=r"(?<!\w)(ne|n') (\w+) (plus|jamais|pas)\b",
    table="""
the: le | la | les | l'
a: un | une
of: de | du | des | d'
not: ne pas | n' pas | n' | ne | pas | aucun | aucune
not anymore: ne plus | n' plus
never: jamais | ne jamais | n' jamais
without: sans
and: et
or: ou
with: avec
to: à | au | aux | vers
in: dans | en
at: chez
near: près de | à côté de | proche de
on: sur
for: pour | depuis
under: sous
behind: derrière
before: avant
after: après
until: jusqu'à | jusqu'en
between: entre
is: est | sont | s'appelle | se nomme | travaille comme | travaille en tant que | est employé comme
is: exerce le métier de | gagne sa vie comme
is from: vient de | est originaire de
was: était | étaient | fut | travaillait comme
has: a | ont | possède | il y a | détient
had: avait | avaient
can: peut | sait
must: doit | il faut que
wants: veut | voudrait | aimerait | souhaite
perhaps: peut-être
probably: probablement
also: aussi | également
only: seulement | uniquement
always: toujours
often: souvent | fréquemment
sometimes: parfois | quelquefois
rarely: rarement
usually: d'habitude | normalement
all: tous | toutes | tout
most: la plupart
some: certains | certaines | quelques
works: travaille | est employé | est employée
worked: travaillait | travaillé
lives: habite | vit | réside | demeure | est domicilié
lived: habitait | vivait | habité | vécu
likes: aime | aime beaucoup | aime bien | adore | apprécie | est fan de | est passionné de | est passionnée de
likes: raffole de
hates: déteste | n'aime pas | n'aime pas du tout | a horreur de | ne supporte pas | ne supporte pas du tout
prefers: préfère
favourite: préféré | préférée
eats: mange
ate: mangé
drinks: boit
drank: bu
bought: acheté | acheta | a fait l'achat de | acquis
buys: achète
sells: vend
sold: vendu
moved: déménagé | emménagé | s'est installé | s'est installée
travels: voyage | part en voyage
travelled: voyagé | fait un voyage
plays: joue
played: joué
studies: étudie | apprend | fait des études de
learned: étudié | appris
teaches: enseigne
speaks: parle
spoke: parlé
reads: lit
smokes: fume
runs: court | fait du jogging | fait de la course à pied
swims: nage | fait de la natation
costs: coûte
pays: paie | paye
earns: gagne
needs: a besoin de
begins: commence | débute
began: commencé | débuté
ends: finit | se termine
stopped: arrêté | a cessé
visits: visite | rend visite à
visited: visité
met: rencontré
born: né | née
died: mort | morte | décédé | décédée
is spouse of: est marié à | est mariée à | est marié avec | est mariée avec
spouse: marié | mariée
passed: réussi
failed: raté | échoué
fears: a peur de | a peur des | a peur du | craint | redoute
has: souffre de
allergic: allergique | allergie
job: emploi | métier | poste | profession
: de profession | de métier
work: travail | boulot
company: entreprise | société
boss: chef | patron | patronne
doctor: médecin
teacher: professeur | enseignant | enseignante | prof
nurse: infirmier | infirmière
house: maison
flat: appartement
car: voiture
bike: vélo
dog: chien | chiens
cat: chat | chats
child: enfant | enfants
holiday: vacances
money: argent
rent: loyer
meat: viande
friend: ami | amie | amis
sister: sœur | sœurs
brother: frère | frères
mother: mère
father: père
has : est père de | est mère de
son: fils
daughter: fille | filles
wife: femme | épouse
husband: mari | époux
uncle: oncle
aunt: tante
cousin: cousine
grandmother: grand-mère
grandfather: grand-père
in-law mother: belle-mère
in-law sister: belle-sœur
in-law brother: beau-frère
in-law father: beau-père
big: grand | grande | gros | grosse
small: petit | petite
old: vieux | vieille | âgé | âgée
young: jeune
good: bon | bonne
bad: mauvais | mauvaise
warm: chaud | chaude
cold: froid | froide
early: tôt
late: tard
much: beaucoup
little: peu
fluently: couramment
speaks: maîtrise
wakes: se lève | se réveille | lève | réveille
more: plus
less: moins
red: rouge
blue: bleu | bleue
green: vert | verte
black: noir | noire
white: blanc | blanche
left-hand: gauche
right-hand: droite | droit
january: janvier
february: février
march: mars
april: avril
may: mai
in May: en mai
june: juin
july: juillet
august: août
september: septembre
october: octobre
november: novembre
december: décembre
monday: lundi | lundis
tuesday: mardi | mardis
wednesday: mercredi
thursday: jeudi
friday: vendredi
saturday: samedi
sunday: dimanche
summer: été
autumn: automne
spring: printemps
winter: hiver
morning: matin | le matin
evening: soir | le soir
afternoon: après-midi
night: nuit
yesterday: hier
today: aujourd'hui
tomorrow: demain
last: dernier | dernière
next: prochain | prochaine
year: an | ans | année | années
month: mois
week: semaine | semaines
day: jour | jours
hour: heure | heures
years old: ans
every day: chaque jour | tous les jours | par jour | quotidiennement
every week: chaque semaine | toutes les semaines | par semaine
every month: chaque mois | tous les mois | par mois
every year: chaque année | tous les ans | par an
every morning: chaque matin | tous les matins
every evening: chaque soir | tous les soirs
2 times: deux fois
3 times: trois fois
first: premier | première
: se | s' | qui | que | qu' | y | son | sa | ses | leur | très | bien | ce | cette | c' | c'est | comme | il | elle
: actuellement | en ce moment | fait
0: zéro
2: deux
3: trois
4: quatre
5: cinq
6: six
7: sept
8: huit
9: neuf
10: dix
11: onze
12: douze
13: treize
14: quatorze
15: quinze
16: seize
17: dix-sept
18: dix-huit
19: dix-neuf
20: vingt
30: trente
40: quarante
50: cinquante
60: soixante
70: soixante-dix
80: quatre-vingts | quatre-vingt
90: quatre-vingt-dix
100: cent
1000: mille
""",
)
