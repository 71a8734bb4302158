#include "store/rados/first_read_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"

struct first_reads *first_reads_new(void)
{
    struct first_reads *reads = xcalloc(1, sizeof *reads);

    lock_init(&reads->lock, RANK_PARTITION);
    return reads;
}

void first_reads_free(struct first_reads *reads)
{
    for (unsigned i = 0; i < FIRST_READ_BUCKETS; i++)
        assert(!reads->buckets[i]);
    lock_release(&reads->lock);
    free(reads);
}

struct first_reading **first_reads_find(struct first_reads *reads,
                                        const struct partition *partition,
                                        struct first_read_rows rows)
{
    uint32_t hash = crc32c(crc32c(0, partition->space.b, sizeof partition->space.b),
                           partition->key.ptr, partition->key.len);
    struct first_reading **at = &reads->buckets[hash % FIRST_READ_BUCKETS];

    lock_assert_held(&reads->lock);
    for (; *at; at = &(*at)->next) {
        const struct first_reading *one = *at;

        if (one->rows.listed == rows.listed && one->rows.inner == rows.inner &&
            guid_equal(&one->partition.space, &partition->space) &&
            bytes_equal(one->partition.key, partition->key))
            break;
    }
    return at;
}
