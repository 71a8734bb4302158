/* Handles a failed write or sync, and a RocksDB that ran out of resources for one. */
#include "base/log.h"
#include "store/embedded/embedded_private.h"

static void fail(struct embedded *embedded, const char *why)
{
    atomic_store(&embedded->failed, true);
    if (!atomic_exchange(&embedded->announced, true)) {
        log_line(LOG_ERROR, "store: %s", why);
        if (embedded->when_failed)
            embedded->when_failed();
    }
    syncer_break(&embedded->syncer);
}

void embedded_fail(struct embedded *embedded)
{
    fail(embedded, "a write or sync failed; no more changes are accepted until the disk has "
                   "been checked and the server restarted");
}

void embedded_damaged(void *embedded)
{
    fail(embedded, "records are damaged; no more changes are accepted, and the next start "
                   "reports the possible repairs");
}

void embedded_starve(struct embedded *embedded)
{
    if (!atomic_exchange(&embedded->starved, true))
        log_line(LOG_ERROR, "store: out of descriptors or memory; commits are refused until the "
                            "data directory has been reopened");
}
