"""Words are found in whatever form their language gives them, whatever language else the end user speaks."""

import pytest

from apps.memories.models import Memory

HERON = "Ana once saw a heron by the lake."
INFLECTED = [
    ("Ana hat zwei Häuser am See gekauft.", "Haus"),
    ("Meine Schwester wohnt in einem alten Haus.", "alte Häuser"),
    ("Ana mag die Katzen der Nachbarin.", "Katze"),
    ("Les chevaux de Paul sont dans le pré.", "cheval"),
    ("Mon cheval s'appelle Plume.", "les chevaux"),
    ("Elle travaillait avec des enfants.", "travailler"),
    ("Tiene dos canciones favoritas.", "canción"),
    ("A Ana le gusta una canción de amor.", "canciones"),
    ("Анна любит больших собак.", "собака"),
    ("У Анны есть большая собака.", "собаки"),
    ("Ela gosta de gatos e mora em Lisboa.", "gato"),
    ("Ha due gatti e abita nella casa di sua nonna.", "gatto"),
    ("Het kind van Ana heeft twee honden.", "hond"),
    ("Hon har två hundar och gillar skogen.", "hundarna"),
    ("Η Άννα έχει δύο σκύλους.", "σκύλος"),
    ("Ana has two dogs and likes running.", "dog runs"),
]


@pytest.mark.parametrize(("content", "query"), INFLECTED)
def test_a_word_is_found_in_another_form(find, remember, content, query) -> None:
    remember("Bo bakes bread." if content.isascii() else HERON, indexed=False)
    remember(content, indexed=False)
    assert find(query) == [content]


def test_all_languages_of_one_user_are_found_side_by_side(find, remember) -> None:
    remember(HERON, indexed=False)
    for content, _ in INFLECTED:
        remember(content, indexed=False)
    for content, query in INFLECTED:
        assert content in find(query, limit=3), query


def test_a_name_is_found_in_memories_of_every_language(find, remember) -> None:
    remember("Müller has a boat and likes the sea.", indexed=False)
    remember("Müller wohnt mit seiner Frau in einem Haus.", indexed=False)
    remember("Müller habite avec sa femme dans une maison.", indexed=False)
    remember("ミュラー (Müller) は東京に住んでいます。", indexed=False)
    remember(HERON, indexed=False)
    assert len(find("Müller")) == 4


@pytest.mark.parametrize(
    ("language", "content", "query"),
    [
        ("de", "Lieblingstiere: Hunde", "Hund"),
        ("de-AT", "Lieblingstiere: Hunde", "Hund"),
        ("sv", "Favoriter: hundar", "hund"),
        ("id", "Makanan kesukaan: masakan Padang", "Padang"),
        ("pl", "Lubi most w Toruniu", "most"),  # not stemmed, and no stop word of English
        ("en", "Was die Maus weiss: books", "book"),
    ],
)
def test_a_declared_language_needs_no_evidence(find, remember, language, content, query) -> None:
    remember(HERON, indexed=False)
    remember(content, language=language, indexed=False)
    assert find(query) == [content]


def test_a_short_memory_is_in_the_language_of_its_context(find, remember) -> None:
    remember("Lieblingstiere: Hunde", context="Welche Tiere magst du? Ich mag Hunde.", indexed=False)
    assert find("Hund") == ["Lieblingstiere: Hunde"]


@pytest.mark.parametrize(("content", "query"), [("Kocham żółte róże", "żółte"), ("Олена живе у Києві", "Києві")])
def test_a_language_that_is_not_stemmed_is_found_as_it_is_written(find, remember, content, query) -> None:
    remember(HERON, indexed=False)
    remember(content, indexed=False)
    assert Memory.objects.get(content=content).tongue == 0
    assert find(query) == [content]


@pytest.mark.parametrize("query", ["cafe in Zurich", "CAFÉ", "zürich", "Zürich"])
def test_marks_above_letters_need_not_be_written(find, remember, query) -> None:
    remember("Ana likes the café in Zürich.", indexed=False)
    assert find(query) == ["Ana likes the café in Zürich."]


def test_names_don_t_tell_a_language(remember) -> None:
    for content in (
        "Bea bought a lamp",
        "Ella sold one",
        "User moved to LA",
        "User loves Los Angeles",
        "Plays Die Hard",
        "User is in the EST time zone",
    ):
        assert remember(content, indexed=False).tongue == 1


def test_a_change_of_words_or_of_the_language_is_found_at_once(find, remember) -> None:
    memory = remember("Ana has dogs.", indexed=False)
    Memory.objects.filter(id=memory.id).update(content="Ana hat zwei Häuser gekauft.")
    assert find("Haus") == ["Ana hat zwei Häuser gekauft."]
    Memory.objects.filter(id=memory.id).update(content="Häuser")
    assert find("Haus") == []
    Memory.objects.filter(id=memory.id).update(language="de")
    assert find("Haus") == ["Häuser"]


def test_emoji_among_words_don_t_hide_them(find, remember) -> None:
    remember("Ana mag 🐶🐶 und Hunde überhaupt 🎉", indexed=False)
    assert find("🐶 Hund 🎂") == ["Ana mag 🐶🐶 und Hunde überhaupt 🎉"]


@pytest.mark.parametrize(("query", "first"), [("東京", 0), ("コーヒー", 1), ("커피", 2), ("咖啡", 3)])
def test_cjk_beside_other_languages(find, remember, query, first) -> None:
    contents = ("アナは東京に住んでいます", "アナは毎朝コーヒーを飲む", "안나는 커피를 마신다", "安娜每天喝咖啡")
    for content in (*contents, HERON, INFLECTED[0][0]):
        remember(content, indexed=False)
    assert find(query)[0] == contents[first]


def test_the_quote_is_found_in_its_own_language(find, remember) -> None:
    remember(HERON, indexed=False)
    remember("User gets hives from hazelnuts.", evidence="von Haselnüssen bekomme ich Ausschlag", indexed=False)
    assert find("Haselnuss") == ["User gets hives from hazelnuts."]
    assert find("hazelnut") == ["User gets hives from hazelnuts."]


def test_the_context_is_in_the_language_of_the_quote(find, remember) -> None:
    remember(HERON, indexed=False)
    remember(
        "User gets hives from hazelnuts.",
        evidence="Ausschlag",
        context="Das ist nicht gut. Von den Nüssen bekomme ich Ausschlag.",
        language="en",
        indexed=False,
    )
    assert find("Nuss") == ["User gets hives from hazelnuts."]


def test_a_new_quote_is_found_at_once(find, remember) -> None:
    memory = remember("User gets hives from hazelnuts.", language="en", indexed=False)
    assert find("Haselnuss") == find("Haselnuss") == []
    Memory.objects.filter(id=memory.id).update(evidence="die Haselnüsse sind nicht gut für mich")
    assert find("Haselnuss") == ["User gets hives from hazelnuts."]
