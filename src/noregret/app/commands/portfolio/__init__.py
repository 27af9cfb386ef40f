"""The command ``noregret portfolio``: play strategies on prices, and explain what is refused."""
