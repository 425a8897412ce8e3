"""English abbreviations that end with a full stop, by what follows them within a sentence."""

# A name follows: "Dr. Voss", "St. James".
BEFORE_NAMES = frozenset(
    "dr mr mrs ms mx prof st mt ft rev hon gen col lt sgt capt sen rep gov pres messrs mme mlle".split()
)
# Any word follows.
WITHIN = frozenset("e.g i.e eg ie vs cf viz approx ca incl resp aka a.k.a".split())
# A number follows: "No. 5", "p. 12", "Oct. 5".
BEFORE_NUMBERS = frozenset("no nos art fig p pp vol ch sec jan feb mar apr jun jul aug sept sep oct nov dec".split())
# German months: the day before them is written with a full stop ("am 19. Mai").
MONTHS_AFTER_DAY = frozenset(
    "januar jänner februar märz april mai juni juli august september oktober november dezember".split()
)
# A sentence may end with these; it continues if a lower-case letter or a number follows.
LAST_OR_WITHIN = frozenset("etc inc ltd co corp jr sr bros dept est a.m p.m u.s u.k u.s.a ph.d b.a m.a".split())
# Words that begin a sentence and don't continue a name after an initial.
SENTENCE_STARTS = frozenset(
    "i it he she we they you the a an this that these those there my our your his her their and but so or not no yes "
    "if when what who where why how is are do did can could please then also maybe".split()
)
