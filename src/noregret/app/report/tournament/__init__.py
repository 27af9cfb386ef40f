"""The summary of ``noregret tournament``: that of a mix, with a table of the learners."""
