"""Partners, children, relatives and pets, beside the relations that a name ties."""

from functools import partial

from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.extraction.patterns.dated_events import DATE
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon.calendar import NAMES
from apps.pipeline.lexicon.kinship import ANIMALS, forms_of_kin, partners
from apps.pipeline.lexicon.tables import alternation

_row = partial(Pattern, type=MemoryType.FACT, topic="family", importance=0.8)
_SOME = r"(?:a|an|one|two|three|four|five|six|\d+|several|many|some|twin|no)"
_PET = rf"(?:{alternation(ANIMALS)}|guinea pigs?|bees)"
_CHILDREN = alternation(forms_of_kin("child", "grandchild"))
_RELATIVES = alternation({*forms_of_kin("sibling", "cousin", "niece or nephew"), *partners()})
_CLOSE = alternation({*forms_of_kin("parent", "grandparent", "sibling", "child"), *partners(), *ANIMALS})

PATTERNS = (
    _row(
        name="wedding_day",
        predicate="wedding",
        verbs=("is", "gets"),
        expression=rf"(?:is getting|gets) married (?P<object>(?:on|in) (?:the )?{DATE}.*)",
        max_words=10,
    ),
    _row(
        name="marital_status",
        predicate="marital_status",
        verbs=("is", "got", "has"),
        expression=r"(?:is|got|is getting|has been|has gotten|just got) (?:happily |newly |recently )?(?P<object>married|engaged|divorced|single|widowed|separated)\b(?: (?:to|for|with|in|last|this|since|on|with|yet|now|so|but|and)\b.*)?[\s.!]*",
    ),
    _row(
        name="is_seeing",
        predicate="is_together_with",
        verbs=("is", "has"),
        expression=r"(?:is|has been|has started|started) (?:now |also )?(?:(?:seeing|going out with) (?:someone|somebody)(?: new)? (?:named|called)|dating|in a relationship with|together with) (?P<object>(?-i:[A-ZÀ-Þ])[\w'-]+).*",
        content="is together with {object}",
        entity=EntityType.PERSON,
        is_single=True,
    ),
    _row(
        name="belongs_to_group",
        predicate="group_size",
        verbs=("is",),
        expression=r"is (?P<object>an? (?P<verb>family|team|household|couple|band|group) of (?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b.*",
        content="belongs to {object}",
        only_speaker=True,
        importance=0.6,
    ),
    _row(
        name="has_children",
        predicate="has_children",
        verbs=("has", "raises", "is"),
        expression=rf"(?:has|is raising|raises|is (?:a|the) (?:mother|mom|father|dad|parent) (?:of|to)) (?P<object>{_SOME} (?:[\w-]+ ){{0,2}}(?:{_CHILDREN}|boys?|girls?|twins|teenagers?|grandchildren|grandkids)\b.*)",
        ends="at home|to",
    ),
    _row(
        name="has_relatives",
        predicate="has_relatives",
        verbs=("has",),
        expression=rf"has (?P<object>{_SOME} (?:[\w-]+ ){{0,2}}(?:{_RELATIVES}|step\w+|roommates?|flatmates?)\b.*)",
        importance=0.7,
    ),
    _row(
        name="visits",
        type=MemoryType.EVENT,
        predicate="visits",
        verbs=("visits", "comes", "arrives", "stays", "is"),
        expression=rf"(?:visits|comes|arrives|stays|is (?:visiting|coming|arriving|staying))(?: (?:with|to|here|over|back|User|User's \w+|now|only|to see|to visit))* (?P<object>(?:(?:for|on|in|from|until|at|next|this) )+.*(?:{DATE}|(?i:{alternation(NAMES)})|\d).*)",
        is_single=True,
        max_words=14,
        importance=0.6,
    ),
    _row(
        name="taught",
        predicate="taught",
        verbs=("taught",),
        expression=r"taught User (?P<object>.+)",
        importance=0.6,
    ),
    _row(
        name="expecting",
        type=MemoryType.EVENT,
        predicate="expecting",
        verbs=("is", "has", "had"),
        expression=r"(?:is|found out [\w' ]+ is) (?P<object>(?:(?:\w+ (?:weeks|months) )?pregnant|expecting|having a baby|trying for a baby|adopting|going to be a (?:dad|mom|father|mother|parent|grandma|grandpa|aunt|uncle))\b.*)",
        max_words=16,
        importance=0.9,
    ),
    _row(
        name="life_event",
        type=MemoryType.EVENT,
        predicate="life_event",
        verbs=("got", "had", "gave", "proposed", "broke", "split", "lost", "died", "passed", "celebrated", "was"),
        expression=r"(?P<object>(?:got (?:married|engaged|divorced|a divorce)|had (?:a|the|her|our|their) (?:baby|son|daughter|boy|girl|twins|miscarriage)|gave birth|proposed|broke up|split up|passed away|died|was born"
        rf"|celebrated .*(?:anniversary|birthday|wedding|graduation)|lost [\w' ]*(?:{_CLOSE}|friend))\b.*)",
        max_words=22,
    ),
    _row(
        name="has_pet",
        predicate="has_pet",
        verbs=("has", "owns", "adopted", "got", "rescued"),
        expression=rf"(?:has|owns|adopted|got|rescued|has got|has adopted) (?P<object>(?:{_SOME}|another|the) (?:[\w-]+ ){{0,3}}{_PET}\b.*)",
        topic="pets",
        importance=0.7,
        max_words=14,
    ),
)  # fmt: skip
