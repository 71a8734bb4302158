/* Counters of the embedded store: see measured.h. */
#include "store/embedded/measured.h"

#include <pthread.h>

#include "base/metrics.h"

static const struct metric_family syncs = { "lagra_store_sync_seconds",
                                            "Duration of syncs of the log.", METRIC_HISTOGRAM };
static const struct metric_family woken = { "lagra_store_sync_waiters_total",
                                            "Requests and tasks that waited for a sync of the log.",
                                            METRIC_COUNTER };
static const struct metric_family commits = { "lagra_store_commits_total", "Commits applied.",
                                              METRIC_COUNTER };
static const struct metric_family conflicts = {
    "lagra_store_conflicts_total",
    "Commits refused because a partition had changed; their decisions were repeated.",
    METRIC_COUNTER
};

static struct {
    metric_slot syncs, woken, commits, conflicts;
} slots;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_series(void)
{
    slots.syncs = metric_series(&syncs, "");
    slots.woken = metric_series(&woken, "");
    slots.commits = metric_series(&commits, "");
    slots.conflicts = metric_series(&conflicts, "");
}

void measured_sync(uint64_t duration_ns, size_t count)
{
    pthread_once(&once, make_series);
    metric_observe_ns(slots.syncs, duration_ns);
    metric_add(slots.woken, (int64_t)count);
}

void measured_commit(void)
{
    pthread_once(&once, make_series);
    metric_add(slots.commits, 1);
}

void measured_conflict(void)
{
    pthread_once(&once, make_series);
    metric_add(slots.conflicts, 1);
}
