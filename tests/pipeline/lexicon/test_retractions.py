"""Which value a quote replaces by which."""

import pytest

from apps.pipeline.lexicon.retractions import takes_back


@pytest.mark.parametrize(
    ("quote", "value", "former"),
    [
        ("Actually no, I use Neovim, not Vim.", "Neovim", "Vim"),
        ("I use Neovim instead of Vim", "Neovim", "vim"),
        ("I live in New York, not San Francisco.", "New York", "San Francisco"),
        ("It's the 14th, not the 15th", "fly to Oslo on the 14th", "fly to Oslo on the 15th"),
        ("It's the 14th, not the 15th", "14th", "15th"),
        ("her name is Anna, and not Anne!", "Anna", "Anne"),
        ("We're using Vite now, not Webpack", "Vite", "Webpack"),
        ("We switched from Jenkins to GitHub Actions last week.", "GitHub Actions", "Jenkins"),
        ("we replaced Poetry with uv", "uv", "Poetry"),
    ],
)
def test_a_value_is_put_in_the_place_of_another(quote: str, value: str, former: str) -> None:
    assert takes_back(quote, value=value, former=former)
    assert not takes_back(quote, value=former, former=value)


@pytest.mark.parametrize(
    ("quote", "value", "former"),
    [
        ("I use Neovim.", "Neovim", "Vim"),
        ("I use Neovim, not Emacs.", "Neovim", "Vim"),
        ("I use Neovim, not only Vim.", "Neovim", "Vim"),
        ("I do not use Vim, I use Neovim.", "Neovim", "Emacs"),
        ("I use Neovim, not Vim.", "Neovim at home", "Vim at work"),
        ("I use Neovim, not Vim.", "", ""),
        ("We drove from Rome to Bari.", "Bari", "Milan"),
    ],
)
def test_anything_else_stays(quote: str, value: str, former: str) -> None:
    assert not takes_back(quote, value=value, former=former)
