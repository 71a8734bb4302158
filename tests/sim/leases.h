/* Model of the leases of blobs, containers, and paths of hierarchical accounts. The simulator's clock and the server's
 * differ a little, so that for some time it is unknown whether a lease has ended: then both are possible (`late`: it has).
 * rest: Lease-Blob; semantics 3 */
#ifndef LAGRA_SIM_LEASES_H
#define LAGRA_SIM_LEASES_H

#include <stdbool.h>
#include <stdint.h>

#include "lease_act.h"

/* An end between these two times; to_ns is 0 for no end. */
struct ending {
    uint64_t from_ns, to_ns;
    unsigned life; /* of the server that set it */
};

enum lease_kind { LEASE_FREE, LEASE_HELD, LEASE_ENDED_EARLY };
struct model_lease {
    enum lease_kind kind;
    unsigned id; /* 0 if the server generated it; then it is in `text` */
    char text[40];
    int duration_s;
    struct ending ends; /* of the lease, or of what a break has left of it */
};

/* Parameters of a lease action. */
struct lease_terms {
    enum lease_act act;
    unsigned id, proposed; /* 0 if not sent */
    int duration_s;        /* -1 for an infinite lease */
    int break_s;           /* -1 if not sent */
};

/* Sets whether the server's clock and ours are equal to the tick. */
void leases_trust_clock(bool trusted);

/* The functions below are for a decision between from_ns and to_ns. */

/* Returns whether it is unknown if it has ended. */
bool ending_is_doubtful(const struct ending *ends, uint64_t from_ns, uint64_t to_ns);
bool ending_is_over(const struct ending *ends, bool late, uint64_t from_ns, uint64_t to_ns);
struct ending ending_after(uint64_t seconds, uint64_t from_ns, uint64_t to_ns);
/* Extends the period in which the end may be to that of another end. */
void ending_widen(struct ending *ends, const struct ending *other);

/* available, leased, breaking, broken, expired */
enum lease_now { NOW_AVAILABLE, NOW_LEASED, NOW_BREAKING, NOW_BROKEN, NOW_EXPIRED, NOWS };
extern const char *const lease_now_texts[NOWS];
enum lease_now model_lease_now(const struct model_lease *lease, bool late, uint64_t from_ns,
                               uint64_t to_ns);
bool model_lease_doubtful(const struct model_lease *lease, uint64_t from_ns, uint64_t to_ns);
bool model_lease_has_id(const struct model_lease *lease, unsigned id);
/* Returns NULL if a request with this id may be executed, or the error code. */
const char *model_lease_use(const struct model_lease *lease, enum lease_now now, unsigned id,
                            bool is_write, bool of_container);
/* Executes a lease action. Returns NULL, or the error code. */
const char *model_lease_act(struct model_lease *lease, enum lease_now now,
                            const struct lease_terms *terms, uint64_t from_ns, uint64_t to_ns);
/* Status of a successful action. */
int model_lease_status(enum lease_act act);
/* A write ends a lease that has expired or was broken. */
void model_lease_forget(struct model_lease *lease, enum lease_now now);

#endif
