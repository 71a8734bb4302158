/* What the embedded store counts while it works, and what a scrape looks up (base/metrics.h). */
#ifndef LAGRA_STORE_EMBEDDED_MEASURED_H
#define LAGRA_STORE_EMBEDDED_MEASURED_H

#include <stddef.h>
#include <stdint.h>

/* The log was synced, which took so long; so many were waiting for it. Syncer. */
void measured_sync(uint64_t duration_ns, size_t woken);
/* A commit was applied, or conflicted. Any thread. */
void measured_commit(void);
void measured_conflict(void);

#endif
