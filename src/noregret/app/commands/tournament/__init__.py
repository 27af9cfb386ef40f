"""The command ``noregret tournament``: many learners on one stream, mixed by a master."""
