"""How people ask to forget something, in English, German and French, and what they name."""

import re2

MAY_ASK = re2.compile(
    r"(?i)forg[eo]t|remember|delet|eras|remov|wipe|clear|drop|get rid|keep|stor|know|verg[ei]ss|l[öo]sch|entfern"
    r"|streich"
    r"|oubli|effac|supprim|retir|scrub|purge|strike|unlearn|take|kenn|weißt|behält|sach|connai|gard"
)
_LEAD = (
    r"(?P<lead>(?:(?:please|pls|kindly|thanks|ok|okay|hey|hi|also|and|oh|well|actually|by the way|btw|now|so|sorry"
    r"|bitte|und|ach|et|stp"
    r"|s['’]il te plaît|s['’]il vous plaît),? )*)"
)
_ASKING = (
    r"(?P<asking>(?:(?:can|could|would|will) (?:you|u)|i(?:['’]d| would) like you to|i (?:want|need) you to"
    r"|would you mind|you (?:can|may|should|must)|i (?:do not|don['’]?t|no longer) want you to keep)(?: please| pls"
    r"| kindly| also| just| now)* )?"
)
_FORGET = r"(?P<forget>forget|forgetting|unlearn|stop (?:remembering|storing|keeping(?: track of)?|saving))"
_DELETE = (
    r"(?:delete|erase|remove|wipe|clear|drop|scrub|purge|strike|take|get rid of|(?:delet|eras|remov|wip|clear|dropp"
    r"|forgett)ing)"
)
_END = r"[ .!?]*$"
_WHAT = r"(?P<what>.{2,400}?)"
REQUESTS = tuple(
    re2.compile(rf"(?i)^\W*{_LEAD}{each}{_END}")
    for each in (
        rf"{_ASKING}(?:please |also |now |just )*{_FORGET}(?P<idly>(?: all)? about)?:? {_WHAT}",
        rf"{_ASKING}(?:please |also |now |just )*{_DELETE} {_WHAT}",
        rf"(?P<negated>do not|don['’]?t) remember {_WHAT}",
        rf"{_WHAT}[,:;]+ (?:please |so )*(?P<asking>{_DELETE}|forget) (?:it|that|this)(?P<polite>,? (?:please|pls))?",
        rf"(?P<asking>i (?:do not|don['’]?t|no longer) want you to|i(?:['’]d| would) (?:rather"
        rf"|prefer) you did(?:n['’]?t| not))"
        rf" (?:remember|know|keep|store) {_WHAT}",
        rf"(?P<asking>i (?:want|need|would like)|i['’]d like) {_WHAT} (?:to be )?(?:deleted|forgotten|erased"
        rf"|removed)(?P<polite>,? (?:please|pls|now))?",
        rf"{_WHAT} (?P<asking>should|must|can) be (?:deleted|forgotten|erased)(?P<polite>,? (?:please|pls|now))?",
        rf"(?P<forget>vergiss|vergessen sie)(?: (?:bitte|doch|mal|wieder|auch))*,? {_WHAT}",
        rf"(?:lösche?|löschen sie|entferne?|streiche?)(?: (?:bitte|doch|mal|auch))*,? {_WHAT}",
        rf"(?P<asking>(?:kannst|könntest|würdest) du)(?: (?:bitte|mal))* (?:{_WHAT} )?(?:vergessen|löschen"
        rf"|entfernen)(?:, (?P<claim>dass .+?))?",
        rf"(?P<asking>ich (?:will|möchte|hätte gern)), dass du {_WHAT} (?:vergisst|löschst|entfernst)",
        rf"(?P<asking>ich (?:will|möchte)) nicht(?: mehr)?, dass du {_WHAT} (?:kennst|weißt|behältst|speicherst)",
        rf"(?P<forget>oublie[zs]?) {_WHAT}",
        rf"(?:efface[zs]?|supprime[zs]?|retire[zs]?) {_WHAT}",
        rf"(?P<asking>(?:peux|pourrais|pouvez|pourriez)[- ](?:tu|vous))(?: (?:stp|s['’]il te plaît))? (?:oublier"
        rf"|effacer|supprimer) {_WHAT}",
        rf"(?P<asking>(?:je (?:veux|voudrais)|j['’]aimerais) que (?:tu|vous)) (?:oubli|effac|supprim)\w+ {_WHAT}",
        rf"(?P<asking>je ne (?:veux|voudrais) (?:pas|plus) que (?:tu|vous)) (?:sach|connaiss|gard)\w+ {_WHAT}",
    )
)
FORGETS = re2.compile(
    r"(?i)forg|remember|know|unlearn|keep|stor|verg[ei]ss|kenn|weißt|behält|speicher|oubli|sach|connai|gard"
)
_ABOUT = r"(?:about|on|regarding|über|zu|sur|de|à propos de) "
_TOLD = (
    r"(?:(?:what|everything|anything|all)(?: that)? (?:i|you|we)(?:['’]ve| have)? ?(?:just )?(?:said|told you|know"
    r"|have|got|remember|stored)?(?: that)?"
    r"|(?:everything|anything|all|alles)|(?:the )?(?:notes?|memor(?:y|ies)|entry|entries|facts?|infos?|information)"
    r"|(?:alles|das), was|was ich|ce que (?:je|tu)|tout ce que (?:je|tu))"
)
ALL = re2.compile(
    r"(?i)^(?:everything|all(?: of it)?|tout|alles)(?:,? (?:that )?(?:you (?:know|have|remember|stored)|about me"
    r"|on me|über mich"
    r"|was du (?:über mich|von mir)(?: \w+)?|ce que tu sais|sur moi|de moi|from your memory"
    r"|von mir)\b,?)+ *(?:(?:about|on|of|über|sur|de) (?:me|moi|mich))?"
    r"(?: \w+)?$|^(?:all )?(?:of )?(?:my|meine|toutes mes) (?:\w+ )?(?:data|memories|information|infos?|daten"
    r"|erinnerungen|données|souvenirs)$"
    r"|^all(?:e)? (?:of )?(?:my|meine|the|your) (?:\w+ )?(?:data|memories|notes|information|daten"
    r"|erinnerungen)(?: (?:about|on) me)?$"
    r"|^your memory(?: of me)?$"
)
LAST = re2.compile(
    r"(?i)^(?:(?:about )?(?:that|this)(?: again)?|das|dies|ça|cela|(?:what|everything|that) i(?:['’]ve"
    r"| have)? just (?:said|told you|wrote)"
    r"|was ich (?:dir )?(?:gerade|eben) \w+ habe|ce que je viens de (?:te )?dire|my (?:last|previous) message"
    r"|the last (?:thing|bit) i said|meine letzte nachricht|mon dernier message)$"
)
LAST_TOLD = re2.compile(r"(?i)just|last|previous|letzt|dernier|gerade|eben|viens")
STATED = re2.compile(r"(?i)^(?:the fact )?(?:that |dass |que |qu['’])(?P<claim>.+)$")
TOPIC = re2.compile(
    rf"(?i)^{_TOLD}(?: (?:je |tu )?(?:t['’]ai dit|sais|sait|(?:du |ich )?(?:dir )?))?(?: ?(?:du"
    rf"|ich))? ?{_ABOUT}(?P<topic>.+)$"
    r"|^das (?:mit|über|von) (?P<matter>.+)$|^(?:the|that|my) (?:stuff|thing|bit|part) about (?P<subject>.+)$"
    r"|^(?:the|that|my) (?P<thing>.+) (?:thing|stuff|part|bit|business)$"
)
NAMED = re2.compile(
    r"(?i)^(?:(?:my|our|where (?:i|we)|how old i|meine?[nrms]?|unsere?[nrms]?|wo ich|wie alt ich|mon|ma|mes|notre"
    r"|nos|où (?:je|j['’])"
    r"|that my)\b|\p{L}+['’]s\b).+$"
)
FROM_MEMORY = re2.compile(
    r"(?i) (?:from|in|out of|aus|von|de) (?:your|the|deine[mnr]?|ta|tes) (?:memor(?:y|ies)|notes?|records?"
    r"|gedächtnis|notizen|mémoire|notes)$"
)
FOR_NOW = re2.compile(
    r"(?i)\b(?:for (?:a (?:moment|minute|second|while|bit)|now|today|tonight|once|this)|today|tonight"
    r"|this (?:once|time)|to \w+|nicht|pas|heute)\b"
)
MORE = re2.compile(r"(?i)[,;:–—]|\b(?:because|since|and|but|so|as|let['’]?s|und|weil|et|car)\b")
POLITE = re2.compile(
    r"(?i)(?:[, ]+(?:please|pls|thanks|thank you|ok(?:ay)?|again|now|too|at all|for good|forever|bitte|wieder|danke"
    r"|weißt|any ?more|(?:gesagt|erzählt|geschrieben) habe"
    r"|stp|svp|s['’]il (?:te|vous) pla[iî]t|merci))+$"
)
PLEASE = re2.compile(r"(?i)\b(?:please|pls|bitte|stp|svp|s['’]il)\b")
OWN_CLAIM = re2.compile(r"(?i)\b(?:i|i['’]m|im|i['’]ve|we|ich|wir|je|j['’]\w+)\b")
OF_MEMORY = re2.compile(r"(?i)stor|remember|record|memor|speicher|merk|enregistr|retien|mémoris")
SAYS_AGAIN = re2.compile(
    r"(?i)^,? ?(?:and )?(?:i (?:do not|don['’]?t) want|please|it['’]s (?:private|nobody)|ich will (?:das )?nicht"
    r"|je ne veux pas)"
)
