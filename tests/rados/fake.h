/* A RADOS in memory, for tests of the store: the rules of store/rados/port.h, and what goes wrong in a
 * cluster, drawn from a seed. Nothing happens until fake_step(): so a test owns time, and the same seed
 * gives the same run. One thread.
 *
 * Faults, each in 1 of so many ops; 0: never.
 *   resent   an op is applied, its answer is lost, and it is applied again later as if for the first time,
 *            behind ops of other clients: what the cluster does once the PG log has forgotten it. The
 *            answer is that of the second time
 *   late     an answer waits while others go ahead (never those behind it on the same object)
 * fake_client_kill() ends a client: each of its ops in flight is applied, now or later, or is lost; none is
 * answered. fake_set_full(): what grows is PORT_FULL. */
#ifndef LAGRA_TESTS_RADOS_FAKE_H
#define LAGRA_TESTS_RADOS_FAKE_H

#include "store/rados/port.h"

struct fake;
struct fake_options {
    uint64_t seed;
    unsigned resent, late;
    /* Each op that was just applied, with its result: nothing else has happened since. May be NULL. */
    void (*applied)(const struct port_op *op);
};
struct fake *fake_new(struct fake_options options);
/* From now on. */
void fake_set_faults(struct fake *fake, unsigned resent, unsigned late);
void fake_free(struct fake *fake);

/* A client, as one front end has it. Freed with the fake. */
struct port *fake_client(struct fake *fake);
/* Its ops in flight are freed; done() is not called. */
void fake_client_kill(struct fake *fake, struct port *client);
void fake_set_full(struct fake *fake, bool is_full);

/* Does one thing that was to happen: applies an op, or answers one. False: nothing is in flight. */
bool fake_step(struct fake *fake);
/* A random number below `below`, from the same seed: for the choices of a test. */
uint32_t fake_random(struct fake *fake, uint32_t below);

/* How many ops were applied in all, resent ones twice. */
uint64_t fake_applied(const struct fake *fake);
/* A row as it lies in an object, for judging; NULL ptr: none. Valid until the next step. */
struct bytes fake_row(const struct fake *fake, const char *object, struct bytes key);
uint32_t fake_row_count(const struct fake *fake, const char *object);

#endif
