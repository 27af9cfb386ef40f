#include "field_ends.h"

#include <stdlib.h>

/* The last newline in a run of text, or NULL. */
static const char *last_newline(const char *start, const char *end) {
    while (end > start) {
        if (*--end == '\n') {
            return end;
        }
    }
    return NULL;
}

int noregret_next_piece(noregret_piece *piece, const char *start, const char *end) {
    const char *stop = end - start > NOREGRET_PIECE ? start + NOREGRET_PIECE : end;
    const char *newline = last_newline(start, stop);
    if (newline == NULL) { /* a long line: no longer than the marks can count */
        stop = end - stop > 1 << 28 ? stop + (1 << 28) : end;
        newline = memchr(start, '\n', (size_t)(stop - start));
        if (newline == NULL) {
            return 0;
        }
    }
    piece->start = start, piece->end = newline + 1;
    const int64_t room =
        piece->end - start + 72; /* every byte may be a mark, and some are too many */
    if (room > piece->room) {
        free(piece->marks);
        piece->marks = malloc((size_t)room * sizeof(uint32_t));
        piece->room = piece->marks ? room : 0;
    }
    return piece->marks != NULL;
}

void noregret_free_piece(noregret_piece *piece) {
    free(piece->marks);
    memset(piece, 0, sizeof *piece);
}
