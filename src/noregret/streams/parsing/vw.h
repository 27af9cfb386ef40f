/* Vowpal Wabbit's format, shared by its two readers: one for lines written the usual way, one for
   all lines. */
#ifndef NOREGRET_VW_H
#define NOREGRET_VW_H

#include "row_buffers.h"

enum { LINE_READ = -1, LINE_EMPTY = -2, LONGEST_NAMESPACE = 255 };

typedef struct {
    const char *text, *end, *start;
    int64_t line;
    const char *at; /* the byte at fault, or the end of the line */
    int intercept, scored;
    int ascii; /* whether the line is known to be ASCII */
    noregret_scanned *scanned;
    char prefix[LONGEST_NAMESPACE + 9]; /* the namespace and ^, and room to copy by words */
    size_t prefix_length;
    uint64_t prefix_word; /* the prefix where it has fewer than eight bytes, and zeros behind it */
    double scale;
    int64_t nameless; /* features without a name in this namespace so far */
    double sum;
} noregret_vw_reader;

/* The words before the first bar. */
typedef struct {
    double number[3]; /* label, importance, base */
    int count;
    const char *tag, *tag_end;
} noregret_vw_head;

/* These read from *at on and move it; they return LINE_READ or the kind of a fault. */
int noregret_vw_read_head(noregret_vw_reader *reader, const char **at, noregret_vw_head *head);
int noregret_vw_read_namespace(noregret_vw_reader *reader, const char **at);

/* Read any line. */
int noregret_vw_read_line(noregret_vw_reader *reader);

/* Add the row whose entries start there, unless it has faults as a whole. */
int noregret_vw_keep_row(noregret_vw_reader *reader, const noregret_vw_head *head, int64_t first);

static inline int noregret_vw_is_intercept(const char *name, size_t length) {
    return length == NOREGRET_INTERCEPT_LENGTH && memcmp(name, NOREGRET_INTERCEPT, length) == 0;
}

#endif
