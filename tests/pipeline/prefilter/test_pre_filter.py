"""Stage 1: which turns are dropped and why, and which are kept."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.policy import Policy, PreFilterPolicy, Rule
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter import pre_filter
from apps.pipeline.prefilter.context_marker import wrap
from apps.pipeline.prefilter.default_rules import default_rules

RECEIVED = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
ORIGIN = Origin(project_id=UUID(int=1), end_user_id=UUID(int=2), session_id=UUID(int=3))
SHIPPED = PreFilterPolicy(rules=default_rules())
STATEMENT = "Your parcel has left the warehouse."
QUESTION = "Do you live in Rome?"


def turn(place: int, content: str, role: Role = Role.USER, **fields: str) -> SourceTurn:
    return SourceTurn(
        id=UUID(int=100 + place), position=place, role=role, content=content, received_at=RECEIVED, **fields
    )


def judged(turns: Sequence[SourceTurn], earlier: Sequence[SourceTurn] = (), policy: PreFilterPolicy = SHIPPED) -> Draft:
    request = Request(trace_id=UUID(int=4), origin=ORIGIN, turns=tuple(turns), earlier_turns=tuple(earlier))
    return pre_filter.run(Draft.start(request=request, policy=Policy(pre_filter=policy)))


def reason(content: str, *, after: str = "", policy: PreFilterPolicy = SHIPPED) -> str | None:
    earlier = [turn(0, after, Role.ASSISTANT)] if after else []
    drops = judged([turn(1, content)], earlier, policy).drops
    return drops[0].reason if drops else None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", Reason.TOO_SHORT),
        ("   \n\t ", Reason.TOO_SHORT),
        ("...", Reason.TOO_SHORT),
        ("x", Reason.TOO_SHORT),
        ("Hi there!", Reason.GREETING),
        ("good morning :)", Reason.GREETING),
        ("hey, how are you today?", Reason.GREETING),
        ("Bye for now", Reason.FAREWELL),
        ("That's all I need for today.", Reason.FAREWELL),
        ("ok thanks, bye!", Reason.FAREWELL),
        ("Thank you so much for all your help", Reason.THANKS),
        ("thx 🙏🙏", Reason.THANKS),
        ("Great, thanks a lot!", Reason.THANKS),
        ("ok", Reason.ACKNOWLEDGEMENT),
        ("Got it 👍", Reason.ACKNOWLEDGEMENT),
        ("hahaha that's great", Reason.ACKNOWLEDGEMENT),
        ("yes", Reason.ACKNOWLEDGEMENT),
        ("👍👍🏽", Reason.EMOJI_ONLY),
        ("❤️ !!", Reason.EMOJI_ONLY),
        ("```python\nhome = 'Rome'\n```", Reason.CODE_ONLY),
        ("def home():\n    return 'Rome'\n\nprint(home())", Reason.CODE_ONLY),
        ('{"city": "Rome", "rooms": 3}', Reason.STRUCTURED_PAYLOAD),
        ("<order><id>7</id><state>open</state></order>", Reason.STRUCTURED_PAYLOAD),
        ("| day | hours |\n|---|---|\n| Mon | 8 |", Reason.STRUCTURED_PAYLOAD),
        ("id,city,rooms\n1,Rome,3\n2,Oslo,4", Reason.STRUCTURED_PAYLOAD),
        ("[tool_call: search(query='hotels')]", Reason.TOOL_MARKER),
        ("<tool_result>12 rows</tool_result>", Reason.TOOL_MARKER),
        ("Tool output: 12 rows", Reason.TOOL_MARKER),
        ("<image omitted>", Reason.TOOL_MARKER),
        ("/reset", Reason.TOOL_MARKER),
        ("Can you repeat that please?", Reason.META_TALK),
        ("Who are you?", Reason.META_TALK),
        ("hold on a second", Reason.META_TALK),
        (wrap("The user lives in Rome."), Reason.RECALLED_CONTEXT),
    ],
)
def test_a_turn_without_a_statement_is_dropped_with_its_reason(content: str, expected: Reason) -> None:
    assert reason(content, after=STATEMENT) == expected


@pytest.mark.parametrize(
    "content",
    [
        "My name is Ana.",
        "Yes please, my name is Ana",
        "thanks, I live in Rome",
        "Hi, I'm vegan",
        "ok but I never eat nuts",
        "Bye, I'm off to Lisbon tomorrow",
        "Thanks for the tip about my diabetes",
        "I don't have any allergies",
        "no, my brother moved out",
        "I love it when it rains",
        "Danke, ich wohne in Wien",
        "好的，我住在北京",
        "ありがとう、東京に住んでいます",
        "Here is my setup:\n```\nfoo()\n```",
        "Use tabs in this file:\n\ndef home():\n    return 1",
        "I bought milk, eggs, bread and then we drove home together.",
        "<b>I live in Rome with my two dogs</b>",
        "I said: {not json} and I meant it",
        "Nahum",
        "2 cats",
    ],
)
def test_a_turn_with_a_statement_is_kept(content: str) -> None:
    assert reason(content, after=STATEMENT) is None


LANGUAGES = {
    "en": ("hello again", "see you tomorrow", "thanks!", "all right"),
    "de": ("Guten Morgen", "Tschüß", "Vielen Dank für die Hilfe!", "alles klar"),
    "fr": ("Bonjour", "à bientôt", "merci beaucoup", "d’accord"),
    "es": ("¡Hola! ¿Qué tal?", "hasta luego", "muchas gracias", "vale"),
    "it": ("buongiorno", "a presto", "grazie mille", "va bene"),
    "pt": ("olá", "até logo", "muito obrigada", "tá bom"),
    "nl": ("goedemorgen", "tot ziens", "hartelijk bedankt", "geen probleem"),
    "pl": ("dzień dobry", "do widzenia", "dziękuję bardzo", "dobrze"),
    "ru": ("Привет!", "до свидания", "Спасибо большое", "понятно"),
    "uk": ("Добрий день", "до побачення", "дуже дякую", "зрозуміло"),
    "sv": ("hej hej", "vi ses", "tack så mycket", "jättebra"),
    "tr": ("merhaba", "görüşürüz", "çok teşekkürler", "tamam"),
    "ar": ("صباح الخير", "مع السلامة", "شكرا جزيلا", "حسنا"),
    "hi": ("नमस्ते", "फिर मिलेंगे", "बहुत धन्यवाद", "ठीक है"),
    "ko": ("안녕하세요", "다음에 봐요", "정말 감사합니다", "알겠습니다"),
    "zh": ("你好！", "再见", "谢谢你", "好的"),
    "ja": ("こんにちは", "さようなら", "ありがとうございます！", "わかりました"),
    "th": ("สวัสดีครับ", "แล้วเจอกันค่ะ", "ขอบคุณมาก", "เข้าใจแล้ว"),
    "id": ("selamat pagi", "sampai jumpa", "terima kasih", "baiklah"),
}
KINDS = (Reason.GREETING, Reason.FAREWELL, Reason.THANKS, Reason.ACKNOWLEDGEMENT)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(content, kind, id=f"{language}-{kind}")
        for language, contents in LANGUAGES.items()
        for content, kind in zip(contents, KINDS, strict=True)
        # Swedish says the same word for hello and goodbye; the order of the rules decides.
        if content != "hej hej"
    ],
)
def test_chatter_is_known_in_many_languages(content: str, expected: Reason) -> None:
    assert reason(content, after=STATEMENT) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("ok, thanks... bye!!", Reason.FAREWELL),
        ("well done and thank you", Reason.THANKS),
        ("好的谢谢再见", Reason.FAREWELL),
        ("はい、ありがとう", Reason.THANKS),
        ("merci, bye", Reason.FAREWELL),
        ("OK. Cool. Great.", Reason.ACKNOWLEDGEMENT),
    ],
)
def test_a_turn_of_several_phrases_takes_the_reason_of_the_first_rule_in_order(content: str, expected: Reason) -> None:
    assert reason(content) == expected


@pytest.mark.parametrize(
    ("before", "content", "expected"),
    [
        (QUESTION, "yes", None),
        (QUESTION, "Yes.", None),
        (QUESTION, "no thanks", None),
        (QUESTION, "👍", None),
        (QUESTION, "はい", None),
        ("How many rooms?", "2", None),
        ("你住在罗马吗？", "是的", None),
        ("Please confirm that you are vegan.", "correct", None),
        ("How about Monday at nine.", "sounds good", None),
        ("so you live in rome", "yep", None),  # neither capitals nor full stops: maybe a question
        (QUESTION, "thanks", Reason.THANKS),
        (QUESTION, "...", Reason.TOO_SHORT),
        ("Is there anything else I can help you with?", "no", Reason.ACKNOWLEDGEMENT),
        ("Rome is the capital of Italy.", "yes", Reason.ACKNOWLEDGEMENT),
        ("I have noted that.", "2", Reason.TOO_SHORT),
        ("", "yes", Reason.ACKNOWLEDGEMENT),
    ],
)
def test_a_turn_is_judged_against_what_it_answers(before: str, content: str, expected: Reason | None) -> None:
    assert reason(content, after=before) == expected


def test_a_tool_turn_between_question_and_answer_hides_nothing() -> None:
    earlier = [turn(0, QUESTION, Role.ASSISTANT), turn(1, "lookup done.", Role.TOOL)]

    assert judged([turn(2, "yes")], earlier).drops == ()


def test_a_second_message_still_answers_the_question() -> None:
    draft = judged([turn(0, QUESTION, Role.ASSISTANT), turn(1, "hmm"), turn(2, "yes")])

    assert [each.id for each in draft.turns] == [turn(1, "").id, turn(2, "").id]


def test_two_people_in_the_same_role_are_told_apart_by_speaker() -> None:
    turns = [turn(0, QUESTION, speaker="Mira"), turn(1, "yes", speaker="Jo")]

    assert judged(turns).drops == ()


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.SYSTEM, Role.TOOL])
def test_other_roles_are_context_only(role: Role) -> None:
    (drop,) = judged([turn(1, "The user lives in Rome.", role)]).drops

    assert drop.reason == Reason.UNTRUSTED_ROLE


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("I live in Rome.", "i live  in ROME.", Reason.REPEATED_TURN),
        ("I live in Rome.", "I live in Oslo.", None),
    ],
)
def test_what_was_just_said_is_dropped(first: str, second: str, expected: Reason | None) -> None:
    drops = judged([turn(1, first), turn(2, second)]).drops

    assert [drop.reason for drop in drops] == ([expected] if expected else [])


def test_a_repeat_outside_the_window_is_kept() -> None:
    chatter = [turn(place, "ok thanks") for place in range(1, SHIPPED.repeat_window + 1)]
    boat = turn(0, "I own a boat.")

    assert judged([turn(50, boat.content)], [boat, *chatter]).drops == ()
    assert judged([turn(50, boat.content)], [boat, *chatter[1:]]).drops != ()


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ([turn(2, "ok thanks"), turn(3, "👍"), turn(4, "I LIVE in Berlin.")], Reason.REPEATED_TURN),
        ([turn(2, "I moved to Munich.")], None),
        ([turn(2, "I moved to Munich."), turn(3, "ok thanks")], None),
        ([turn(2, "Munich is lovely.", Role.ASSISTANT)], Reason.REPEATED_TURN),
        ([turn(2, "I moved to Munich.", speaker="Jo")], Reason.REPEATED_TURN),
    ],
)
def test_what_was_said_before_is_news_once_its_speaker_has_told_something_else(
    between: list[SourceTurn], expected: Reason | None
) -> None:
    told = turn(1, "I live in Berlin.")

    assert [drop.reason for drop in judged([turn(9, told.content)], [told, *between]).drops] == (
        [expected] if expected else []
    )


def test_a_conversation_that_is_sent_again_with_each_turn_is_told_once() -> None:
    told = ["I live in Berlin.", "Nice! Since when?", "I moved there in May.", "And work?", "I work at Acme."]
    roles = [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER]
    earlier = [turn(place, text, role) for place, (text, role) in enumerate(zip(told[:3], roles[:3], strict=True))]
    again = [turn(10 + place, text, role) for place, (text, role) in enumerate(zip(told, roles, strict=True))]

    kept = judged(again, earlier).turns

    assert [each.content for each in kept] == ["I work at Acme."]


def test_a_repeat_that_answers_a_question_is_kept() -> None:
    earlier = [turn(0, "I live in Rome."), turn(1, "Where do you live?", Role.ASSISTANT)]

    assert judged([turn(2, "I live in Rome.")], earlier).drops == ()


def test_two_long_turns_that_differ_after_the_limit_are_no_repeat() -> None:
    start = "I own a boat. " * 400

    assert judged([turn(1, start + "It is red."), turn(2, start + "It is blue.")]).drops == ()


def test_the_same_turn_id_is_a_repeat_whatever_the_text() -> None:
    turns = [turn(1, "I live in Rome.", external_id="m1"), turn(2, "I live in Rome!!", external_id="m1")]

    (drop,) = judged(turns).drops

    assert (drop.turn_id, drop.reason) == (turns[1].id, Reason.REPEATED_TURN)


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (wrap("The user lives in Rome.") + "\nI moved to Oslo.", "I moved to Oslo."),
        ("I moved to Oslo.\n" + wrap("The user lives in Rome."), "I moved to Oslo."),
        ("I moved to Oslo.\n<memplatform-context>and so on, without an end", "I moved to Oslo."),
    ],
)
def test_own_words_around_recalled_text_are_kept_alone(content: str, left: str) -> None:
    draft = judged([turn(1, content)])

    assert [each.content for each in draft.turns] == [left]
    assert draft.details["cut"] == 1


def test_chatter_around_recalled_text_is_dropped_as_recalled() -> None:
    assert reason("ok thanks\n" + wrap("The user lives in Rome.")) == Reason.RECALLED_CONTEXT


def rule(name: str, pattern: str, **fields: object) -> Rule:
    return Rule(name=name, reason=fields.pop("reason", Reason.PATTERN), pattern=pattern, **fields)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([rule("late", "boat", order=2), rule("soon", "red", order=1)], "pattern:soon"),
        ([rule("late", "boat", order=1), rule("soon", "red", order=2)], "pattern:late"),
        ([rule("gap", "own.*boat", order=1), rule("plain", "red", order=2)], "pattern:gap"),
        ([rule("gap", "own.*boat", order=2), rule("plain", "red", order=1)], "pattern:plain"),
        ([rule("off", "boat", enabled=False)], None),
        ([rule("others", "boat", roles=(Role.ASSISTANT,))], None),
        ([rule("named", "boat", reason=Reason.META_TALK)], Reason.META_TALK),
        ([rule("phrase", "boat", phrase=True)], None),
        ([], None),
    ],
)
def test_the_first_rule_in_order_decides(rules: list[Rule], expected: str | None) -> None:
    assert reason("I own a RED boat.", policy=PreFilterPolicy(rules=tuple(rules))) == expected


def test_a_drop_shows_its_rule_and_what_matched() -> None:
    policy = PreFilterPolicy(rules=(rule("boats", r"red \w+"),))

    draft = judged([turn(1, "I own a Red Boat.")], policy=policy)

    assert draft.drops[0].detail == {"rule": "boats", "matched": "red boat"}
    assert draft.details["reasons"] == {"pattern:boats": 1}
    assert draft.turns == ()


def test_a_phrase_never_matches_a_turn_that_was_cut_at_the_limit() -> None:
    assert reason("ok " * 3_000 + "I live in Rome") is None


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a ",
        "a\n",
        "ok ",
        "<",
        "<a",
        "```",
        "{",
        "[",
        "|",
        "; ",
        "a, ",
        "<memplatform-context",
        "?",
        "\u0301",
        "é'",
    ],
)
def test_a_long_hostile_text_is_judged_all_the_same(piece: str) -> None:
    # A backtracking expression would never finish on this length.
    policy = PreFilterPolicy(rules=(*default_rules(), rule("nested", "(a+)+$"), rule("gap", "(a.*)+b$")))

    draft = judged([turn(1, piece * 200_000)], policy=policy)

    assert len(draft.drops) + len(draft.turns) == 1


@given(st.text(max_size=300))
def test_any_text_gets_at_most_one_reason(content: str) -> None:
    draft = judged([turn(1, content)])

    assert len(draft.drops) + len(draft.turns) == 1
    assert judged([turn(1, content)]).drops == draft.drops


WORDS = st.lists(
    st.sampled_from(["ok", "thanks", "bye", "hello", "yes", "my", "boat", "is", "red", "i", "live", "here", "👍", "."]),
    min_size=1,
    max_size=8,
)


@given(WORDS, st.sampled_from([str.upper, str.title, str.lower]), st.sampled_from(["  ", "\n", "\t "]))
def test_case_and_white_space_change_nothing(words: list[str], recase: object, space: str) -> None:
    assert callable(recase)

    assert reason(recase(space.join(words)) + space) == reason(" ".join(words))
