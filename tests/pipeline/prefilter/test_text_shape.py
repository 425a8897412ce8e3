"""Shapes without statements are distinguished from similar prose."""

import pytest

from apps.pipeline.prefilter.text_shape import is_code_only, is_emoji_only, is_payload


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\nanything at all\n```", True),
        ("~~~\nanything\n~~~", True),
        ("```\nnever closed", True),
        ("look:\n```\nx\n```", False),
        ("import os\nimport sys", True),
        ("const a = 1;\nconst b = 2;", True),
        ("for (int i = 0; i < 3; i++) {\n  sum += i;\n}", True),
        ("SELECT city FROM homes\nWHERE owner = 7;", True),
        ("total = price * 2;", True),
        ('Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: bad', True),
        ("I live in Rome;", False),
        ("I moved; she stayed;\nwe are both happy with it", False),
        ("import taxes are killing me", False),
        ("Let me tell you\nLet us talk about Rome", False),
        ("Class today was fun\nclass tomorrow as well", False),
        ("We moved to Rome last year;\nmy sister stayed in Oslo;", False),
        ("name = Ana\ncity = Rome", False),
        ("return the keys to my sister in Rome", False),
        ("from Rome with love", False),
        ("please fix this function for me today\ndef a():\n    pass", False),
        ("", False),
    ],
)
def test_code(text: str, expected: bool) -> None:
    assert is_code_only(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", True),
        ("[1, 2, 3]", True),
        ('{"a": {"b": [1, null]}}', True),
        ("[" * 15_000 + "]" * 4_000, False),
        ("{I live in Rome}", False),
        ('["unclosed"', False),
        ('{"rows": [' + "1," * 15_000 + "1]}", True),
        ("<?xml version='1.0'?><a><b>7</b></a>", True),
        ("<p>My sister lives in Rome now</p>", False),
        ("<3 you all>", False),
        ("a | b | c\n1 | 2 | 3", True),
        ("a;b;c\n1;2;3\n4;5;6", True),
        ("milk, eggs, tea\nrice, oil, salt", False),
        ("2025-03-01 10:00:01 INFO up\n2025-03-01 10:00:02 INFO down", True),
        ("2025-03-01 is my birthday", False),
        ("", False),
    ],
)
def test_payload(text: str, expected: bool) -> None:
    assert is_payload(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("😀", True), ("👩‍👩‍👧 !", True), ("🇮🇹", True), ("ok 😀", False), ("1️⃣", False), ("?!", False), ("", False)],
)
def test_emoji(text: str, expected: bool) -> None:
    assert is_emoji_only(text) is expected
