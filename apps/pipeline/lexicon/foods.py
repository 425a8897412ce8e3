"""Foods by their kind, and which kinds a diet leaves out."""

_MEMBERS = {
    "meat": "chicken poultry turkey duck beef pork lamb veal ham bacon steak sausage sausages mince",
    "fish": "salmon tuna cod trout herring sardines seafood prawns shrimp shellfish",
    "dairy": "milk cheese butter cream yoghurt yogurt",
    "eggs": "egg",
    "gluten": "wheat bread pasta",
    "nuts": "peanuts hazelnuts almonds walnuts cashews pistachios",
    "sugar": "",
    "alcohol": "wine beer",
    "coffee": "",
}
_KIND_OF = {food: kind for kind, foods in _MEMBERS.items() for food in foods.split()}
EXCLUDED_BY: dict[str, frozenset[str]] = {
    "vegetarian": frozenset({"meat", "fish"}),
    "pescatarian": frozenset({"meat"}),
    "vegan": frozenset({"meat", "fish", "dairy", "eggs"}),
}

FOODS = frozenset({*_KIND_OF, *_MEMBERS})


def kinds_of(text: str) -> frozenset[str]:
    """Return the foods that a text in small letters names, with their kinds: "salmon" is salmon and fish."""
    words = [word for word in text.split() if word in _KIND_OF or word in _MEMBERS]
    return frozenset({*words, *(_KIND_OF[word] for word in words if word in _KIND_OF)})


def is_food(word: str) -> bool:
    """Return True for a food or a kind of food that is known here, in any case."""
    return word.lower() in FOODS
