/* Any line such as "+1 qid:3 4:0.5 17:1 # a comment": a label, then positions and values; or what
   is wrong with it. */
#include "svmlight.h"

#include <math.h>

/* A line is read to its end, holds nothing, or is wrong: then a fault's kind is returned. */
enum { LINE_READ = -1, LINE_EMPTY = -2 };

static inline int ends_field(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '#';
}

/* Digits only, and no more than 18 of them. */
static inline const char *read_index(const char *p, const char *end, uint64_t *index) {
    uint64_t word = noregret_load8_before(p, end) ^ EACH_BYTE('0');
    const uint64_t others = noregret_not_digits(word);
    if (LIKELY(others)) {
        const int count = noregret_zeros_below(others) >> 3;
        *index = noregret_eight_digits(word << (56 - 8 * count) << 8);
        return p + count;
    }
    const char *first = p;
    for (*index = 0; p < end && *p >= '0' && *p <= '9'; p++) {
        if (p - first < 18) {
            *index = *index * 10 + (uint64_t)(*p - '0');
        } else {
            *index = UINT64_MAX;
            first = p - 18; /* stays too large */
        }
    }
    return p;
}

static inline int put_position(noregret_svmlight_reader *reader, uint64_t index, double value) {
    noregret_rows *rows = reader->rows;
    if (UNLIKELY(index >= NOREGRET_INDEX_LIMIT)) {
        return FAULT_INDEX_TOO_LARGE;
    }
    if (UNLIKELY(rows->count == rows->room) && !noregret_grow_rows(rows, 1)) {
        return LINE_READ;
    }
    rows->indices[rows->count] = (int32_t)index + reader->intercept;
    rows->data[rows->count++] = value;
    return LINE_READ;
}

/* The name of a position is its digits, however many, without zeros in front. */
static int put_name(noregret_svmlight_reader *reader, const char *first, const char *last,
                    double value) {
    noregret_scanned *scanned = reader->scanned;
    while (last - first > 1 && *first == '0') {
        first++;
    }
    const size_t length = (size_t)(last - first);
    char *name = noregret_name_room(scanned, length);
    if (name == NULL || (scanned->count == scanned->room && !noregret_grow_scanned(scanned, 1))) {
        return LINE_READ;
    }
    memcpy(name, first, length);
    scanned->used += length;
    const noregret_entry entry = {noregret_name_hash(scanned->hashed, name, length), value,
                                  length};
    scanned->entries[scanned->count++] = entry;
    return LINE_READ;
}

static int wrong(noregret_svmlight_reader *reader, const char *at, int kind) {
    reader->at = at;
    return kind;
}

static int read_features(noregret_svmlight_reader *reader, const char *p) {
    const char *end = reader->end;
    double sum = 0;
    for (;;) {
        p = noregret_skip_blanks(p, end);
        uint64_t index;
        const char *field = p;
        p = read_index(p, end, &index);
        if (UNLIKELY(p == field)) {
            const char c = noregret_peek(p, end);
            if (c == '#' || noregret_at_line_end(p, end)) {
                reader->at = p;
                return sum < NOREGRET_MAX_VALUE ? LINE_READ
                                              : wrong(reader, reader->start, FAULT_SUM_TOO_LARGE);
            }
            if (end - p > 4 && memcmp(p, "qid:", 4) == 0) {
                p = read_index(p + 4, end, &index);
                if (p == field + 4 || !ends_field(noregret_peek(p, end))) {
                    return wrong(reader, field, FAULT_INDEX);
                }
                continue;
            }
            return wrong(reader, field, FAULT_INDEX);
        }
        if (UNLIKELY(noregret_peek(p, end) != ':')) {
            return wrong(reader, field,
                         ends_field(noregret_peek(p, end)) ? FAULT_NO_COLON : FAULT_INDEX);
        }
        double value;
        const char *colon = p, *number = ++p;
        p = noregret_read_number(p, end, &value);
        if (UNLIKELY(p == NULL || !ends_field(noregret_peek(p, end)))) {
            return wrong(reader, number,
                         ends_field(noregret_peek(number, end)) ? FAULT_NO_VALUE : FAULT_VALUE);
        }
        const double magnitude = fabs(value);
        if (UNLIKELY(!(magnitude < NOREGRET_MAX_VALUE))) {
            return wrong(reader, number, FAULT_TOO_LARGE);
        }
        sum += magnitude;
        const int status = reader->rows ? put_position(reader, index, value)
                                        : put_name(reader, field, colon, value);
        if (UNLIKELY(status != LINE_READ)) {
            return wrong(reader, field, status);
        }
    }
}

static int read_label(noregret_svmlight_reader *reader, const char **p, double *outcome) {
    const char *end = reader->end, *first = *p;
    *outcome = NAN;
    *p = noregret_read_number(first, end, outcome);
    const char c = noregret_peek(*p ? *p : first, end);
    if (*p == NULL || !ends_field(c)) {
        const char *field = first;
        while (!ends_field(noregret_peek(field, end)) && *field != ':') {
            field++;
        }
        const int missing = noregret_peek(field, end) == ':';
        *p = first;
        *outcome = NAN;
        return missing && reader->scored
                   ? LINE_READ
                   : wrong(reader, first, missing ? FAULT_NO_LABEL : FAULT_LABEL);
    }
    return fabs(*outcome) < NOREGRET_MAX_VALUE ? LINE_READ : wrong(reader, first, FAULT_TOO_LARGE);
}

void noregret_svmlight_order(noregret_svmlight_reader *reader, int64_t first) {
    noregret_rows *rows = reader->rows;
    const int64_t count = rows->count - first;
    if (count < 2) {
        return;
    }
    int32_t *at = rows->indices + first;
    int falls = 0;
    for (int64_t k = 1; k < count; k++) {
        falls |= at[k] <= at[k - 1];
    }
    if (UNLIKELY(falls)) {
        const int64_t left = noregret_sort_row(&reader->sorter, at, rows->data + first, count);
        rows->lines.failed |= left < 0;
        rows->count = first + left;
    }
}

static int read_line(noregret_svmlight_reader *reader) {
    noregret_rows *rows = reader->rows;
    const char *p = noregret_skip_blanks(reader->start, reader->end);
    reader->at = p;
    if (noregret_peek(p, reader->end) == '#' || noregret_at_line_end(p, reader->end)) {
        return LINE_EMPTY;
    }
    double outcome;
    int status = read_label(reader, &p, &outcome);
    if (status != LINE_READ) {
        return status;
    }
    const int64_t first = rows ? rows->count : reader->scanned->count;
    const size_t used = rows ? 0 : reader->scanned->used;
    if (rows && reader->intercept) {
        if (rows->count == rows->room && !noregret_grow_rows(rows, 1)) {
            return LINE_READ;
        }
        rows->indices[rows->count] = 0;
        rows->data[rows->count++] = 1;
    }
    status = read_features(reader, p);
    if (status != LINE_READ || !noregret_add_row(reader->lines, outcome, reader->line)) {
        if (rows) {
            rows->count = first;
        } else {
            reader->scanned->count = first, reader->scanned->used = used;
        }
        return status;
    }
    if (rows) {
        noregret_svmlight_order(reader, first);
    }
    noregret_svmlight_finish(reader, first);
    return LINE_READ;
}

void noregret_svmlight_read_any(noregret_svmlight_reader *reader) {
    const int status = read_line(reader);
    if (status >= 0) {
        noregret_add_fault(reader->lines, reader->line, reader->text, reader->start, reader->at,
                           status);
    }
    reader->start = noregret_line_end(reader->at, reader->end);
    reader->start += reader->start < reader->end;
    reader->line++;
}
