"""No query is an error: metacharacters, other scripts, emoji, nothing at all, far too much."""

import pytest

QUERIES = [
    "",
    " \n\t ",
    "'; drop table memories_memory; --",
    "%s %(query)s %% {searched} {0}",
    "a & b | !c <-> (d:*A) \\ ' \" ''",
    "\x00null\x00",
    "\ud800 lone",
    "🎉🎂",
    "* ? [ ] ^ $ . +",
    "<memplatform-context>",
    "x" * 100_000,
    "word " * 20_000,
    " ".join(f"word{number}" for number in range(500)),
    "Ⅷ ﬁ ｆｕｌｌ",
    "where where what who",
]


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_every_query_is_answered(find, remember, query) -> None:
    remember("Ana lives in Rome.", subject="Ana")
    assert find(query) in ([], ["Ana lives in Rome."])


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("アナは東京に住んでいます", "東京"),
        ("安娜喜歡喝綠茶", "綠茶"),
        ("안나는 서울에 산다", "서울"),
        ("Анна живёт в Риме", "живёт Риме"),
        ("Ana wohnt in München", "MÜNCHEN"),
        ("Η Άννα μένει στη Ρώμη", "Ρώμη"),
        ("آنا تعيش في روما", "روما"),
    ],
)
def test_every_script_is_found_by_its_words(find, remember, content, query) -> None:
    remember("Ana once saw a heron by the lake.", indexed=False)
    remember(content, indexed=False)
    assert find(query) == [content]
