"""What ``noregret run`` does: a stream, a learner, and all that is written down about them."""
