/* Lines of text, read into rows of numbers.

   A line that cannot be read is skipped and its fault noted. Nothing here uses Python; if memory
   runs out, `failed` is set, and the result must be discarded. */
#ifndef NOREGRET_TEXT_H
#define NOREGRET_TEXT_H

#include "names.h"

#include <stddef.h>
#include <stdint.h>

/* The errors of a line; parsed_rows.py has the messages, in the same order. */
enum noregret_fault_kind {
    FAULT_NO_LABEL,
    FAULT_LABEL,
    FAULT_INDEX,
    FAULT_INDEX_TOO_LARGE,
    FAULT_NO_COLON,
    FAULT_VALUE,
    FAULT_NO_VALUE,
    FAULT_TOO_LARGE,
    FAULT_SUM_TOO_LARGE,
    FAULT_NOT_UTF8,
    FAULT_NO_BAR,
    FAULT_TAB,
    FAULT_RETURN,
    FAULT_TOUCHES_BAR,
    FAULT_IMPORTANCE,
    FAULT_BASE,
    FAULT_TOO_MANY,
    FAULT_SCALE,
    FAULT_LONG_NAMESPACE,
    FAULT_INTERCEPT,
};

typedef struct {
    int64_t row;   /* how many rows came before it */
    int64_t line;  /* counted from 0 in this text */
    int64_t start; /* of the line, in bytes */
    int64_t at;    /* the byte at fault */
    int kind;
} noregret_fault;

/* What every kind of text has: rows, and what stands before their features. */
typedef struct {
    int64_t *starts; /* where each row's entries start, and one more */
    double *outcomes;
    double *importances;
    double *bases;       /* initial predictions */
    int64_t *lines;      /* counted from 0 */
    int64_t *tags;       /* two a row: where the tag starts and ends */
    int64_t count, room; /* of rows */
    noregret_fault *faults;
    int64_t fault_count, fault_room;
    int64_t line_count;
    int weighted, tagged; /* whether any row has an importance other than 1, or a tag */
    int based;            /* whether any row has an initial prediction other than 0 */
    int failed;
} noregret_lines;

/* Rows whose features have positions. */
typedef struct {
    noregret_lines lines;
    int32_t *indices;
    double *data;
    int64_t count, room; /* of entries */
} noregret_rows;

typedef struct {
    uint64_t hash;
    double value;
    uint64_t length; /* of the name; names follow each other */
} noregret_entry;

/* Entries that go by their names, one name behind the other, and eight bytes to spare. */
typedef struct {
    noregret_entry *entries;
    int64_t count, room;
    char *names;
    size_t used, size;
} noregret_named;

/* Rows whose features have names. The last lines read are in `entries` and `names`; those before
   have been placed: names known by then have their positions, and only the others are kept. */
typedef struct {
    noregret_lines lines;
    noregret_entry *entries;
    int64_t count, room;
    char *names;
    size_t used, size;
    int intercept;
    int hashed; /* whether hashes are those of collections of slots; set before names are read */
    const noregret_names *known; /* looked up in any thread, and not changed meanwhile; may be NULL */
    int64_t placed;              /* rows with positions, from here on */
    int32_t *indices;            /* NOREGRET_UNKNOWN for the next of the unknown names */
    double *data;
    int64_t filled, fill_room; /* entries with positions */
    noregret_named unknown;
    int64_t *open; /* rows with unknown names, which are not sorted yet */
    int64_t open_count, open_room;
} noregret_scanned;

enum { NOREGRET_INDEX_LIMIT = 1 << 24 };

void noregret_read_svmlight(noregret_rows *rows, const char *text, size_t size, int intercept,
                            int scored);
void noregret_scan_svmlight(noregret_scanned *scanned, const char *text, size_t size, int intercept,
                            int scored);
void noregret_scan_vw(noregret_scanned *scanned, const char *text, size_t size, int intercept,
                      int scored);

/* Look up the names of the last lines, where this text is about that many times as long as they. */
void noregret_place(noregret_scanned *scanned, int64_t times);

/* Look up the unknown names, once all lines are placed: `known` must be of an earlier state of these names.
   Rows whose outcome is NaN admit no names; without outcomes, all rows do. Returns 0, or
   NOREGRET_NO_MEMORY or NOREGRET_FULL with nothing admitted; either way once only. */
int noregret_resolve(noregret_scanned *scanned, noregret_names *names, int admitting,
                     const double *outcomes);

/* Rows of a dense table: places[c] is the output column of cell c, or one of these. */
enum { NOREGRET_SKIPPED = -1, NOREGRET_OUTCOME = -2 };

/* What an empty cell is: no plain number, 0 (but not as an outcome), or NaN. */
enum { NOREGRET_STOP = 0, NOREGRET_ZERO = 1, NOREGRET_ASLEEP = 2 };

typedef struct {
    double *X, *outcomes; /* with room for one row per line */
    int64_t *lines;
    int64_t width, rows, line_count;
    int64_t asleep; /* cells that are NaN */
    int returns;    /* whether there may be carriage returns; there are none if not */
} noregret_table;

/* Returns whether all of the text was plain, or NOREGRET_NO_MEMORY. */
int noregret_read_csv(noregret_table *table, const char *text, size_t size, int64_t columns,
                      const int32_t *places, char delimiter, int missing);

int64_t noregret_count_lines(const char *text, size_t size);

void noregret_free_lines(noregret_lines *lines);
void noregret_free_rows(noregret_rows *rows);
void noregret_free_scanned(noregret_scanned *scanned);

#endif
