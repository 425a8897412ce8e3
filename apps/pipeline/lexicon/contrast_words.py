"""Words that make two similar sentences different: units, times, negation, modality, reversals."""

import re

from apps.pipeline.lexicon import calendar, kinship, language
from apps.pipeline.lexicon.tables import alternation

_UNITS = """
percent: % percent per cent
euro: € eur euro euros | dollar: $ usd dollar dollars bucks | pound: £ gbp quid pounds
yen: ¥ jpy yen | franc: chf franc francs | krona: krona kronor krone kroner | zloty: zloty zlotys pln
rupee: rupee rupees
peso: peso pesos | yuan: yuan rmb | cent: cent cents
kilometre: km kilometre kilometres kilometer kilometers | mile: mi mile miles | metre: m metre metres meter meters
centimetre: cm centimetre centimetres centimeter centimeters | millimetre: mm millimetre millimetres
foot: ft foot feet | inch: inch inches | yard: yards
kilogram: kg kilo kilos kilogram kilograms | gram: g gram grams | pound_weight: lb lbs pound | milligram: mg milligrams
ounce: oz ounce ounces | tonne: tonne tonnes ton tons | stone: stone
litre: l litre litres liter liters | gallon: gallon gallons | millilitre: ml millilitres | pint: pint pints
acre: acre acres | hectare: hectare hectares
second: seconds sec secs | minute: minute min mins minutes | hour: h hr hrs hour hours | day: day days
week: week weeks | month: month months | year: year years yr yrs | decade: decade decades | century: century centuries
night: nights
celsius: °c celsius | fahrenheit: °f fahrenheit | megabyte: mb megabytes | gigabyte: gb gigabyte gigabytes
terabyte: tb terabyte terabytes | watt: watt watts | volt: volt volts | calorie: calorie calories kcal
cup: cup cups | glass: glass glasses | bottle: bottle bottles | box: box boxes | bag: bag bags | can: cans
slice: slice slices
spoon: spoon spoons teaspoon teaspoons tablespoon tablespoons | tablet: tablet tablets pill pills | drop: drops
piece: piece pieces | packet: packet packets pack packs
"""
_TIMES = """
yesterday: yesterday | today: today | tomorrow: tomorrow | tonight: tonight | last: last | next: next | ago: ago
this: this
morning: morning mornings | afternoon: afternoon afternoons | evening: evening evenings | night: night nights
weekend: weekend weekends | weekday: weekday weekdays
hourly: hourly | daily: daily | weekly: weekly | fortnightly: fortnightly | monthly: monthly | yearly: yearly
noon: noon midday | midnight: midnight | before: before | after: after | since: since
until: until till | christmas: christmas | easter: easter | breakfast: breakfast | lunch: lunch
twenties: twenties 20s | thirties: thirties 30s | forties: forties 40s | fifties: fifties 50s | sixties: sixties 60s
seventies: seventies 70s | eighties: eighties 80s | nineties: nineties 90s
"""
_NEGATIONS = "not never none nothing nobody nowhere neither nor hardly barely"
# Words that reverse what follows them, by the resulting meaning.
_FLIPS = """
ended: stop stops stopped stopping quit quits ended finished anymore cancelled canceled
cancels ex former formerly abandoned dropped resigned
undone: failed fails forgot forgets refused refuses denied denies declined avoids avoid avoided skips skipped missed
lacks lack rejects rejected unable
nearly: almost nearly
pretended: pretends pretended fake supposedly allegedly
"""
BE = frozenset("is are am was were jest".split())
HAVE = frozenset("has have had ma".split())
PRESENT = frozenset("is are am has have does do jest".split())
PAST = frozenset("was were had did był była".split())
_MODALITIES = """
possible: may might could perhaps maybe possibly probably likely
wish: want wants wanted wish wishes wished hope hopes hoped dreams
plan: plan plans planned planning intends intend intended going_to will shall considers considering thinking_of
thinking_about
duty: must should ought
ability: can
past: used_to formerly previously former
try: try tries tried trying attempts attempted
pretend: pretends pretended imagines imagined if would
belief: believes believe thinks suspects supposes assumes guesses reckons claims says doubts
knowledge: knows know
permission: allowed permitted
"""
# Words that exclude everything else.
FOCUS: frozenset[str] = frozenset("only solely exclusively merely".split())
# Relatives by blood and partners, whom words such as "step" or "in-law" change to others.
_KIN = (
    kinship.forms_of_kin("parent", "sibling", "child", "aunt or uncle", "cousin", "niece or nephew")
    | kinship.partners()
) - {"ex"}
_DEGREES = "step great ex half god foster adoptive adopted"
KINSHIP = re.compile(rf"\b(?:in-laws?|(?:{_DEGREES.replace(' ', '|')})[- ]?(?=[a-z]*(?:{alternation(_KIN)})s?\b))")
_BOUNDS = """
least: at least | no less than | a minimum of | more than | over | not less than
most: at most | no more than | a maximum of | less than | under | up to | fewer than | below | not more than
exact: exactly | precisely
"""
# Particles that make another verb of a verb.
_PARTICLES = "in out | on off | up down | over under | into out | back away | in off"


def table(text: str) -> dict[str, str]:
    """Read lines "name: words | name: words" as the name of each word."""
    entries = [entry for line in text.strip().splitlines() for entry in line.split(" | ")]
    found: dict[str, str] = {}
    name = ""
    for entry in entries:
        head, colon, words = entry.rpartition(":")
        name = head.strip() if colon else name
        found.update(dict.fromkeys(words.split(), name))
    return found


def _bounds() -> tuple[tuple[re.Pattern[str], str], ...]:
    lines = (line.partition(":") for line in _BOUNDS.strip().splitlines())
    return tuple(
        (re.compile(rf"\b(?:{'|'.join(each.strip() for each in phrases.split('|'))}) (?=\w*\d|[a-z]+ \d)"), name)
        for name, _, phrases in lines
    )


A_WISH = re.compile(r"\bwould (?:like|love)\b")  # is "wants", not "would" and "like"
UNITS: dict[str, str] = table(_UNITS)
TIMES: dict[str, str] = calendar.NAMES | table(_TIMES)
MODALITIES: dict[str, str] = table(_MODALITIES)
NEGATIONS: frozenset[str] = frozenset(_NEGATIONS.split()) | language.NEGATIONS
WITHOUT: frozenset[str] = language.WITHOUT | {"without"}
FLIPS: dict[str, str] = table(_FLIPS)
BOUNDS = _bounds()
PARTICLES: dict[str, frozenset[str]] = {
    word: frozenset(
        other for pair in _PARTICLES.split(" | ") if word in pair.split() for other in pair.split() if other != word
    )
    for word in set(_PARTICLES.replace("|", "").split())
}
RELATIVE_TIMES = frozenset("yesterday today tomorrow tonight last next ago this morning evening night weekend".split())
# Words that may be capitalised at the start of a sentence without being names.
OPENERS = frozenset(
    """
    the a an in on at for with when while if always never every no not some all most many both before after since
    until during last next this that these those it there here and but or so as by from to of about please do does
    did is are was were has have had will would can could should may might must der die das ein eine el la los las
    un una le les il lo im am seit depuis hace há em en
    """.split()
)
