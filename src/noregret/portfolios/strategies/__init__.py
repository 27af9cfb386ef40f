"""One file an algorithm: its update in words, its promise and its class, on one page.

Every module here is found and imported by itself; a new one is a new file.
"""
