/* Lines of positions and values, as their two readers share them: one for lines written the usual
   way, one for all. */
#ifndef NOREGRET_SVMLIGHT_H
#define NOREGRET_SVMLIGHT_H

#include "row_buffers.h"

/* Where the reader is, and where the features of the line at hand go: one of two. */
typedef struct {
    const char *text, *end;
    const char *start; /* of the line */
    int64_t line;
    const char *at; /* the byte at fault, or the end of the line */
    int intercept, scored;
    noregret_rows *rows;
    noregret_scanned *scanned;
    noregret_lines *lines;
    noregret_sorter sorter;
} noregret_svmlight_reader;

/* Read any line, note what is wrong with it, and go on to the next. */
void noregret_svmlight_read_any(noregret_svmlight_reader *reader);

/* Put the row's entries, from first on, in order. */
void noregret_svmlight_order(noregret_svmlight_reader *reader, int64_t first);

/* Say where the entries of the row just added start and end. */
static inline void noregret_svmlight_finish(noregret_svmlight_reader *reader, int64_t first) {
    noregret_lines *lines = reader->lines;
    lines->starts[lines->count - 1] = first;
    lines->starts[lines->count] = reader->rows ? reader->rows->count : reader->scanned->count;
}

#endif
