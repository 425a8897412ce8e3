"""English words that say the same, each line one meaning; verbs stand in their base form."""

from apps.pipeline.wording.verbs import base_of

# Only words whose exchange changes nothing that a memory would hold; what they may differ in, a guard compares.
_MEANINGS = """
work employ employee employment labour
live reside dwell inhabit residence resident
buy purchase acquire
move relocate
break fracture
leave depart departure
keep follow stick
train prepare practise practice
fear afraid scare frighten terrify phobia dread
like love enjoy adore fond fancy appreciate keen
hate detest loathe despise dislike
child kid children kids
boss manager manage supervisor superior
company firm employer enterprise
flat apartment
car automobile auto vehicle
bike bicycle cycle
motorbike motorcycle
film movie cinema
holiday vacation
photo picture photograph photography
study learn student
doctor physician
lawyer attorney solicitor advocate
ill sick unwell illness sickness disease
need require
finish complete conclude
talk speak chat converse conversation
gift present
salary wage pay income earnings
near nearby close
rest relax unwind
dream goal ambition aim
send mail
help assist aid support assistance
repair fix mend
build construct
choose pick select
teach instruct taught teacher
shop store
travel trip journey voyage
wake awake
prefer favour
want wish desire
begin start commence
end finish
pass succeed
cook prepare
meet meeting appointment encounter
hurt injure injury wound
pain ache hurt
medicine medication drug pill tablet
marry wed wedding marriage
spouse wife husband
baby infant newborn
birth born
house home
job position role post occupation profession
university college uni
degree diploma
doctorate phd
colleague coworker co-worker workmate
friend buddy pal mate
team crew
meal dish
dinner supper
luggage baggage
taxi cab
subway metro underground tube
plane airplane aircraft
laptop notebook
phone mobile cellphone smartphone telephone
couch sofa settee
garden yard
trousers pants
autumn fall
glasses spectacles
money cash
cheap inexpensive affordable
expensive pricey costly dear
quick fast rapid swift
important crucial essential vital
about around approximately roughly circa
big large huge enormous
small little tiny
beautiful pretty lovely attractive
angry furious mad
happy glad pleased cheerful delighted
sad unhappy sorrowful
tired exhausted weary
difficult hard tough challenging
easy simple straightforward effortless
volunteer voluntary
run jog
walk stroll
read reading
write author
organise organize arrange
plan intend
celebrate celebration
receive get obtain
lend loan
find discover
win victory
rescue save
hire recruit
fire dismiss sack
promote promotion
retire retirement
call phone ring telephone
answer reply respond response
ask enquire inquire
use utilise utilize employ
collect gather
sleep asleep
smoke smoker
raise increase
arrive arrival
stay remain
join enter
handle manage
lead head leader
quit stop cease anymore resign abandon
cancel end terminate
reject refuse decline
accept approve
seek hunt
own possess owner
have hold
separate split
die dead deceased death
fat overweight obese
rich wealthy
error mistake
famous renowned well-known
quiet silent
brave courageous
smart clever intelligent bright
stupid dumb
funny amusing humorous
strange odd weird
scary frightening
sure certain
correct right
wrong incorrect
whole entire complete
quickly fast rapidly
allergy allergic allergen
diabetes diabetic
asthma asthmatic
vegetarian veggie
movie film
song tune
rubbish trash garbage waste
pavement sidewalk
lift elevator
petrol gasoline gas
sweet candy
biscuit cookie
crisp chip
football soccer
lorry truck
neighbour neighbor
favourite favorite best
colour color
centre center downtown
theatre theater
metre meter
litre liter
grey gray
mum mom mother
dad father
grandma grandmother granny nana
grandpa grandfather granddad
pupil schoolchild
hospital clinic
gym fitness
television tv telly
computer pc
internet web
wage pay salary
rent lease
guest visitor
party celebration
present gift
kitten kitty
puppy pup
dog hound
cat feline
road street
country nation
language tongue
native mother-tongue
exam test examination
lesson class course
homework assignment
thesis dissertation
plumber plumbing
carpenter carpentry
gardener garden gardening
baker bakery
musician music
drink beverage
eat consume
shut close
rapidly quickly
drive driver
steal rob theft thief
damage harm
paint painter painting
sing singer singing
dance dancer dancing
swim swimmer swimming
hike hiker hiking
climb climber climbing
fish fisherman fishing
hunt hunter hunting
ski skier skiing
play player
weigh weight
cost price
owe debt
lose loss misplace
remember recall
believe think suppose
know aware
try attempt
promise pledge vow
decide decision
suggest propose recommend
complain complaint
apologise apologize sorry
thank grateful thankful
invite invitation
introduce introduction
argue quarrel argument
obtain get
change alter modify
replace substitute
throw toss
throw discard
close shut
watch view
smell scent odour odor
taste flavour flavor
wash clean
stomach belly tummy
surgery operation
therapy treatment
injection jab shot vaccination
flu influenza
fever temperature
pregnant expecting
fiancé fiancée
engaged engagement
divorce divorced
brief short
wide broad
strong powerful
loud noisy
cold chilly
wet damp
dirty filthy
clean tidy
old elderly
normal regular ordinary
rare uncommon
strict stern
shy timid
rude impolite
polite courteous
kind nice friendly
jealous envious
nervous anxious
calm peaceful
excited thrilled
surprised astonished amazed
confused puzzled
worried concerned
start beginning
midday noon
night overnight
"""


def _by_base() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _MEANINGS.strip().splitlines():
        words = [base_of(word) for word in line.split()]
        meaning = found.get(words[0], words[0])
        for word in words:
            found.setdefault(word, meaning)
    return found


MEANINGS: dict[str, str] = _by_base()


def meaning_of(word: str) -> str:
    """Return the word that stands for a lower-case word and all that say the same."""
    base = base_of(word)
    return MEANINGS.get(base, base)
