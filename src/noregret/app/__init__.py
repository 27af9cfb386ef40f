"""The command ``noregret``: what it asks for, does, finds and shows.

``results`` are figures, ``report`` shows them, ``commands`` does the work, ``cli`` reads the
command line.
"""
