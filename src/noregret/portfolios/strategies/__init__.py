"""One file per algorithm: its update in words, its promise and its class, on one page.

Every module here is found by its name; a new one is a new file.
"""
