/* Shared by the readers of all text formats: buffers of rows, faults, the order in a row. */
#ifndef NOREGRET_LINES_H
#define NOREGRET_LINES_H

#include "bits.h"
#include "numbers.h"
#include "text.h"

/* The byte at p; the end of the text ends its last line. */
static inline char noregret_peek(const char *p, const char *end) {
    return LIKELY(p < end) ? *p : '\n';
}

static inline const char *noregret_skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    return p;
}

/* Where the line ends: at its newline, or at the end of the text. */
static inline const char *noregret_line_end(const char *p, const char *end) {
    const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return newline ? newline : end;
}

/* Whether nothing but carriage returns is left of the line. */
static inline int noregret_at_line_end(const char *p, const char *end) {
    while (p < end && *p == '\r') {
        p++;
    }
    return p >= end || *p == '\n';
}

/* Enlarge *block to that many items of that size; without memory, set `failed` and return false. */
int noregret_enlarge(noregret_lines *lines, void **block, int64_t items, size_t size);

/* One more row, with an importance of 1 and no tag; false where there is no memory. */
int noregret_add_row(noregret_lines *lines, double outcome, int64_t line);

void noregret_add_fault(noregret_lines *lines, int64_t line, const char *text, const char *start,
                        const char *at, int kind);

/* Make room for that many more entries. */
int noregret_grow_rows(noregret_rows *rows, int64_t more);
int noregret_grow_scanned(noregret_scanned *scanned, int64_t more);

/* Room for that many more bytes of names, and eight to spare. */
int noregret_grow_name_bytes(noregret_scanned *scanned, size_t more);

static inline char *noregret_name_room(noregret_scanned *scanned, size_t more) {
    if (UNLIKELY(scanned->size - scanned->used < more + 8)) {
        if (!noregret_grow_name_bytes(scanned, more)) {
            return NULL;
        }
    }
    return scanned->names + scanned->used;
}

/* Sort entries by position and add up those that share one, in the order given; returns how many
   are left. Room for the work grows as needed; -1 where there is no memory. */
typedef struct {
    uint64_t *keys;
    double *values;
    int64_t room;
} noregret_sorter;

int64_t noregret_sort_row(noregret_sorter *sorter, int32_t *at, double *values, int64_t count);
void noregret_free_sorter(noregret_sorter *sorter);

/* The first byte that is not part of valid UTF-8, or the end. */
const char *noregret_invalid_utf8(const char *p, const char *end);

#endif
