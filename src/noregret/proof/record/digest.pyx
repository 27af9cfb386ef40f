"""A digest of the data of a game, which BLAKE2b alone can reproduce.

The words of all rows (see ``recorder``) are one long message, cut into pieces of 64 KiB and those
into strips of 8 KiB, the last of them shorter. With h the 32-byte BLAKE2b and c a chain that begins
with 32 zero bytes, every piece does  c ← h(c, h(strip 1), h(strip 2), …).  The digest is h(c,
rounds, features, names): two little-endian 8-byte integers, then the names of the features as
JSON, or nothing where they are columns. Strips are hashed eight at a time, in the lanes of a
vector: that is what they are for.

Gigabytes per second on one core with AVX2, for rows in the cache: these strips 2.5, BLAKE3 from
PyPI 4.0, hashlib.blake2b without strips 0.8; with AVX-512 3.7, 5.3 and 0.6. BLAKE2b takes about 1,550 vector instructions for four
blocks, BLAKE3 1,000 for as many bytes, and both keep three units of the processor busy. BLAKE3
would not replace this code but join it, as certificates with this digest must verify for ever; and
anyone can check this digest with the standard library alone.
"""

from libc.string cimport memcpy

import json

cdef extern from "blake2b.h" nogil:
    void noregret_blake2b(const void* data, size_t length, unsigned char* out)
    void noregret_blake2b_strips(const void* data, size_t strip, unsigned char* out)

cdef enum:
    HASH = 32
    STRIP = 8192
    PIECE = 8 * STRIP


cdef class Digest:
    """A digest to which words can be added at any time, in parts of any size."""

    cdef unsigned char[9 * 32] chain         # followed by the hashes of a piece's strips
    cdef unsigned char[8 * 8192] pending
    cdef size_t waiting
    cdef bint busy                           # a thread uses it with the GIL released

    cdef int check_free(self) except -1:
        """Raise an error if another thread uses it."""
        if self.busy:
            raise RuntimeError("this digest is in use by another thread")
        return 0

    def update(self, const double[::1] words not None, Py_ssize_t rows=0) -> None:
        """Add words to the message; how many rows they are makes no difference here."""
        self.check_free()
        cdef const unsigned char* data = <const unsigned char*> &words[0] if words.shape[0] else NULL
        cdef size_t left = 8 * words.shape[0], part
        self.busy = True
        with nogil:
            if self.waiting:
                part = min(left, PIECE - self.waiting)
                memcpy(self.pending + self.waiting, data, part)
                self.waiting, data, left = self.waiting + part, data + part, left - part
                if self.waiting == PIECE:
                    self.add_piece(self.pending)
                    self.waiting = 0
            while left >= PIECE:
                self.add_piece(data)
                data, left = data + PIECE, left - PIECE
            if left:
                memcpy(self.pending, data, left)
                self.waiting = left
        self.busy = False

    cdef void add_piece(self, const unsigned char* piece) noexcept nogil:
        noregret_blake2b_strips(piece, STRIP, self.chain + HASH)
        noregret_blake2b(self.chain, 9 * HASH, self.chain)

    def text(self, long long rounds, Py_ssize_t features, names: Sequence[str]) -> str:
        """Return the digest of what was added so far, as ``blake2b:`` and hexadecimal digits."""
        self.check_free()
        cdef unsigned char[9 * 32] chain = self.chain
        cdef size_t at = 0, strips = 0, part
        while at < self.waiting:
            part = min(<size_t> STRIP, self.waiting - at)
            strips += 1
            noregret_blake2b(self.pending + at, part, chain + strips * HASH)
            at += part
        if strips:
            noregret_blake2b(chain, (1 + strips) * HASH, chain)
        tail = rounds.to_bytes(8, "little") + features.to_bytes(8, "little")
        if names:
            tail += json.dumps(list(names), ensure_ascii=False, separators=(",", ":")).encode()
        message = bytes(chain[:HASH]) + tail
        noregret_blake2b(<const unsigned char*> message, len(message), chain)
        return "blake2b:" + bytes(chain[:HASH]).hex()

    def __reduce__(self):
        return continued, self.get_state()

    def get_state(self) -> tuple[bytes, bytes]:
        """Return the state: the chain and the bytes not hashed yet."""
        self.check_free()
        return bytes(self.chain[:HASH]), bytes(self.pending[:self.waiting])

    def set_state(self, bytes chain not None, bytes pending not None) -> None:
        """Restore a state."""
        self.check_free()
        if len(chain) != HASH or len(pending) >= PIECE:
            raise ValueError("not a digest's state")
        memcpy(self.chain, <const unsigned char*> chain, HASH)
        memcpy(self.pending, <const unsigned char*> pending, len(pending))
        self.waiting = len(pending)


def words_of_rows(const double[::1] words not None, Py_ssize_t rows) -> int:
    """Return how many words the first rows of a message have."""
    cdef const unsigned int* halves = <const unsigned int*> &words[0] if words.shape[0] else NULL
    cdef Py_ssize_t at = 0, row
    for row in range(rows):
        if at >= words.shape[0]:
            raise ValueError("fewer rows than expected")
        at += 2 + <Py_ssize_t> halves[2 * at] + <Py_ssize_t> halves[2 * at + 1]
    if at > words.shape[0]:
        raise ValueError("the last row is incomplete")
    return at


def continued(bytes chain, bytes pending):
    """Return a digest with a state."""
    digest = Digest()
    digest.set_state(chain, pending)
    return digest
