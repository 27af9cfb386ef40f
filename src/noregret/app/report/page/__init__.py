"""The parts of a page: markup, style, script, sections."""
