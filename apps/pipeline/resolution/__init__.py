"""Resolution of pronouns, descriptions and names to entities."""
