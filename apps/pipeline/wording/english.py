"""English turns of phrase by the plain words that say the same.

Where a line begins with ~, the first verb of each phrase stands for all its forms, and what is said takes its tense:
"was fond of" is "liked".
"""

TURNS = """
~like: be fond of | be keen on | be into | be a fan of | be a big fan of | be a great fan of | be a huge fan of
~like: be crazy about | be mad about | be enthusiastic about | be passionate about | be partial to | be a lover of
~like: have a passion for | have a soft spot for | have a liking for | have a fondness for | be interested in
~like: be a keen | be an avid | be a passionate | be an enthusiastic | be hooked on | take pleasure in | care for
~dislike: do not like | do not enjoy | do not love | do not care for | do not fancy | be averse to
~dislike: have an aversion to | have a dislike of | can not stand | can not bear | can not abide | can not tolerate
dislikes: not likes | not like
disliked: not liked
~fear: be afraid of | be scared of | be frightened of | be terrified of | have a fear of | have a phobia of
~be: work as | be employed as | be working as | have a job as | be a professional | earn a living as | make a living as
~be: serve as | be self-employed as | make his living as | make her living as
~be from: come from | originate from | hail from | be originally from
~live in: have a home in | be based in | be resident in | be a resident of
~have: have got | be in possession of | be affected by | be diagnosed with | be afflicted with | suffer from
~have not: have not got | do not have
~have degree in: graduate in | have a degree in | hold a degree in
~have a doctorate: hold a phd | hold a doctorate | have a phd
~have allergy to: be allergic to | have an allergy to
~belong to: be a member of
~own: be the owner of | be an owner of
~manage: be responsible for | be in charge of | have responsibility for
~study at: be a student at | be enrolled at | attend university at | be enrolled in
~study: be a student of
~meet: have a meeting with | get together with | meet with | meet up with
fired: is fired | was fired | were fired | got fired | got the sack | was sacked | was let go | was laid off
fired: was dismissed | was made redundant | got sacked | has been fired | has been laid off
~promote: be promoted | get promoted | get a promotion | have a promotion | receive a promotion
plans to marry: is getting married | are getting married | is about to get married
~be engaged: get engaged
~be spouse of: be married to
~marry: get married to | get married | tie the knot with | tie the knot | get hitched
~separate: split up with | split up | break up with | break up | part ways | separate from
~divorce: get divorced | get a divorce
~die: pass away | lose his life | lose her life
is dead: is no longer alive | is not alive | is deceased
are dead: are no longer alive | are not alive | are deceased
~bear: give birth to | have a baby
~bear girl: give birth to a girl | have a baby girl | give birth to a daughter
~bear boy: give birth to a boy | have a baby boy | give birth to a son
~wake: wake up | get up
~sleep: go to bed | go to sleep | sleep
~return: come back | go back | get back
~quit: give up | kick the habit of
~retire: stop working
~reject: turn down | say no to
~accept: take up | say yes to
~tend: look after | take care of
~seek: look for | search for | be on the lookout for
~seek job: be job hunting | be job-hunting | hunt for a job
~have no job: be unemployed | be out of work | be jobless | be without a job | do not have a job | be between jobs
~join in: take part in | participate in
~happen: take place | be held
~grow up in: be raised in | be brought up in
is pregnant: is expecting a baby | is expecting
~photograph: take pictures | take photos | take photographs
~do: carry out
~buy groceries: do the grocery shopping | do grocery shopping | do the food shopping | go grocery shopping
~exercise: work out | do sports | do exercise
~remember: keep in mind | bear in mind
~find: find out
~plan to: be planning to | intend to | have plans to | aim to | be about to | be intending to
~want to: be eager to | be keen to | wish to
want to: would like to | would love to
want: would like | would love
prefers: would rather | would sooner
must: have to | has to | need to | needs to | is required to | are required to | is obliged to | has got to
can: is able to | are able to | is capable of | knows how to | know how to
can not: is unable to | are unable to | is not able to | is incapable of | does not know how to
could not: was unable to | was not able to
~be called: go by the name of
near: close to | next to | in the vicinity of | not far from | in the neighbourhood of
because: due to | owing to | on account of | because of
for a day: for a day
for a week: for a week
for a month: for a month
for a year: for a year
in a day: in a day | within a day
in a week: in a week | within a week
in a month: in a month | within a month
in a year: in a year | within a year
a day ago: a day ago
a week ago: a week ago
a month ago: a month ago
a year ago: a year ago
a day off: a day off
a day later: a day later
a week later: a week later
a month later: a month later
a year later: a year later
daily: every day | each day | per day | a day | day in day out | once a day | every single day
weekly: every week | each week | per week | a week | once a week | once every week
monthly: every month | each month | per month | a month | once a month
yearly: every year | each year | per year | annually | a year | once a year | per annum
every night: each night | a night | nightly
every morning: each morning
every evening: each evening
hourly: every hour | each hour | per hour | an hour
fortnightly: every other week | biweekly | every second week | every 2 weeks | once a fortnight
2 times: twice | two times
3 times: thrice
half marathon: half marathon
half past: half past
half brother: half brother
half sister: half sister
dozen: a dozen
couple: a couple of
0.5: half a | half an | half of
0.25: a quarter | a quarter of a | a quarter of
: at the moment | right now | at present | currently | presently | these days | nowadays | at this time
many: a lot of | lots of | plenty of | a great deal of
often: frequently | regularly | a lot | much of the time | many times
usually: normally | generally | typically | as a rule | most of the time
sometimes: now and then | from time to time | every now and then | once in a while | at times | occasionally
rarely: seldom | hardly ever | once in a blue moon | almost never
not: no | not any
not anymore: no longer | not any longer | not any more | no more
never: not ever
first: 1st
than: rather than | instead of
: by trade | by profession | by occupation | for a living | and all | both | each time | every time
"""

# Words that hold a sentence together and tell nothing of their own.
SMALL = frozenset(
    """
    the a an in on at for with when while if as so by from to of about please that these those it there here this
    each who whom which where what his her their its he she they him them my your our also too just still already own
    am is are was were be been being has have had having get gets got gotten go goes went going gone does do did done
    will would can could should may might must shall named called name user user's ever whenever every any some
    but or since until during before after times time people thing things into up one
    """.split()
)
# Words that add nothing to a sentence that says all else already.
LIGHT = frozenset(
    "speak know how happen time people person thing name own kind sort type such even then certain personal way".split()
)
# Verbs that add nothing beside another verb: "shares a flat", "lives in a shared flat". Beside "is" they tell all.
SUPPORT = frozenset("live work take make keep use stay come follow hold do".split())
# What so many sentences share that it makes none of them kin.
FRAME = LIGHT | frozenset(
    """
    like live work play make take keep want use do call start begin happen join follow stay come spend plan need prefer
    always often usually regularly job home house place favourite best well good new together along back away out around
    about other another lot many much more most day year full-time professional family degree city town member find feel
    think say tell give i me we us you
    """.split()
)
# Said or not said, the statement is the same.
INTENSIFIERS = frozenset(
    "very really quite truly extremely absolutely totally particularly especially deeply highly overall simply".split()
)
# What stays when the verb of a turn is one of these.
FORMS = {
    "be": {"is": "s", "are": "s", "am": "s", "was": "ed", "were": "ed", "be": "", "been": "ed", "being": "ing"},
    "have": {"has": "s", "have": "", "had": "ed", "having": "ing"},
    "do": {"does": "s", "do": "", "did": "ed"},
    "get": {"gets": "s", "get": "", "got": "ed", "gotten": "ed", "getting": "ing"},
    "go": {"goes": "s", "go": "", "went": "ed", "gone": "ed", "going": "ing"},
}
# Past of the verbs that turns are said by; "past participle" where they differ from -ed.
IRREGULAR = """
be was been | have had | do did done | go went gone | get got gotten | say said | make made | take took taken
come came | see saw seen | know knew known | give gave given | find found | think thought | tell told | become became
leave left | feel felt | bring brought | begin began begun | keep kept | hold held | write wrote written
stand stood | hear heard
mean meant | meet met | run ran | pay paid | sit sat | speak spoke spoken | lead led | grow grew grown | lose lost
fall fell fallen | send sent | build built | understand understood | draw drew drawn | break broke broken
spend spent | drive drove driven | buy bought | wear wore worn | choose chose chosen | eat ate eaten | drink drank drunk
sell sold | teach taught | learn learnt | catch caught | fight fought | sleep slept | fly flew flown | ride rode ridden
rise rose risen | sing sang sung | swim swam swum | throw threw thrown | win won | steal stole stolen | bite bit bitten
forget forgot forgotten | hide hid hidden | lend lent | lie lay lain | ring rang rung | shake shook shaken
shoot shot | show shown | shrink shrank | sink sank | steal stole stolen | strike struck | swear swore sworn
tear tore torn | wake woke woken | wind wound | blow blew blown | feed fed | flee fled | forgive forgave forgiven
freeze froze frozen | hang hung | burn burnt | dream dreamt | bake baked | dig dug | deal dealt | light lit
seek sought | shine shone | spring sprang | stick stuck | sweep swept | weep wept | bend bent | bind bound
breed bred
"""
# What "not" and an auxiliary are drawn together to.
CONTRACTIONS = """
can not: can't | cannot | cant
will not: won't | wont
shall not: shan't
is not: ain't | isnt
do not: dont
does not: doesnt
did not: didnt
was not: wasnt
i am: i'm
"""
