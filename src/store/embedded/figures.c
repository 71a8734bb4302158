/* Current figures of the engine: store_figures(). */
#include "store/embedded/embedded_private.h"

static uint64_t property(const struct keyspace *keyspace, const char *name)
{
    uint64_t value = 0;

    (void)rocksdb_property_int(keyspace->db, name, &value);
    return value;
}

bool embedded_figures(struct store *store, struct store_figures *ret_figures)
{
    struct embedded *embedded = embedded_of(store);
    const struct keyspace *keyspace = &embedded->keyspace;
    int64_t piece_bytes = atomic_load(&embedded->piece_bytes);
    uint64_t in_memory = property(keyspace, "rocksdb.cur-size-all-mem-tables");

    *ret_figures = (struct store_figures){
        .disk_reserve_bytes = embedded->space.reserve,
        .disk_free_bytes = disk_space_free(&embedded->space),
        .piece_bytes = piece_bytes > 0 ? (uint64_t)piece_bytes : 0,
        .record_bytes = property(keyspace, "rocksdb.total-sst-files-size"),
        .memory_table_bytes = in_memory,
        .live_record_bytes = property(keyspace, "rocksdb.estimate-live-data-size") + in_memory,
        .compaction_bytes = property(keyspace, "rocksdb.estimate-pending-compaction-bytes"),
        .block_cache_bytes = property(keyspace, "rocksdb.block-cache-usage"),
        .is_stalled = property(keyspace, "rocksdb.is-write-stopped") > 0 ||
                      property(keyspace, "rocksdb.actual-delayed-write-rate") > 0,
    };
    record_cache_counts(embedded->records, &ret_figures->cache_hits, &ret_figures->cache_misses);
    lock_acquire(&embedded->extents.lock);
    ret_figures->extents = embedded->extents.count;
    ret_figures->extents_open = embedded->extents.open_count;
    lock_release(&embedded->extents.lock);
    return true;
}

void embedded_collect_now(struct store *store, struct store_usage *ret_usage)
{
    struct embedded *embedded = embedded_of(store);
    struct store_usage usage;

    collector_wait(&embedded->collector);
    extents_measure(&embedded->extents, &usage.extent_count, &usage.allocated_bytes);
    usage.piece_bytes = (uint64_t)atomic_load(&embedded->piece_bytes);
    usage.pending_bytes = atomic_load(&embedded->reclaim.pending_bytes);
    *ret_usage = usage;
}
