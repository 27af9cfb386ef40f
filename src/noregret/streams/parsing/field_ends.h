/* Where the fields of a piece of text end.

   Found sixteen or eight bytes at a time before anything is read, so that the fields are then read
   independently of each other, and the processor works on several at once. */
#ifndef NOREGRET_MARKS_H
#define NOREGRET_MARKS_H

#include "row_buffers.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { NOREGRET_PIECE = 1 << 15 };

/* Whole lines, each with its newline, and the places of the marks in them. */
typedef struct {
    const char *start, *end;
    uint32_t *marks;
    int64_t count, room;
    int ascii;
} noregret_piece;

/* What counts as a mark: two characters, and with blanks also everything up to the blank. Most runs of
   64 bytes have up to `usual` of them. */
typedef struct {
    char one, other;
    int blanks, usual;
} noregret_mark_set;

#if defined(__SSE2__)
INLINE uint64_t noregret_marks_of_16(const char *p, noregret_mark_set set) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(set.one)),
                                 _mm_cmpeq_epi8(bytes, _mm_set1_epi8(set.other)));
    if (set.blanks) {
        found = _mm_or_si128(found, _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes));
    }
    return (uint64_t)(uint32_t)_mm_movemask_epi8(found);
}
#else
INLINE uint64_t noregret_marks_of_8(const char *p, noregret_mark_set set) {
    const uint64_t word = noregret_load8(p);
    uint64_t found = noregret_equal_bytes(word, (uint8_t)set.one) |
                     noregret_equal_bytes(word, (uint8_t)set.other);
    if (set.blanks) {
        const uint64_t above = ((word & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f - ' ')) | word;
        found |= ~above & EACH_BYTE(0x80);
    }
    return (found >> 7) * UINT64_C(0x0102040810204080) >> 56; /* the bits side by side */
}

INLINE uint64_t noregret_marks_of_16(const char *p, noregret_mark_set set) {
    return noregret_marks_of_8(p, set) | noregret_marks_of_8(p + 8, set) << 8;
}
#endif

INLINE int noregret_ones(uint64_t word) {
    word -= word >> 1 & EACH_BYTE(0x55);
    word = (word & EACH_BYTE(0x33)) + (word >> 2 & EACH_BYTE(0x33));
    return (int)(((word + (word >> 4)) & EACH_BYTE(0x0f)) * EACH_BYTE(1) >> 56);
}

/* Write down the places of the ones, `usual` of them at first and then eight at a time: a few too
   many, so that few branches depend on their number. */
INLINE uint32_t *noregret_write_marks(uint32_t *out, uint32_t base, uint64_t found, int usual) {
    const int count = noregret_ones(found);
    for (int done = 0, many = usual; done < count; done += many, many = 8) {
        for (int k = 0; k < many; k++) {
            out[done + k] = base + (uint32_t)noregret_zeros_below(found | UINT64_C(1) << 63);
            found &= found - 1;
        }
    }
    return out + count;
}

/* The top bits of 16 bytes or'ed together say whether any of them is not ASCII. */
#if defined(__SSE2__)
typedef __m128i noregret_any;

INLINE noregret_any noregret_add_any(noregret_any any, const char *p) {
    return _mm_or_si128(any, _mm_loadu_si128((const __m128i *)(const void *)p));
}

INLINE int noregret_any_top(noregret_any any) { return _mm_movemask_epi8(any) != 0; }

INLINE noregret_any noregret_none(void) { return _mm_setzero_si128(); }
#else
typedef uint64_t noregret_any;

INLINE noregret_any noregret_add_any(noregret_any any, const char *p) {
    return any | noregret_load8(p) | noregret_load8(p + 8);
}

INLINE int noregret_any_top(noregret_any any) { return (any & EACH_BYTE(0x80)) != 0; }

INLINE noregret_any noregret_none(void) { return 0; }
#endif

INLINE void noregret_mark(noregret_piece *piece, noregret_mark_set set) {
    const char *p = piece->start;
    uint32_t *out = piece->marks;
    noregret_any any = noregret_none();
    char rest = 0;
    for (; piece->end - p >= 64; p += 64) {
        const uint64_t found =
            noregret_marks_of_16(p, set) | noregret_marks_of_16(p + 16, set) << 16 |
            noregret_marks_of_16(p + 32, set) << 32 | noregret_marks_of_16(p + 48, set) << 48;
        any = noregret_add_any(noregret_add_any(any, p), p + 16);
        any = noregret_add_any(noregret_add_any(any, p + 32), p + 48);
        out = noregret_write_marks(out, (uint32_t)(p - piece->start), found, set.usual);
    }
    for (; p < piece->end; p++) {
        *out = (uint32_t)(p - piece->start);
        out += *p == set.one || *p == set.other || (set.blanks && (uint8_t)*p <= ' ');
        rest |= *p;
    }
    piece->count = out - piece->marks;
    piece->ascii = !noregret_any_top(any) && !(rest & 0x80);
}

/* The next piece of a text, from start on: false where no whole line with a newline is left, a line
   is too long to be worth it, or there is no memory. */
int noregret_next_piece(noregret_piece *piece, const char *start, const char *end);
void noregret_free_piece(noregret_piece *piece);

/* The first mark not before p. */
static inline const uint32_t *noregret_mark_from(const noregret_piece *piece, const uint32_t *mark,
                                                 const char *p) {
    const uint32_t *end = piece->marks + piece->count;
    while (mark < end && piece->start + *mark < p) {
        mark++;
    }
    return mark;
}

/* Whether a mark ends the line, as "\n" or "\r\n". */
static inline int noregret_ends_line(const char *p) {
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

#endif
