/* Feed the readers of text anything at all: for a coverage-guided fuzzer.

   clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize=unsigned-integer-overflow \
       -Isrc/noregret/streams/parsing -Isrc/noregret/base/compiled tools/fuzz_text.c \
       src/noregret/streams/parsing/{numbers,names,row_buffers,sort_row,field_ends,svmlight,svmlight_lines,vw,vw_lines,place_names,resolve_names,csv}.c
   -lm -o fuzz
   ./fuzz -max_len=4096 corpus/

   The first byte chooses the options. Every row that comes out is checked to be in order. The text
   is copied to memory of just its size, so that reading past it is seen. */
#include "numbers.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

static void check(int holds) {
    if (!holds) {
        abort();
    }
}

static void check_rows(const noregret_rows *rows, const int64_t *starts, int64_t count) {
    for (int64_t row = 0; row < count; row++) {
        check(starts[row] <= starts[row + 1] && starts[row + 1] <= rows->count);
        for (int64_t k = starts[row]; k < starts[row + 1]; k++) {
            check(rows->indices[k] >= 0 && fabs(rows->data[k]) < NOREGRET_MAX_VALUE);
            check(k == starts[row] || rows->indices[k] > rows->indices[k - 1]);
        }
    }
}

static void check_lines(const noregret_lines *lines, const char *text, size_t size) {
    check(!lines->failed && lines->line_count == noregret_count_lines(text, size));
    for (int64_t k = 0; k < lines->fault_count; k++) {
        const noregret_fault *fault = &lines->faults[k];
        check(0 <= fault->start && fault->start <= fault->at && fault->at <= (int64_t)size);
        check(fault->line < lines->line_count && fault->row <= lines->count);
    }
    for (int64_t row = 0; row < lines->count; row++) {
        check(0 <= lines->tags[2 * row] && lines->tags[2 * row] <= lines->tags[2 * row + 1]);
        check(lines->tags[2 * row + 1] <= (int64_t)size);
    }
}

static void check_scanned(const noregret_scanned *scanned, const noregret_names *names) {
    const noregret_rows rows = {{0}, scanned->indices, scanned->data, scanned->filled, 0};
    check_rows(&rows, scanned->lines.starts, scanned->lines.count);
    for (int64_t k = 0; k < scanned->filled; k++) {
        check(scanned->indices[k] < names->count);
    }
}

/* Twice: the second time, half of the names are known from the start. */
static void read_names(const char *text, size_t size, int options) {
    noregret_names names = {0}, known = {0};
    names.bits = options & 8 ? 3 : 0;
    for (int again = 0; again < 2; again++) {
        noregret_scanned scanned = {{0}};
        scanned.hashed = names.bits != 0;
        scanned.known = again ? &known : NULL;
        if (options & 4) {
            noregret_scan_vw(&scanned, text, size, options & 1, options & 2);
        } else {
            noregret_scan_svmlight(&scanned, text, size, options & 1, options & 2);
        }
        check_lines(&scanned.lines, text, size);
        check(noregret_resolve(&scanned, &names, 1, NULL) == 0);
        check_scanned(&scanned, &names);
        noregret_free_scanned(&scanned);
        noregret_cut_names(&names, names.count / 2);
        noregret_free_names(&known);
        check(noregret_copy_names(&known, &names));
    }
    noregret_free_names(&known);
    noregret_free_names(&names);
}

static void read_positions(const char *text, size_t size, int options) {
    noregret_rows rows = {{0}, NULL, NULL, 0, 0};
    noregret_read_svmlight(&rows, text, size, options & 1, options & 2);
    check_lines(&rows.lines, text, size);
    check_rows(&rows, rows.lines.starts, rows.lines.count);
    noregret_free_rows(&rows);
}

static void read_table(const char *text, size_t size, int options) {
    static const int32_t places[4] = {2, NOREGRET_SKIPPED, NOREGRET_OUTCOME, 0};
    const int64_t columns = 1 + (options & 3), lines = noregret_count_lines(text, size);
    noregret_table table = {NULL, NULL, NULL, 4, 0, 0};
    table.X = malloc((size_t)lines * 4 * sizeof(double) + 1);
    table.outcomes = malloc((size_t)lines * sizeof(double) + 1);
    table.lines = malloc((size_t)lines * sizeof(int64_t) + 1);
    const int plain = noregret_read_csv(&table, text, size, columns, places,
                                        options & 4 ? ',' : '\t', options & 8);
    check(plain >= 0 && table.rows <= lines && (!plain || table.line_count == lines));
    free(table.X), free(table.outcomes), free(table.lines);
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    noregret_prepare_numbers();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    char *text = malloc(size - 1 ? size - 1 : 1);
    memcpy(text, data + 1, size - 1);
    const int kind = data[0] >> 4 & 3, options = data[0] & 15;
    if (kind == 0) {
        read_table(text, size - 1, options);
    } else if (kind == 1) {
        read_positions(text, size - 1, options);
    } else {
        read_names(text, size - 1, options);
    }
    free(text);
    return 0;
}
