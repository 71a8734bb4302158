/* Counters. */
#include "store/embedded/counters.h"

#include "base/endian.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"

enum store_result embedded_count_in(struct store *store, const rocksdb_readoptions_t *state,
                                    struct bytes key, struct store_access access, int64_t *ret_sum)
{
    rocksdb_pinnableslice_t *value;
    enum store_result result =
        keyspace_get(&embedded_of(store)->keyspace, state, access, key, &value);
    struct bytes bytes;

    *ret_sum = 0;
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    bytes.ptr = rocksdb_pinnableslice_value(value, &bytes.len);
    if (bytes.len == sizeof *ret_sum)
        *ret_sum = (int64_t)le64_get(bytes.ptr);
    else
        result = STORE_CORRUPT;
    rocksdb_pinnableslice_destroy(value);
    if (result)
        log_line(LOG_ERROR, "store: a counter is corrupt");
    return result;
}

/* The newest sequence, read after the sum, covers everything in it. */
enum store_result embedded_count(struct store *store, const struct guid *space, struct bytes key,
                                 struct store_access access, int64_t *ret_sum,
                                 uint64_t *ret_sequence)
{
    struct embedded *embedded = embedded_of(store);
    enum store_result result = STORE_OK;
    uint64_t dropped_at;

    spaces_enter(&embedded->spaces, space);
    dropped_at = spaces_dropped_at(&embedded->spaces, space);
    spaces_leave(&embedded->spaces, space);
    *ret_sum = 0;
    if (dropped_at == 0)
        result = embedded_count_in(store, embedded->keyspace.newest, key, access, ret_sum);
    *ret_sequence = dropped_at > 0 ? dropped_at : keyspace_sequence(&embedded->keyspace);
    return result;
}
