"""One file per algorithm: its update, its promise and its class.

Every module here is found by its name; a new one is a new file.
"""
