"""Readers of files of other products, and of this one: generators of turns, memories and problems. Pure."""
