"""Scales of opposites and of values that exclude each other, such as colours."""

from apps.pipeline.lexicon import kinship

# Each line is a scale with its points; words at the same point are interchangeable.
_SCALES = """
likes: like likes liked love loves loved enjoy enjoys enjoyed adore adores fond piace | dislike dislikes disliked hate
 hates hated detest detests avoids avoid loathes loathe despises
always: always | usually mostly often frequently | sometimes occasionally | rarely seldom
all: all every everyone everybody everything | some several | most | few | half | none nobody
focus: only solely exclusively | also too
start: start starts started starting begin begins began joined joins opens opened open enters entered
 | stop stops stopped quit quits ended end ends left leaves closes closed shuts exits exited finishes
more: more increase increased increases gained gains raised raises rose growing
 | less fewer decrease decreased decreases lowered lost shrinking reduced reduces
better: better improved improves improving | worse worsened worsens worsening
amount: much lots | little few
best: best | worst
good: good great excellent | bad poor terrible awful
buy: bought buy buys | sold sell sells | rents rent rented leases | borrowed borrows
lend: lends lend lending loaned | borrows borrowed borrow
give: gave gives | received receives got | took takes
teach: teaches teach taught | learns learn studies
spend: spends spent | saves saved earns earned
win: won win wins | lost loses lose
pass: passed passes | failed fails
arrive: arrives arrived arriving | departs departed departing
come: came comes | went goes
push: pushes pushed | pulls pulled
accept: accept accepted accepts approved agreed | reject rejected rejects refused declined
allowed: allowed allow allows permitted | forbidden forbid forbids banned prohibited
remember: remembers remembered | forgets forgot
agree: agrees agreed | disagrees disagreed
appear: appeared appears | disappeared disappears
trust: trusts trusted | distrusts mistrusts
support: supports supported | opposes opposed
married: married spouse | divorced separated | single unmarried | engaged | widowed
alive: alive living | dead died
sex: man men boy boys male | woman women girl girls female
size: big large huge enormous bigger larger biggest largest | small tiny little smaller smallest | medium
height: tall taller tallest | short shorter shortest
length: long longer longest | short shorter shortest brief
high: high higher highest | low lower lowest
weight: heavy heavier heaviest | light lighter lightest
width: wide broad wider widest | narrow narrower narrowest
depth: deep deeper | shallow
age: older elder oldest eldest | younger youngest
old: old | young new
rank: senior | junior
speed: fast faster fastest quick quickly | slow slower slowest slowly
heat: hot warm hotter warmer | cold cool iced colder cooler
rise: early earlier | late later
lightness: light bright | dark
sound: loud noisy | quiet silent
strength: strong stronger strongest | weak weaker weakest
money: rich wealthy | poor
price: cheap cheaper cheapest inexpensive | expensive pricey
ease: easy easier | difficult hard harder
safety: safe | dangerous
clean: clean tidy | dirty filthy messy
full: full | empty
wet: wet damp | dry
taste: sweet | sour | salty | bitter | spicy hot | mild
cooking: raw | cooked boiled | fried | grilled baked roasted
mood: happy glad | sad | angry | afraid | bored
health: healthy well | ill sick unwell
side: left-hand left | right-hand right
vertical: upstairs up above over | downstairs down below under underneath beneath
depthwise: front | behind back rear
inside: inside indoors indoor | outside outdoors outdoor
open: open | closed shut
public: public | private
urban: city town urban | countryside rural village country
front: front | back
order: first | second | third | fourth | last final
bound: least minimum | maximum
compass: north northern northwest northeast | south southern southwest southeast
longitude: east eastern | west western
colour: red | blue | green | yellow | black | white | orange | purple | pink | brown | grey gray | silver | gold golden
 | beige | turquoise
diet: vegan | vegetarian veggie | pescatarian
drink: coffee espresso | tea | beer | wine | water | juice | milk | cocoa | lemonade | whisky | vodka
animal: dog dogs puppy | cat cats kitten | horse horses | rabbit rabbits | bird birds | parrot parrots | hamster | fish
 | cow cows | sheep | pig pigs | goat goats | duck ducks
work: full-time | part-time | freelance
side_of_trade: employer | employee
letting: landlord | tenant
hosting: host | guest
care: doctor | patient
schooling: teacher | pupil student
limb: arm arms | leg legs | hand hands | foot feet | knee knees | elbow | shoulder shoulders | hip | wrist | ankle
 | finger | toe | neck | back
meal: breakfast | lunch | dinner supper
shift: daytime day | night nighttime
direction: to into | from
school: primary elementary | secondary | nursery
"""

_KIN = "\nkin: parents parent | " + " | ".join(" ".join(sorted(words)) for words in kinship.contrasts())


def _scales(text: str) -> dict[str, tuple[tuple[str, int], ...]]:
    lines = text.strip().replace("\n ", " ").splitlines()
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for name, _, points in (line.partition(":") for line in lines):
        for point, words in enumerate(points.split("|")):
            for word in words.split():
                found[word] = (*found.get(word, ()), (name, point))
    return found


SCALES: dict[str, tuple[tuple[str, int], ...]] = _scales(_SCALES + _KIN)
