"""Stage 1: which turns are dropped and why, and which are kept."""

import pytest

from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.prefilter.context_marker import wrap
from tests.pipeline.prefilter.judging import judged, reason, turn

STATEMENT = "Your parcel has left the warehouse."
QUESTION = "Do you live in Rome?"


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
        ('Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: bad', Reason.CODE_ONLY),
        ("SELECT city FROM homes\nWHERE owner = 7;", Reason.CODE_ONLY),
        ("2025-03-01 10:00:01 INFO up\n2025-03-01 10:00:02 INFO down", Reason.STRUCTURED_PAYLOAD),
        (wrap("The user lives in Rome."), Reason.RECALLED_CONTEXT),
        (wrap("The user lives in Rome.").upper(), Reason.RECALLED_CONTEXT),
        (wrap("The user lives in Rome.").replace("<", "&lt;").replace(">", "&gt;"), Reason.RECALLED_CONTEXT),
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
        "import taxes are killing me",
        "Class today was fun\nclass tomorrow as well",
        "return the keys to my sister in Rome",
        "milk, eggs, tea\nrice, oil, salt",
        "2025-03-01 is my birthday",
        "I wrote about memplatform-context, and about <context>.",
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
