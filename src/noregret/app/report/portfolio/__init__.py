"""The report of ``noregret portfolio``: wealth compared with the best constant shares."""
