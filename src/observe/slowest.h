/* The requests that took longest in the last hour, in memory, for operators: SLOWEST_SHOWN of each five minutes, so that
 * they have those of the hour among them, whenever in it these came. A request that is kept takes a lock; whether it is
 * costs the others two loads. Any thread. */
#ifndef LAGRA_OBSERVE_SLOWEST_H
#define LAGRA_OBSERVE_SLOWEST_H

#include "base/bytes.h"
#include "base/dates.h"
#include "base/errors.h"
#include "base/ids.h"
#include "base/lock.h"

#define SLOWEST_PERIOD_NS 300000000000u
#define SLOWEST_HOUR_NS   (12 * SLOWEST_PERIOD_NS)
#define SLOWEST_PERIODS   13u /* an hour begins and ends within a period */
#define SLOWEST_SHOWN     20u
#define SLOWEST_MAX       (SLOWEST_PERIODS * SLOWEST_SHOWN)
/* Of a path so much is kept. */
#define SLOWEST_PATH_MAX  256u

struct slow_request {
    instant ended;     /* by the wall clock */
    uint64_t ended_ns; /* by clock_monotonic_ns() */
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
        struct slow_request of[SLOWEST_SHOWN];
    } periods[SLOWEST_PERIODS];
};

void slowest_init(struct slowest *slowest);
/* Would it be kept? now_ns: clock_monotonic_ns() */
bool slowest_wants(const struct slowest *slowest, uint64_t now_ns, uint64_t all_ns);
/* Keeps a request that has ended at request->ended_ns. */
void slowest_put(struct slowest *slowest, const struct slow_request *request);
/* Reads the SLOWEST_SHOWN slowest of the last hour, the slowest first. Returns how many there are: fewer where fewer have
 * ended. In an hour that begins within a period, requests of that period count as far as they are among its slowest. */
size_t slowest_read(struct slowest *slowest, uint64_t now_ns,
                    struct slow_request ret_requests[SLOWEST_MAX]);

/* That of this process. */
struct slowest *slowest_of_process(void);

#endif
