"""Words that tell two sentences apart however alike they look: numbers, time, negation, units, modality, opposites."""

import re

_UNITS = """
percent: % percent per cent
euro: € eur euro euros | dollar: $ usd dollar dollars bucks | pound: £ gbp quid
yen: ¥ jpy yen | franc: chf franc francs
kilometre: km kilometre kilometres kilometer kilometers | mile: mi mile miles | metre: m metre metres meter meters
centimetre: cm centimetre centimetres centimeter centimeters | foot: ft foot feet | inch: inch inches
kilogram: kg kilo kilos kilogram kilograms | gram: g gram grams | pound_weight: lb lbs pounds pound
litre: l litre litres liter liters | gallon: gallon gallons
second: second seconds sec secs sekunde sekunden | minute: min mins minute minutes minuten
hour: h hr hrs hour hours stunde stunden | day: day days tag tage tagen | week: week weeks woche wochen
month: month months monat monate monaten | year: year years yr yrs jahr jahre jahren
celsius: °c celsius | fahrenheit: °f fahrenheit | gigabyte: gb gigabyte gigabytes | terabyte: tb terabyte terabytes
time_am: am a.m | time_pm: pm p.m
"""
_TIMES = """
january: january jan januar enero janvier | february: february feb februar febrero février
march: march märz marzo | april: april apr abril avril | june: june jun juni junio juin
july: july jul juli julio juillet
august: august aug agosto août | september: september sept sep septiembre septembre
october: october oct oktober octubre octobre | november: november nov noviembre novembre
december: december dec dezember diciembre décembre
monday: monday mondays montag lunes lundi | tuesday: tuesday tuesdays dienstag martes mardi
wednesday: wednesday wednesdays mittwoch miércoles mercredi | thursday: thursday thursdays donnerstag jueves jeudi
friday: friday fridays freitag viernes vendredi | saturday: saturday saturdays samstag sonnabend sábado samedi
sunday: sunday sundays sonntag domingo dimanche
yesterday: yesterday gestern ayer hier | today: today heute hoy | tomorrow: tomorrow morgen mañana demain
tonight: tonight | last: last letzten letzte letztes | next: next nächsten nächste nächstes | ago: ago | this: this
spring: spring | summer: summer sommer verano été | autumn: autumn fall herbst | winter: winter invierno hiver
morning: morning mornings | afternoon: afternoon afternoons | evening: evening evenings | night: night nights
weekend: weekend weekends wochenende | daily: daily | weekly: weekly | monthly: monthly | yearly: yearly annually
noon: noon midday | midnight: midnight | before: before vor | after: after nach | since: since seit
until: until till bis
christmas: christmas | easter: easter
"""
_NEGATIONS = (
    "not no never none nothing nobody nowhere neither nor cannot hardly barely "
    "nicht kein keine keinen keiner keinem nie niemals nunca jamás ne pas jamais aucun aucune rien non mai não "
    "niet geen nooit nie nigdy inte ikke aldrig не нет никогда"
)
_WITHOUT = "without ohne sin sans senza sem zonder bez utan uden uten без"
# Words that turn round what follows them, by what they make of it.
_FLIPS = """
ended: stop stops stopped stopping quit quits ended finished gave_up given_up no_longer anymore cancelled canceled
cancels ex former formerly abandoned dropped resigned
undone: failed fails forgot forgets refused refuses denied denies declined avoids avoid avoided skips skipped missed
lacks lack rejects rejected unable
nearly: almost nearly
pretended: pretends pretended fake supposedly allegedly
"""
BE = frozenset("is are am was were ist sind war est sont était es son era è zijn é jest".split())
HAVE = frozenset("has have had hat haben hatte ont avait tiene tenía ha aveva heeft tem ma".split())
PRESENT = frozenset("is are am has have does do isn't aren't doesn't don't ist sind hat est es está è é jest".split())
PAST = frozenset(
    "was were had did wasn't weren't didn't war waren hatte était avait era fue aveva foi byl była".split()
)
_MODALITIES = """
possible: may might could perhaps maybe possibly probably likely vielleicht wahrscheinlich quizás peut-être
wish: want wants wanted wish wishes wished hope hopes hoped dreams möchte quiere veut
plan: plan plans planned planning intends intend intended going_to will shall considers considering thinking_of
duty: must should ought has_to have_to had_to needs_to need_to required muss soll
past: used_to formerly previously former früher
try: try tries tried trying attempts attempted
pretend: pretends pretended imagines imagined if would
"""
# Each line is one scale; two sentences that stand at different points of it do not say the same.
_SCALES = """
likes: like likes liked love loves loved enjoy enjoys enjoyed adore adores fond mag liebt gusta encanta aime ama
 piace houdt
 | dislike dislikes disliked hate hates hated detest detests avoids avoid loathes loathe hasst
always: always | usually mostly often frequently | sometimes occasionally | rarely seldom
all: all every everyone everything | some | most | few
start: start starts started starting begin begins began joined joins
 | stop stops stopped quit quits ended end ends left leaves
more: more increase increased increases gained raised raises rose | less fewer decrease decreased decreases lowered lost
buy: bought buy buys | sold sell sells | rents rent rented | borrowed borrows | returned returns
give: gave gives | received receives got
win: won win wins | lost loses lose
pass: passed passes | failed fails
married: married | divorced | single | engaged | widowed
size: big large huge | small tiny little | medium
age: older elder | younger
speed: fast faster quick | slow slower
heat: hot warm | cold cool iced
rise: early | late
light: light bright | dark
side: left-hand | right-hand
order: first | second | third | final
colour: red | blue | green | yellow | black | white | orange | purple | pink | brown | grey gray
diet: vegan | vegetarian | pescatarian
drink: coffee espresso | tea | beer | wine | water | juice | milk
animal: dog dogs puppy | cat cats kitten | horse | rabbit | bird parrot
kin: sister sisters | brother brothers | mother mom mum | father dad | son sons | daughter daughters | wife | husband
 | hermano | hermana | hijo | hija | padre | madre | frère | sœur | mère | père | fils | fille
 | bruder | schwester | mutter | vater | sohn | söhne | tochter | töchter
 | aunt | uncle | cousin | grandmother grandma | grandfather grandpa | niece | nephew
work: full-time | part-time | freelance
compass: north northern | south southern | east eastern | west western
allowed: allowed allow allows accepted accepts approved
 | forbidden forbid forbids rejected rejects refused declined denied
direction: to | from
"""


def _table(text: str) -> dict[str, str]:
    entries = [entry for line in text.strip().splitlines() for entry in line.split(" | ")]
    return {
        word: name.strip() for name, _, words in (entry.partition(":") for entry in entries) for word in words.split()
    }


def _scales(text: str) -> dict[str, tuple[str, int]]:
    lines = text.strip().replace("\n ", " ").splitlines()
    return {
        word: (name, point)
        for name, _, points in (line.partition(":") for line in lines)
        for point, words in enumerate(points.split("|"))
        for word in words.split()
    }


A_WISH = re.compile(r"\bwould (?:like|love)\b")  # is "wants", not "would" and "like"
UNITS: dict[str, str] = _table(_UNITS)
TIMES: dict[str, str] = _table(_TIMES)
MODALITIES: dict[str, str] = _table(_MODALITIES)
NEGATIONS: frozenset[str] = frozenset(_NEGATIONS.split())
WITHOUT: frozenset[str] = frozenset(_WITHOUT.split())
FLIPS: dict[str, str] = _table(_FLIPS)
SCALES: dict[str, tuple[str, int]] = _scales(_SCALES)
RELATIVE_TIMES = frozenset("yesterday today tomorrow tonight last next ago this morning evening night weekend".split())
MONTHS = "january february march april may june july august september october november december".split()
NUMBER_WORDS: dict[str, str] = {
    word: str(number)
    for number, words in {
        0: "zero null cero", 2: "two zwei dos deux twice both couple",
        3: "three drei tres trois", 4: "four vier cuatro quatre",
        5: "five fünf cinco cinq", 6: "six sechs seis",
        7: "seven sieben siete", 8: "eight acht ocho huit",
        9: "nine neun nueve neuf", 10: "ten zehn diez dix", 11: "eleven elf", 12: "twelve zwölf dozen", 13: "thirteen",
        14: "fourteen", 15: "fifteen",
        16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty zwanzig",
        30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety", 100: "hundred",
        1000: "thousand", 1000000: "million",
    }.items()
    for word in words.split()
}  # fmt: skip
# Words that may open a sentence with a capital without being a name.
OPENERS = frozenset(
    """
    the a an in on at for with when while if always never every no not some all most many both before after since
    until during last next this that these those it there here and but or so as by from to of about please do does
    did is are was were has have had will would can could should may might must der die das ein eine el la los las
    un una le les il lo
    """.split()
)
