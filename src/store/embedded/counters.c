/* Counters. */
#include "store/embedded/counters.h"

#include "base/endian.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"

/* Read after the sum, the newest sequence covers all that went into it. */
enum store_result embedded_count(struct store *store, const struct guid *space, struct bytes key,
                                 struct store_access access, int64_t *ret_sum,
                                 uint64_t *ret_sequence)
{
    struct embedded *embedded = embedded_of(store);
    const struct keyspace *keyspace = &embedded->keyspace;
    rocksdb_pinnableslice_t *value;
    enum store_result result;
    uint64_t dropped_at;
    struct bytes bytes;

    spaces_enter(&embedded->spaces, space);
    dropped_at = spaces_dropped_at(&embedded->spaces, space);
    spaces_leave(&embedded->spaces, space);
    *ret_sum = 0;
    result = dropped_at > 0 ? STORE_NOT_FOUND
                            : keyspace_get(keyspace, keyspace->newest, access, key, &value);
    *ret_sequence = dropped_at > 0 ? dropped_at : keyspace_sequence(keyspace);
    if (result == STORE_NOT_FOUND)
        return STORE_OK;
    if (result)
        return result;
    bytes.ptr = rocksdb_pinnableslice_value(value, &bytes.len);
    if (bytes.len == sizeof *ret_sum)
        *ret_sum = (int64_t)le64_get(bytes.ptr);
    else
        result = STORE_CORRUPT;
    rocksdb_pinnableslice_destroy(value);
    if (result)
        log_line(LOG_ERROR, "store: a counter is damaged");
    return result;
}
