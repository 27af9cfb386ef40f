#include "id_digests.h"

#include "blake2b.h"

#include <string.h>

enum { BLOCK = NOREGRET_BLAKE2B_BLOCK, LANES = NOREGRET_BLAKE2B_STRIPS };

void noregret_digest_ids(const noregret_id *ids, ptrdiff_t count, uint64_t *out) {
    unsigned char blocks[LANES * BLOCK], words[LANES * 8];
    uint64_t lengths[LANES];
    ptrdiff_t k = 0;
    for (; count - k >= LANES; k += LANES) {
        int fits = 1;
        memset(blocks, 0, sizeof blocks);
        for (int lane = 0; lane < LANES; lane++) {
            const noregret_id id = ids[k + lane];
            lengths[lane] = (uint64_t)id.size;
            fits &= id.size <= BLOCK;
            memcpy(blocks + lane * BLOCK, id.start, (size_t)(id.size < BLOCK ? id.size : BLOCK));
        }
        if (fits) {
            noregret_blake2b_8_blocks(blocks, lengths, words);
            memcpy(out + k, words, sizeof words);
            continue;
        }
        for (int lane = 0; lane < LANES; lane++) {
            noregret_blake2b_8(ids[k + lane].start, (size_t)lengths[lane], (unsigned char *)(out + k + lane));
        }
    }
    for (; k < count; k++) {
        noregret_blake2b_8(ids[k].start, (size_t)ids[k].size, (unsigned char *)(out + k));
    }
}
