/* Counters of the embedded store, and values read by a scrape (base/metrics.h). */
#ifndef LAGRA_STORE_EMBEDDED_MEASURED_H
#define LAGRA_STORE_EMBEDDED_MEASURED_H

#include <stddef.h>
#include <stdint.h>

/* Records a sync of the log: its duration, and the number of waiters. Called by the syncer. */
void measured_sync(uint64_t duration_ns, size_t woken);
/* Record a commit that was applied, or one that conflicted. Thread-safe. */
void measured_commit(void);
void measured_conflict(void);

#endif
