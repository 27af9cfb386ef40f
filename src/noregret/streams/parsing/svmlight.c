/* Lines of positions and values. Those written the usual way, with single blanks and nothing but
   numbers, are read here and fast; at anything else the line is read again from its start by the
   reader in svmlight_lines.c. */
#include "field_ends.h"
#include "svmlight.h"

#include <math.h>

/* Room for all entries that a piece can have; at first, for what the whole text may come to. */
static int reserve(noregret_svmlight_reader *reader, const noregret_piece *piece) {
    const int64_t pieces = (reader->end - piece->start) / (piece->end - piece->start);
    if (reader->rows) {
        noregret_rows *rows = reader->rows;
        const int64_t guess = rows->room ? 0 : (pieces + 1) * piece->count / 2;
        return rows->room - rows->count > piece->count ||
               noregret_grow_rows(rows, piece->count + guess);
    }
    noregret_scanned *scanned = reader->scanned;
    const int64_t guess = scanned->room ? 0 : (pieces + 1) * piece->count / 2;
    return scanned->room - scanned->count > piece->count ||
           noregret_grow_scanned(scanned, piece->count + guess);
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
   with nothing changed but entries behind the count. */
static inline int read_regular_line(noregret_svmlight_reader *reader, const noregret_piece *piece,
                                    const uint32_t **mark) {
    const char *end = reader->end, *p = piece->start + **mark;
    const uint32_t *m = *mark;
    double outcome, sum = 0;
    const int64_t first = reader->rows ? reader->rows->count : reader->scanned->count;
    int64_t filled = first;
    int32_t last = 0, falls = 0;
    if (noregret_read_number(reader->start, end, &outcome) != p ||
        !(fabs(outcome) < NOREGRET_MAX_VALUE)) {
        return 0;
    }
    if (reader->rows && reader->intercept) {
        reader->rows->indices[filled] = 0, reader->rows->data[filled++] = 1;
    }
    last = reader->intercept - 1;
    m = skip_group(piece, m);
    p = piece->start + *m;
    while (!noregret_ends_line(p)) {
        const char *field = p + 1;
        if (UNLIKELY(*p != ' ')) {
            return 0;
        }
        const char *colon = piece->start + *++m;
        if (UNLIKELY(*colon != ':')) {
            if (colon == field && noregret_ends_line(colon)) { /* a blank at the end */
                p = colon;
                break;
            }
            return 0;
        }
        p = piece->start + *++m;
        const uint64_t word = noregret_load8_before(field, end) ^ EACH_BYTE('0');
        const ptrdiff_t digits = colon - field;
        double value;
        if (UNLIKELY(digits < 1 || digits > 7 || noregret_not_digits(word) << (64 - 8 * digits))) {
            return 0;
        }
        if (UNLIKELY(colon + 1 == p || end - p < NOREGRET_BEHIND_FIELD ||
                     !noregret_read_field(colon + 1, p, &value))) {
            return 0;
        }
        const uint64_t index = noregret_eight_digits(word << (64 - 8 * digits));
        sum += fabs(value);
        if (reader->rows) {
            const int32_t at = (int32_t)index + reader->intercept;
            falls |= at <= last;
            last = at;
            reader->rows->indices[filled] = at, reader->rows->data[filled++] = value;
        } else if (UNLIKELY(!add_name(reader->scanned, field, digits, value))) {
            return 0;
        }
    }
    if (!(sum < NOREGRET_MAX_VALUE) || !noregret_add_row(reader->lines, outcome, reader->line)) {
        return 0;
    }
    if (reader->rows) {
        reader->rows->count = filled;
        if (UNLIKELY(falls)) {
            noregret_svmlight_order(reader, first);
        }
    }
    noregret_svmlight_finish(reader, first);
    reader->at = p, *mark = m;
    return 1;
}

static inline void read_piece(noregret_svmlight_reader *reader, const noregret_piece *piece) {
    const uint32_t *mark = piece->marks;
    while (reader->start < piece->end && !reader->lines->failed) {
        const int64_t count = reader->scanned ? reader->scanned->count : 0;
        const size_t used = reader->scanned ? reader->scanned->used : 0;
        if (LIKELY(read_regular_line(reader, piece, &mark))) {
            mark += *reader->at == '\r';
            reader->start = reader->at + 1 + (*reader->at == '\r');
            reader->line++, mark++;
            continue;
        }
        if (reader->scanned) {
            reader->scanned->count = count, reader->scanned->used = used;
        }
        noregret_svmlight_read_any(reader);
        if (!reserve(reader, piece)) {
            return;
        }
        mark = noregret_mark_from(piece, mark, reader->start);
    }
}

static inline void read_lines(noregret_svmlight_reader *reader) {
    const noregret_mark_set set = {':', ':', 1, 12};
    noregret_piece piece = {NULL, NULL, NULL, 0, 0};
    while (!reader->lines->failed && noregret_next_piece(&piece, reader->start, reader->end)) {
        noregret_mark(&piece, set);
        if (!reserve(reader, &piece)) {
            break;
        }
        read_piece(reader, &piece);
    }
    while (reader->start < reader->end && !reader->lines->failed) {
        noregret_svmlight_read_any(reader);
    }
    reader->lines->line_count = reader->line;
    noregret_free_piece(&piece);
    noregret_free_sorter(&reader->sorter);
}

void noregret_read_svmlight(noregret_rows *rows, const char *text, size_t size, int intercept,
                            int scored) {
    noregret_svmlight_reader reader = {.text = text, .end = text + size, .start = text, .at = text,
                                       .intercept = intercept, .scored = scored, .rows = rows,
                                       .lines = &rows->lines};
    read_lines(&reader);
}

void noregret_scan_svmlight(noregret_scanned *scanned, const char *text, size_t size, int intercept,
                            int scored) {
    noregret_svmlight_reader reader = {.text = text, .end = text + size, .start = text, .at = text,
                                       .intercept = intercept, .scored = scored,
                                       .scanned = scanned, .lines = &scanned->lines};
    scanned->intercept = intercept;
    read_lines(&reader);
}
