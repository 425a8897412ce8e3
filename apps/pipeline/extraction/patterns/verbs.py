"""English verbs, as far as turning "I go" into "Ana goes" needs them."""

# Past forms that do not end in -ed, each with its base.
_IRREGULAR = """
awoke:awake ate:eat became:become began:begin bent:bend bit:bite blew:blow bought:buy broke:break brought:bring
built:build burnt:burn came:come caught:catch chose:choose clung:cling crept:creep dealt:deal did:do dreamt:dream
drew:draw drank:drink drove:drive dug:dig fed:feed fell:fall felt:feel fled:flee flew:fly forgave:forgive forgot:forget
fought:fight found:find froze:freeze gave:give got:get grew:grow had:have heard:hear held:hold hid:hide hung:hang
kept:keep knelt:kneel knew:know laid:lay learnt:learn led:lead left:leave lent:lend lit:light lost:lose made:make
meant:mean met:meet overcame:overcome paid:pay ran:run rang:ring rode:ride rose:rise said:say sang:sing sank:sink
sat:sit saw:see sent:send sewed:sew shook:shake shot:shoot slept:sleep sold:sell sought:seek spent:spend spoke:speak
spun:spin stood:stand stole:steal stuck:stick struck:strike swam:swim swept:sweep swore:swear taught:teach thought:think
threw:throw told:tell took:take tore:tear understood:understand was:be went:go were:be woke:wake won:win wore:wear
wrote:write
"""
PAST_TO_BASE: dict[str, str] = dict(pair.split(":") for pair in _IRREGULAR.split())
_BASE_TO_PAST = {base: past for past, base in PAST_TO_BASE.items()}

# One form for present and past; a first-person sentence means the past far more often.
SAME_IN_PAST = frozenset("beat bet cost cut hit hurt let put quit read set shut split spread upset".split())
# Base forms that only look like a past.
_NOT_PAST = frozenset("bleed breed embed exceed feed heed need proceed seed shed speed succeed weed".split())
MODALS = frozenset("can cannot could may might must shall should will would used ought".split())
_THIRD = {"am": "is", "are": "is", "be": "is", "have": "has", "do": "does", "go": "goes", "were": "was"}
_COLLOQUIAL = {"wanna": "wants to", "gotta": "has to", "gonna": "is going to", "hafta": "has to"}
_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
_ALREADY_THIRD = frozenset({"is", "was", "has", "does", "goes"})


def is_past(word: str) -> bool:
    """Tell whether a finite verb is in the past tense."""
    lower = word.lower()
    if lower in PAST_TO_BASE or lower in SAME_IN_PAST:
        return True
    return lower.endswith("ed") and len(lower) > 3 and lower not in _NOT_PAST


def past_of(word: str) -> str:
    """Return the irregular past of a base verb ("take" → "took"), or "" where none is known."""
    return _BASE_TO_PAST.get(word.lower(), "")


def third_person(word: str) -> str:
    """Return the verb of "I ..." or "we ..." as it stands after a name: go → goes, went → went."""
    lower = word.lower()
    if lower in _COLLOQUIAL:
        return _COLLOQUIAL[lower]
    if lower in _THIRD:
        return _THIRD[lower]
    if lower in MODALS or lower in _ALREADY_THIRD or is_past(lower) or lower.endswith("n't"):
        return lower
    if lower.endswith(("s", "x", "z", "ch", "sh", "o")):
        return lower + "es"
    if lower.endswith("y") and len(lower) > 1 and lower[-2] not in "aeiou":
        return lower[:-1] + "ies"
    return lower + "s"


def plural(word: str) -> str:
    """Return a third-person verb as it stands after a plural subject: lives → live, is → are."""
    if word in _PLURAL:
        return _PLURAL[word]
    if is_past(word) or word in MODALS or not word.endswith("s"):
        return word
    return base(word)


def base(word: str) -> str:
    """Return the base of a third-person or past verb, as well as its spelling tells: goes → go."""
    lower = word.lower()
    if lower in PAST_TO_BASE:
        return PAST_TO_BASE[lower]
    if lower in ("is", "are", "am"):
        return "be"
    if lower == "has":
        return "have"
    if lower.endswith("ies") and len(lower) > 4:
        return lower[:-3] + "y"
    if lower.endswith(("sses", "xes", "zes", "ches", "shes", "oes")):
        return lower[:-2]
    if lower.endswith("s") and not lower.endswith("ss"):
        return lower[:-1]
    return lower


def negative(phrase: str, *, past: bool = False) -> str:
    """Deny a third-person phrase: "lives in Rome" → "does not live in Rome"."""
    head, _, rest = phrase.partition(" ")
    if head in ("is", "was", "has", "can", "could", "will", "would", "should", "might") and (
        head != "has" or _is_participle(rest)
    ):
        return f"{head} not {rest}".strip() if head != "can" else f"cannot {rest}".strip()
    if past:
        return f"did not {base(head)} {rest}".strip()
    return f"does not {base(head)} {rest}".strip()


def _is_participle(rest: str) -> bool:
    first = rest.partition(" ")[0]
    return is_past(first) or first in {"been", "gone", "done", "seen", "taken", "written", "eaten", "had"}
