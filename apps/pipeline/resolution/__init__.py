"""How a span of text becomes a stable entity: pronouns, descriptions, names. Pure."""
