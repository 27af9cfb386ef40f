/* Lines of JSON that differ only in one id and in numbers. */
#ifndef NOREGRET_PLAIN_LINES_H
#define NOREGRET_PLAIN_LINES_H

#include "id_digests.h"

enum { NOREGRET_MAX_PLAIN_ID = 256 };

/* The text before an id or a number, or after the last of them. */
typedef struct {
    const char *text;
    size_t size;
    uint64_t word, mask; /* its first eight bytes */
} noregret_text;

typedef struct {
    noregret_text *texts; /* one more than there are ids and numbers */
    ptrdiff_t numbers;
    ptrdiff_t id; /* how many numbers precede the id */
} noregret_shape;

/* Fill in the first bytes of each text. */
void noregret_prepare_shape(noregret_shape *shape);

/* Read a line of this shape: return where it ends, or NULL if it is of another one, or if its id or
   a number is written in an unusual way. 16 bytes may be read from every number within the text. */
const char *noregret_read_plain(const noregret_shape *shape, const char *at, const char *end,
                                double *numbers, noregret_id *id);

#endif
