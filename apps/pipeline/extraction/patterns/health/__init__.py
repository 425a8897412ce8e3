"""Statements of health by what they name: a medicine, a condition, or what somebody's body does not bear."""
