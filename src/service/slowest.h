/* The requests that took longest in the last hour, in memory, for operators: so many of each five minutes. A request that is
 * among them takes a lock; whether it is costs the others two loads. Any thread. */
#ifndef LAGRA_SERVICE_SLOWEST_H
#define LAGRA_SERVICE_SLOWEST_H

#include "base/bytes.h"
#include "base/dates.h"
#include "base/errors.h"
#include "base/ids.h"
#include "base/lock.h"

#define SLOWEST_PERIOD_NS 300000000000u
#define SLOWEST_PERIODS   12u
#define SLOWEST_OF_PERIOD 8u
#define SLOWEST_MAX       (SLOWEST_PERIODS * SLOWEST_OF_PERIOD)
/* Of a path so much is kept. */
#define SLOWEST_PATH_MAX  256u

struct slow_request {
    instant ended; /* by the wall clock */
    uint64_t all_ns;
    const char *service, *operation; /* names; static */
    int status;
    enum error error;
    struct guid id;
    uint16_t path_length;
    char path[SLOWEST_PATH_MAX]; /* as it was sent, without the query */
};

struct slowest {
    struct lock lock;
    _Atomic uint64_t period;   /* the newest one that something was put into; 0: none yet */
    _Atomic uint64_t least_ns; /* of it, what a request has to exceed */
    struct {
        uint64_t number; /* of the period */
        unsigned count;
        struct slow_request of[SLOWEST_OF_PERIOD];
    } periods[SLOWEST_PERIODS];
};

void slowest_init(struct slowest *slowest);
/* Would it be kept? now_ns: clock_monotonic_ns() */
bool slowest_wants(const struct slowest *slowest, uint64_t now_ns, uint64_t all_ns);
void slowest_put(struct slowest *slowest, uint64_t now_ns, const struct slow_request *request);
/* Those of the last hour, the slowest first. returns how many */
size_t slowest_read(struct slowest *slowest, uint64_t now_ns,
                    struct slow_request ret_requests[SLOWEST_MAX]);

/* That of this process. */
struct slowest *slowest_of_process(void);

#endif
