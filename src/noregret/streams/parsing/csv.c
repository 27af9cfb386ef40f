/* Tables of plain numbers, such as "0.5,17,,1e-3". At the first cell that is anything else the
   reader gives up: another, slower one knows about quotes, words and dates. If an empty cell means
   a sleeping expert, it is NaN, also for the outcome.

   Arrow reads the same numbers, but takes 3 to 5 times as long on one core (20 columns of 3, 6 and 17
   digits), by columns that would have to be copied into rows. */
#include "cpu_dispatch.h"
#include "field_ends.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const char *safe; /* up to where fields may end to be read as usual */
    const char *end;
    char delimiter;
    int missing;      /* what an empty cell is */
    int64_t *asleep;  /* how many cells were NaN */
    int *returns;     /* whether there may be a carriage return */
    int64_t columns;
    const int32_t *places;
    const int32_t *unfilled; /* output columns that no cell goes to */
    int64_t unfilled_count;
} Reader;

static inline const char *skip_blanks(const Reader *reader, const char *p) {
    while (p < reader->end && (*p == ' ' || *p == '\t') && *p != reader->delimiter) {
        p++;
    }
    return p;
}

static inline int ends_cell(const Reader *reader, const char *p) {
    const char c = noregret_peek(p, reader->end);
    return c == reader->delimiter || c == '\n' ||
           (c == '\r' && noregret_at_line_end(p, reader->end));
}

/* Words for nothing; csv.py has the same. */
static const char *const NOTHING[] = {"NA",   "N/A",  "n/a",  "NaN", "nan",
                                      "NULL", "null", "None", "#N/A"};

static const char *after_nothing(const Reader *reader, const char *p) {
    for (size_t k = 0; k < sizeof(NOTHING) / sizeof(*NOTHING); k++) {
        const size_t length = strlen(NOTHING[k]);
        if ((size_t)(reader->end - p) > length && memcmp(p, NOTHING[k], length) == 0) {
            const char *after = skip_blanks(reader, p + length);
            if (ends_cell(reader, after)) {
                return after;
            }
        }
    }
    return NULL;
}

/* Where the cell ends; NULL where it is no plain number. */
APART static const char *read_odd_cell(const Reader *reader, const char *p, double *value,
                                       int outcome) {
    p = skip_blanks(reader, p);
    const char *nothing = ends_cell(reader, p) ? p : NULL;
    if (reader->missing == NOREGRET_ASLEEP) {
        nothing = nothing != NULL ? nothing : after_nothing(reader, p);
        if (nothing != NULL) {
            *value = NAN;
            ++*reader->asleep;
            return nothing;
        }
    } else if (nothing != NULL) {
        *value = 0;
        return reader->missing == NOREGRET_ZERO && !outcome ? p : NULL;
    }
    p = noregret_read_number(p, reader->end, value);
    if (p == NULL || !(fabs(*value) < NOREGRET_MAX_VALUE)) {
        return NULL;
    }
    p = skip_blanks(reader, p);
    return ends_cell(reader, p) ? p : NULL;
}

/* Read the row whose first mark is given; returns the mark of its newline, NULL where the row is
   not plain. The marks are where cells end. */
INLINE const uint32_t *read_row(const Reader *reader, const noregret_piece *piece,
                                const uint32_t *mark, const char *p, double *x, double *outcome) {
    for (int64_t c = 0; c < reader->columns; c++, mark++) {
        const char *end = piece->start + *mark;
        const int32_t place = reader->places[c];
        if (UNLIKELY((*end == '\n') != (c + 1 == reader->columns))) {
            return NULL;
        }
        if (LIKELY(place != NOREGRET_SKIPPED)) {
            double value;
            if (UNLIKELY(end > reader->safe || p == end || !noregret_read_field(p, end, &value) ||
                         !(fabs(value) < NOREGRET_MAX_VALUE))) {
                *reader->returns |= memchr(p, '\r', (size_t)(end - p)) != NULL;
                if (!read_odd_cell(reader, p, &value, place == NOREGRET_OUTCOME)) {
                    return NULL;
                }
            }
            *(place >= 0 ? &x[place] : outcome) = value;
        }
        p = end + 1;
    }
    return mark - 1;
}

static BITWISE(int, read_piece,
               (const Reader *reader, noregret_piece *piece, noregret_table *table),
               (reader, piece, table)) {
    const noregret_mark_set set = {reader->delimiter, '\n', 0, 4};
    const uint32_t *mark = piece->marks;
    noregret_mark(piece, set);
    for (const char *p = piece->start; p < piece->end; table->line_count++) {
        if (noregret_at_line_end(p, piece->end)) {
            *reader->returns |= *p == '\r';
            p = noregret_line_end(p, piece->end) + 1;
            mark++;
            continue;
        }
        double *x = table->X + table->rows * table->width, *outcome = table->outcomes + table->rows;
        for (int64_t k = 0; k < reader->unfilled_count; k++) {
            x[reader->unfilled[k]] = 1;
        }
        *outcome = NAN;
        mark = read_row(reader, piece, mark, p, x, outcome);
        if (mark == NULL) {
            return 0;
        }
        p = piece->start + *mark++ + 1;
        table->lines[table->rows++] = table->line_count;
    }
    return 1;
}

/* The last line may lack its newline: it is read from a copy that has one. */
static int read_last_line(Reader *reader, const char *p, noregret_piece *piece,
                          noregret_table *table) {
    const size_t size = (size_t)(reader->end - p);
    char *copy = malloc(size + 1);
    if (copy == NULL) {
        return NOREGRET_NO_MEMORY;
    }
    memcpy(copy, p, size);
    copy[size] = '\n';
    reader->safe = copy, reader->end = copy + size + 1;
    const int plain =
        noregret_next_piece(piece, copy, reader->end) && read_piece(reader, piece, table);
    free(copy);
    return plain;
}

static int64_t find_unfilled(int32_t *unfilled, int64_t width, int64_t columns,
                             const int32_t *places) {
    int64_t count = 0;
    for (int64_t k = 0; k < width; k++) {
        unfilled[k] = 1;
    }
    for (int64_t c = 0; c < columns; c++) {
        if (places[c] >= 0) {
            unfilled[places[c]] = 0;
        }
    }
    for (int64_t k = 0; k < width; k++) {
        if (unfilled[k]) {
            unfilled[count++] = (int32_t)k;
        }
    }
    return count;
}

/* Whether cells are skipped, which may hold anything; a quote in another makes it no number. */
static int skips(int64_t columns, const int32_t *places) {
    for (int64_t c = 0; c < columns; c++) {
        if (places[c] == NOREGRET_SKIPPED) {
            return 1;
        }
    }
    return 0;
}

int noregret_read_csv(noregret_table *table, const char *text, size_t size, int64_t columns,
                      const int32_t *places, char delimiter, int missing) {
    int32_t *unfilled = malloc((size_t)table->width * sizeof(int32_t) + 1);
    noregret_piece piece = {NULL, NULL, NULL, 0, 0, 0};
    if (unfilled == NULL) {
        return NOREGRET_NO_MEMORY;
    }
    Reader reader = {.safe = text + (size < NOREGRET_BEHIND_FIELD ? 0 : size - NOREGRET_BEHIND_FIELD), .end = text + size,
                     .delimiter = delimiter, .missing = missing, .asleep = &table->asleep,
                     .returns = &table->returns, .columns = columns, .places = places,
                     .unfilled = unfilled};
    reader.unfilled_count = find_unfilled(unfilled, table->width, columns, places);
    const char *p = text;
    table->returns = skips(columns, places);
    int plain = !table->returns || size == 0 || memchr(text, '"', size) == NULL;
    while (plain > 0 && p < reader.end && noregret_next_piece(&piece, p, reader.end)) {
        plain = read_piece(&reader, &piece, table);
        p = piece.end;
    }
    if (plain > 0 && p < text + size) {
        plain = read_last_line(&reader, p, &piece, table);
    }
    free(unfilled);
    noregret_free_piece(&piece);
    return plain;
}
