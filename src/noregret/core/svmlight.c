/* Lines such as "+1 qid:3 4:0.5 17:1 # a comment": a label, then positions and values. */
#include "marks.h"

#include <math.h>

/* Where the reader is, and where the features of the line at hand go: one of two. */
typedef struct {
    const char *text, *end;
    const char *start; /* of the line */
    int64_t line;
    const char *at;    /* the byte at fault, or the end of the line */
    int intercept, scored;
    noregret_rows *rows;
    noregret_scanned *scanned;
    noregret_lines *lines;
    noregret_sorter sorter;
} Reader;

/* A line is read to its end, holds nothing, or is wrong: then a fault's kind is returned. */
enum { LINE_READ = -1, LINE_EMPTY = -2 };

static inline int ends_field(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '#'; }

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

static inline int put_position(Reader *reader, uint64_t index, double value) {
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

/* The name of a position is its number, without zeros in front. */
static int put_name(Reader *reader, uint64_t index, double value) {
    noregret_scanned *scanned = reader->scanned;
    char digits[20], *first = digits + sizeof digits;
    if (index == UINT64_MAX) {
        return FAULT_INDEX_TOO_LARGE;
    }
    do {
        *--first = (char)('0' + index % 10);
        index /= 10;
    } while (index);
    const size_t length = (size_t)(digits + sizeof digits - first);
    char *name = noregret_name_room(scanned, length);
    if (name == NULL || (scanned->count == scanned->room && !noregret_grow_scanned(scanned, 1))) {
        return LINE_READ;
    }
    memcpy(name, first, length);
    scanned->used += length;
    const noregret_entry entry = {noregret_hash(name, length), value, length};
    scanned->entries[scanned->count++] = entry;
    return LINE_READ;
}

static int wrong(Reader *reader, const char *at, int kind) {
    reader->at = at;
    return kind;
}

static int read_features(Reader *reader, const char *p) {
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
                return sum < NOREGRET_LARGEST ? LINE_READ : wrong(reader, reader->start, FAULT_SUM_TOO_LARGE);
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
            return wrong(reader, field, ends_field(noregret_peek(p, end)) ? FAULT_NO_COLON : FAULT_INDEX);
        }
        double value;
        const char *number = ++p;
        p = noregret_read_number(p, end, &value);
        if (UNLIKELY(p == NULL || !ends_field(noregret_peek(p, end)))) {
            return wrong(reader, number, ends_field(noregret_peek(number, end)) ? FAULT_NO_VALUE : FAULT_VALUE);
        }
        const double magnitude = fabs(value);
        if (UNLIKELY(!(magnitude < NOREGRET_LARGEST))) {
            return wrong(reader, number, FAULT_TOO_LARGE);
        }
        sum += magnitude;
        const int status = reader->rows ? put_position(reader, index, value) : put_name(reader, index, value);
        if (UNLIKELY(status != LINE_READ)) {
            return wrong(reader, field, status);
        }
    }
}

static int read_label(Reader *reader, const char **p, double *outcome) {
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
        return missing && reader->scored ? LINE_READ : wrong(reader, first, missing ? FAULT_NO_LABEL : FAULT_LABEL);
    }
    return fabs(*outcome) < NOREGRET_LARGEST ? LINE_READ : wrong(reader, first, FAULT_TOO_LARGE);
}

/* Positions mostly increase as they come. */
static void order(Reader *reader, int64_t first) {
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

static inline void finish_row(Reader *reader, int64_t first) {
    noregret_lines *lines = reader->lines;
    lines->starts[lines->count - 1] = first;
    lines->starts[lines->count] = reader->rows ? reader->rows->count : reader->scanned->count;
}

static int read_line(Reader *reader) {
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
        order(reader, first);
    }
    finish_row(reader, first);
    return LINE_READ;
}

/* Read any line, and note what is wrong with it. */
static void read_one(Reader *reader) {
    const int status = read_line(reader);
    if (status >= 0) {
        noregret_add_fault(reader->lines, reader->line, reader->text, reader->start, reader->at, status);
    }
    reader->start = noregret_line_end(reader->at, reader->end);
    reader->start += reader->start < reader->end;
    reader->line++;
}

/* Room for all entries that a piece can have; at first, for what the whole text may come to. */
static int reserve(Reader *reader, const noregret_piece *piece) {
    const int64_t pieces = (reader->end - piece->start) / (piece->end - piece->start);
    if (reader->rows) {
        noregret_rows *rows = reader->rows;
        const int64_t guess = rows->room ? 0 : (pieces + 1) * piece->count / 2;
        return rows->room - rows->count > piece->count || noregret_grow_rows(rows, piece->count + guess);
    }
    noregret_scanned *scanned = reader->scanned;
    const int64_t guess = scanned->room ? 0 : (pieces + 1) * piece->count / 2;
    return scanned->room - scanned->count > piece->count || noregret_grow_scanned(scanned, piece->count + guess);
}

static inline int ends_regularly(const char *p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

/* As put_name, for an index of up to seven digits that the text spells as the name is spelled. */
static inline int add_name(noregret_scanned *scanned, const char *field, ptrdiff_t digits, double value) {
    char *room = noregret_name_room(scanned, 8);
    if (UNLIKELY(room == NULL || (*field == '0' && digits > 1))) {
        return 0;
    }
    memcpy(room, field, 8);
    scanned->used += (size_t)digits;
    const noregret_entry entry = {noregret_hash_joined(0, 0, field, (size_t)digits), value, (size_t)digits};
    scanned->entries[scanned->count++] = entry;
    return 1;
}

/* Read a line written the usual way: single blanks, nothing but numbers. False where it is not, with
   nothing changed but entries behind the count. */
static inline int read_regular_line(Reader *reader, const noregret_piece *piece, const uint32_t **mark) {
    const char *end = reader->end, *p = piece->start + **mark;
    const uint32_t *m = *mark;
    double outcome, sum = 0;
    const int64_t first = reader->rows ? reader->rows->count : reader->scanned->count;
    int64_t filled = first;
    int32_t last = 0, falls = 0;
    if (noregret_read_number(reader->start, end, &outcome) != p || !(fabs(outcome) < NOREGRET_LARGEST)) {
        return 0;
    }
    if (reader->rows && reader->intercept) {
        reader->rows->indices[filled] = 0, reader->rows->data[filled++] = 1;
    }
    last = reader->intercept - 1;
    while (!ends_regularly(p)) {
        const char *field = p + 1;
        if (UNLIKELY(*p != ' ')) {
            return 0;
        }
        const char *colon = piece->start + *++m;
        if (UNLIKELY(*colon != ':')) {
            if (colon == field && ends_regularly(colon)) { /* a blank at the end */
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
        if (UNLIKELY(colon + 1 == p || end - p < 8 || !noregret_read_field(colon + 1, p, &value))) {
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
    if (!(sum < NOREGRET_LARGEST) || !noregret_add_row(reader->lines, outcome, reader->line)) {
        return 0;
    }
    if (reader->rows) {
        reader->rows->count = filled;
        if (UNLIKELY(falls)) {
            order(reader, first);
        }
    }
    finish_row(reader, first);
    reader->at = p, *mark = m;
    return 1;
}

static inline void read_piece(Reader *reader, const noregret_piece *piece) {
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
        read_one(reader);
        if (!reserve(reader, piece)) {
            return;
        }
        mark = noregret_mark_from(piece, mark, reader->start);
    }
}

static inline void read_lines(Reader *reader) {
    const noregret_mark_set set = {':', ':', 1};
    noregret_piece piece = {NULL, NULL, NULL, 0, 0};
    while (!reader->lines->failed && noregret_next_piece(&piece, reader->start, reader->end)) {
        noregret_mark(&piece, set);
        if (!reserve(reader, &piece)) {
            break;
        }
        read_piece(reader, &piece);
    }
    while (reader->start < reader->end && !reader->lines->failed) {
        read_one(reader);
    }
    reader->lines->line_count = reader->line;
    noregret_free_piece(&piece);
    noregret_free_sorter(&reader->sorter);
}

void noregret_read_svmlight(noregret_rows *rows, const char *text, size_t size, int intercept,
                            int scored) {
    Reader reader = {text, text + size, text, 0, text, intercept, scored, rows, NULL, &rows->lines, {NULL, NULL, 0}};
    read_lines(&reader);
}

void noregret_scan_svmlight(noregret_scanned *scanned, const char *text, size_t size, int intercept,
                            int scored) {
    Reader reader = {text, text + size, text, 0, text, intercept, scored, NULL, scanned, &scanned->lines, {NULL, NULL, 0}};
    scanned->intercept = intercept;
    read_lines(&reader);
}
