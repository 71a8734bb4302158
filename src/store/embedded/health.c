/* What happens when a write or sync has failed, and when RocksDB lacked what it needs for one. */
#include "base/log.h"
#include "store/embedded/embedded_private.h"

void embedded_fail(struct embedded *embedded)
{
    atomic_store(&embedded->failed, true);
    if (!atomic_exchange(&embedded->announced, true)) {
        log_line(LOG_ERROR, "store: a write or sync failed; nothing more is accepted until the "
                            "disk is looked after and the server started again");
        if (embedded->when_failed)
            embedded->when_failed();
    }
    syncer_break(&embedded->syncer);
}

void embedded_starve(struct embedded *embedded)
{
    if (!atomic_exchange(&embedded->starved, true))
        log_line(LOG_ERROR, "store: descriptors or memory ran out; commits are refused until the "
                            "data folder has been opened again");
}
