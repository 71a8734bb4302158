/* Stores the clock's steps when no commit does for a long time: store_checkpoint_clock(). */
#include "store/embedded/batch.h"
#include "store/embedded/commit.h"
#include "store/embedded/embedded_private.h"

/* Writes rows that belong to no partition and that no other code changes. */
static enum store_result commit_rows(struct embedded *embedded, rocksdb_writebatch_t *writes)
{
    enum store_result result;

    while ((result = commit_write_rows(embedded, writes)) == STORE_WAIT)
        keyspace_pause();
    if (result == STORE_IO)
        embedded_fail(embedded);
    syncer_wrote(&embedded->syncer);
    return result;
}

/* There is one writer at a time: the runner of deferred tasks and, once it has ended, the thread
 * that closes the store. */
void embedded_checkpoint_clock(struct store *store)
{
    struct embedded *embedded = embedded_of(store);
    struct clock_checkpoint checkpoint = clock_checkpoint(clock_now()),
                            *written = &embedded->clock_checkpointed;
    rocksdb_writebatch_t *writes;

    if (checkpoint.steps == written->steps && !checkpoint.pending == !written->pending)
        return;
    if (atomic_load(&embedded->failed) || atomic_load(&embedded->starved))
        return;
    writes = rocksdb_writebatch_create();
    batch_put_clock_row(writes, CLOCK_ROW_OF_NONE, checkpoint);
    if (!commit_rows(embedded, writes))
        *written = checkpoint;
    rocksdb_writebatch_destroy(writes);
}
