"""Wording: what sentences say once their tongue, turns of phrase, numbers and inflection are taken off."""
