"""Cards of learners and games in a notebook."""
