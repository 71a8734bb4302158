/* What happens when a write or sync has failed. */
#include "base/log.h"
#include "store/embedded/embedded_private.h"

void embedded_fail(struct embedded *embedded)
{
    atomic_store(&embedded->failed, true);
    if (!atomic_exchange(&embedded->announced, true))
        log_line(LOG_ERROR, "store: a write or sync failed; nothing more is accepted until the "
                            "disk is looked after and the server started again");
    syncer_break(&embedded->syncer);
}
