"""The static part of a prompt is shown section by section, and nothing of it is lost."""

from apps.pipeline.prompts.extract import STATIC
from apps.pipeline.prompts.static import sections_of


def test_sections_are_named_by_their_tags() -> None:
    text = 'Read this.\n\n<one>\nfirst\n</one>\n\n<two>\n<inner a="1">\nx\n</inner>\n</two>\n'
    assert sections_of(text) == {"introduction": "Read this.", "one": "first", "two": '<inner a="1">\nx\n</inner>'}


def test_a_text_without_sections_is_its_introduction() -> None:
    assert sections_of("Just words") == {"introduction": "Just words"}
    assert sections_of("") == {}


def test_the_extraction_prompt_has_its_sections() -> None:
    sections = sections_of(STATIC)
    wanted = ["output_schema", "type_rules", "quality_rules", "grounding_rules", "safety_rules", "examples"]
    assert [name for name in sections if name in wanted] == wanted
    assert sum(map(len, sections.values())) > 0.95 * len(STATIC)
