/* A RADOS in memory that goes on by itself: a fake (fake.h) with a thread that steps it, for tests of what
 * has threads of its own. Pauses are real ones. */
#ifndef LAGRA_TESTS_RADOS_LIVE_H
#define LAGRA_TESTS_RADOS_LIVE_H

#include "fake.h"

/* What its pool of pieces is called. */
#define LIVE_POOL "pool"

struct live;
struct live *live_new(struct fake_options options);
/* Of one client. */
struct port *live_port(struct live *live);
/* Another client of the same pool, as another front end has it. Freed with the live. */
struct port *live_client(struct live *live);
/* Opens the store of a pool by this client, which makes it where there is none. grace_ticks: as of struct
 * rados_options. */
struct store *live_open(struct port *client, uint64_t grace_ticks);
struct rados_options;
/* options: but for what is of the pool. */
struct store *live_open_with(struct port *client, struct rados_options options);
/* Its ops in flight are applied, now or later, or lost; none is answered. */
void live_kill(struct live *live, struct port *client);
/* Its ops wait until it goes on, and it is told no answer, as a process that is stopped. */
void live_stop(struct live *live, struct port *client);
void live_continue(struct live *live, struct port *client);
/* It is cut off after so many ops more: each one from then on is answered as failed, and not applied; is_first_applied:
 * but for the first of them. As if it were killed there, but that it can be closed. */
void live_cut(struct live *live, struct port *client, unsigned after, bool is_first_applied);
void live_set_full(struct live *live, bool is_full);
/* The same, full, by the op of this client that comes after so many more. */
void live_fill_after(struct live *live, struct port *client, unsigned after);
/* While held no op is applied, and none is answered. */
void live_hold(struct live *live, bool is_held);
/* Before each op that is applied, and each that is answered; below a second. */
void live_set_pause(struct live *live, unsigned pause_us);
/* So many ops on shards were sent, reads and writes, by all clients. */
uint64_t live_shard_ops(struct live *live);
/* The same of pieces. */
uint64_t live_piece_ops(struct live *live);
/* Nothing may be in flight that somebody waits for. */
void live_free(struct live *live);

#endif
