/* See lease.h. */
#include "cluster/lease.h"

#include "base/clock.h"

void lease_watch_saw(struct lease_watch *watch, const struct owner_record *record,
                     uint64_t asked_ns, uint64_t now_ns)
{
    watch->asked_ns = asked_ns;
    if (watch->has_record && record->renewal <= watch->record.renewal)
        return; /* not new; a read may return an older record while a newer one is being written */
    watch->has_record = true;
    watch->record = *record;
    watch->changed_ns = now_ns;
}

uint64_t lease_watch_ends(const struct lease_watch *watch)
{
    if (!watch->has_record || !watch->record.is_held)
        return 0;
    return watch->changed_ns + (watch->record.lease_ms + LEASE_MARGIN_MS) * NS_PER_MS;
}

bool lease_watch_is_silent(const struct lease_watch *watch)
{
    uint64_t ends_ns = lease_watch_ends(watch);

    return ends_ns > 0 && watch->asked_ns > ends_ns;
}
