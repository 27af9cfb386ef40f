/* Lines of positions and values. Those written the usual way, with single blanks and nothing but
   numbers, are read here and fast; at anything else the line is read again from its start by the
   reader in svmlight_lines.c. */
#include "cpu_dispatch.h"
#include "field_ends.h"
#include "svmlight.h"

#include <math.h>

/* Room for all entries that a piece can have; at first, for what the whole text may come to if
   they stay. */
static int reserve(noregret_svmlight_reader *reader, const noregret_piece *piece) {
    if (reader->rows) {
        noregret_rows *rows = reader->rows;
        const int64_t pieces = (reader->end - piece->start) / (piece->end - piece->start);
        const int64_t guess = rows->room ? 0 : (pieces + 1) * piece->count / 2;
        return rows->room - rows->count > piece->count ||
               noregret_grow_rows(rows, piece->count + guess);
    }
    noregret_scanned *scanned = reader->scanned;
    return scanned->room - scanned->count > piece->count ||
           noregret_grow_scanned(scanned, piece->count);
}

/* As put_name, for an index of up to seven digits that the text spells as the name is spelled. */
static inline int add_name(noregret_scanned *scanned, const char *field, ptrdiff_t digits,
                           double value) {
    char *room = noregret_name_room(scanned, 8);
    if (UNLIKELY(room == NULL || (*field == '0' && digits > 1))) {
        return 0;
    }
    memcpy(room, field, 8);
    scanned->used += (size_t)digits;
    const uint64_t hash = scanned->hashed ? noregret_hash_joined(0, 0, field, (size_t)digits)
                                          : noregret_quick_hash(0, 0, field, (size_t)digits);
    const noregret_entry entry = {hash, value, (size_t)digits};
    scanned->entries[scanned->count++] = entry;
    return 1;
}

/* Past " qid:17", where that follows the label. */
static const uint32_t *skip_group(const noregret_piece *piece, const uint32_t *mark) {
    const char *p = piece->start + *mark;
    if (piece->end - p > 6 && memcmp(p, " qid:", 5) == 0) {
        const char *digit = p + 5, *end = piece->start + mark[2];
        while (digit < end && *digit >= '0' && *digit <= '9') {
            digit++;
        }
        return digit == end && end > p + 5 ? mark + 2 : mark;
    }
    return mark;
}

/* Read a line written the usual way: single blanks, nothing but numbers. False where it is not,
   with nothing changed but entries behind the count. What the loop needs is in local variables:
   otherwise it would be reloaded after every number written, which might alias it. */
INLINE int read_regular_line(noregret_svmlight_reader *reader, const noregret_piece *piece,
                             const uint32_t **mark, const int numbered) {
    const char *start = piece->start, *end = reader->end;
    const char *p = start + **mark;
    const uint32_t *m = *mark;
    double outcome, sum = 0;
    const int64_t first = numbered ? reader->rows->count : reader->scanned->count;
    int32_t *at = numbered ? reader->rows->indices + first : NULL;
    double *data = numbered ? reader->rows->data + first : NULL;
    const int32_t intercept = reader->intercept;
    int32_t last = intercept - 1, falls = 0;
    if (noregret_read_number(reader->start, end, &outcome) != p ||
        !(fabs(outcome) < NOREGRET_MAX_VALUE)) {
        return 0;
    }
    if (numbered && intercept) {
        *at++ = 0, *data++ = 1;
    }
    m = skip_group(piece, m);
    p = start + *m;
    while (!noregret_ends_line(p)) {
        const char *field = p + 1;
        if (UNLIKELY(*p != ' ')) {
            return 0;
        }
        const char *colon = start + *++m;
        if (UNLIKELY(*colon != ':')) {
            if (colon == field && noregret_ends_line(colon)) { /* a blank at the end */
                p = colon;
                break;
            }
            return 0;
        }
        p = start + *++m;
        const ptrdiff_t digits = colon - field;
        double value;
        if (UNLIKELY((size_t)digits - 1 > 6 || end - p < NOREGRET_BEHIND_FIELD ||
                     colon + 1 == p || !noregret_read_field(colon + 1, p, &value))) {
            return 0;
        }
        const uint64_t word = noregret_first_bytes(field, digits);
        if (UNLIKELY(noregret_not_digits(word))) {
            return 0;
        }
        sum += fabs(value);
        if (numbered) {
            const int32_t here = (int32_t)noregret_eight_digits(word) + intercept;
            falls |= here <= last;
            last = here;
            *at++ = here, *data++ = value;
        } else if (UNLIKELY(!add_name(reader->scanned, field, digits, value))) {
            return 0;
        }
    }
    if (!(sum < NOREGRET_MAX_VALUE) || !noregret_add_row(reader->lines, outcome, reader->line)) {
        return 0;
    }
    if (numbered) {
        reader->rows->count = at - reader->rows->indices;
        if (UNLIKELY(falls)) {
            noregret_svmlight_order(reader, first);
        }
    }
    noregret_svmlight_finish(reader, first);
    reader->at = p, *mark = m;
    return 1;
}

INLINE void read_piece(noregret_svmlight_reader *reader, const noregret_piece *piece,
                       const int numbered) {
    const uint32_t *mark = piece->marks;
    while (reader->start < piece->end && !reader->lines->failed) {
        const int64_t count = numbered ? 0 : reader->scanned->count;
        const size_t used = numbered ? 0 : reader->scanned->used;
        if (LIKELY(read_regular_line(reader, piece, &mark, numbered))) {
            mark += *reader->at == '\r';
            reader->start = reader->at + 1 + (*reader->at == '\r');
            reader->line++, mark++;
            continue;
        }
        if (!numbered) {
            reader->scanned->count = count, reader->scanned->used = used;
        }
        noregret_svmlight_read_any(reader);
        if (!reserve(reader, piece)) {
            return;
        }
        mark = noregret_mark_from(piece, mark, reader->start);
    }
}

INLINE void read_lines(noregret_svmlight_reader *reader, const int numbered) {
    const noregret_mark_set set = {':', ':', 1, 12};
    noregret_piece piece = {NULL, NULL, NULL, 0, 0, 0};
    while (!reader->lines->failed && noregret_next_piece(&piece, reader->start, reader->end)) {
        noregret_mark(&piece, set);
        if (!reserve(reader, &piece)) {
            break;
        }
        read_piece(reader, &piece, numbered);
        if (!numbered) {
            noregret_place(reader->scanned,
                           (reader->end - reader->text) / (piece.end - piece.start) + 1);
        }
    }
    while (reader->start < reader->end && !reader->lines->failed) {
        noregret_svmlight_read_any(reader);
    }
    if (!numbered) {
        noregret_place(reader->scanned, 1);
    }
    reader->lines->line_count = reader->line;
    noregret_free_piece(&piece);
    noregret_free_sorter(&reader->sorter);
}

BITWISE(void, noregret_read_svmlight,
        (noregret_rows * rows, const char *text, size_t size, int intercept, int scored),
        (rows, text, size, intercept, scored)) {
    noregret_svmlight_reader reader = {.text = text, .end = text + size, .start = text, .at = text,
                                       .intercept = intercept, .scored = scored, .rows = rows,
                                       .lines = &rows->lines};
    read_lines(&reader, 1);
}

BITWISE(void, noregret_scan_svmlight,
        (noregret_scanned * scanned, const char *text, size_t size, int intercept, int scored),
        (scanned, text, size, intercept, scored)) {
    noregret_svmlight_reader reader = {.text = text, .end = text + size, .start = text, .at = text,
                                       .intercept = intercept, .scored = scored,
                                       .scanned = scanned, .lines = &scanned->lines};
    scanned->intercept = intercept;
    read_lines(&reader, 0);
}
