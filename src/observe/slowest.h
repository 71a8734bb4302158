/* The slowest requests of the last hour, held in memory for operators. SLOWEST_SHOWN requests are
 * stored for each period of five minutes, so that they include the slowest of the hour, whenever
 * they occurred. Storing a request takes a lock; checking whether to store it costs two atomic
 * loads. Thread-safe. */
#ifndef LAGRA_OBSERVE_SLOWEST_H
#define LAGRA_OBSERVE_SLOWEST_H

#include "base/bytes.h"
#include "base/dates.h"
#include "base/errors.h"
#include "base/ids.h"
#include "base/lock.h"

#define SLOWEST_PERIOD_NS 300000000000u
#define SLOWEST_HOUR_NS   (12 * SLOWEST_PERIOD_NS)
#define SLOWEST_PERIODS   13u /* an hour may start and end within a period */
#define SLOWEST_SHOWN     20u
#define SLOWEST_MAX       (SLOWEST_PERIODS * SLOWEST_SHOWN)
/* Maximum stored length of a path. */
#define SLOWEST_PATH_MAX  256u

struct slow_request {
    instant ended;     /* wall clock */
    uint64_t ended_ns; /* by clock_monotonic_ns() */
    uint64_t all_ns;
    const char *service, *operation; /* names; static */
    int status;
    enum error error;
    struct guid id;
    uint16_t path_length;
    char path[SLOWEST_PATH_MAX]; /* as sent, without the query */
};

struct slowest {
    struct lock lock;
    _Atomic uint64_t period;   /* newest period that contains a request; 0 if none yet */
    _Atomic uint64_t least_ns; /* duration that a request must exceed to be stored in that period */
    struct {
        uint64_t number; /* number of the period */
        unsigned count;
        struct slow_request of[SLOWEST_SHOWN];
    } periods[SLOWEST_PERIODS];
};

void slowest_init(struct slowest *slowest);
/* Returns true if a request that took `all_ns` would be stored. now_ns: clock_monotonic_ns() */
bool slowest_wants(const struct slowest *slowest, uint64_t now_ns, uint64_t all_ns);
/* Stores a request that ended at request->ended_ns, if it is among the slowest of its period. */
void slowest_put(struct slowest *slowest, const struct slow_request *request);
/* Reads the SLOWEST_SHOWN slowest requests of the last hour, slowest first. Returns their number,
 * which is lower if fewer requests have ended. If the hour starts within a period, the requests of
 * that period are included only if they are among the slowest of that whole period. */
size_t slowest_read(struct slowest *slowest, uint64_t now_ns,
                    struct slow_request ret_requests[SLOWEST_MAX]);

/* Returns the slow-request log of this process. */
struct slowest *slowest_of_process(void);

#endif
