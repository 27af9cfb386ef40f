"""The report of ``noregret portfolio``: wealth beside that of the best constant shares."""
