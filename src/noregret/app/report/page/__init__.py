"""The parts of an HTML page: markup, style, script, sections, pictures."""
