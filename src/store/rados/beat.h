/* The heartbeats of all front ends: a row each of one object in the pool of records (front_end_rows.h), written every two
 * seconds with what its clock says, and when its oldest open snapshot was opened. Others see by it that it lives, whose
 * clock differs, and which pieces may still be read. It sees by the answers that the cluster answers. Any thread.
 *
 * A heartbeat from the future tells by how much, at least, another's clock is ahead. One that is new since the look before
 * and older than that look tells that it is behind, or that it took long to be written; so that counts if it is seen
 * again and again. Who differs from most of those that live commits nothing; of two halves those who are behind. */
#ifndef LAGRA_STORE_RADOS_BEAT_H
#define LAGRA_STORE_RADOS_BEAT_H

#include "store/rados/formats.h"
#include "store/rados/front_end_rows.h"

#define BEAT_STEP_MS     2000
/* So long the cluster may leave a heartbeat without an answer: OSDs that are lost are noticed, and others take over,
 * within some seconds. */
#define BEAT_PATIENCE_MS 5000u
/* Without a heartbeat for so long, by the clock, a front end may be dead. */
#define BEAT_DEAD_TICKS  (60 * TICKS_PER_SECOND)
/* Without a heartbeat while looks of this front end went through for so long it is dead (departed.h): a cluster that
 * does not answer kills nobody. */
#define BEAT_DEAD_MS     60000u
/* A look that comes later than this after the one before it says nothing of others. */
#define BEAT_LATE_MS     (3 * BEAT_STEP_MS)
/* Clocks may differ so much; above it the log warns, and nothing is committed. */
#define BEAT_SKEW_WARNED (TICKS_PER_SECOND / 4)
#define BEAT_SKEW_MAX    TICKS_PER_SECOND
/* Front ends that are looked at. */
#define BEAT_PEERS_MAX   256u

struct beat_row {
    instant at;
    instant oldest; /* snapshot that was open; INSTANT_MAX: none */
};
struct bytes beat_write(struct arena *arena, const struct beat_row *row);
/* False: the row is damaged. */
bool beat_read(const struct port_row *row, uint32_t *ret_incarnation, struct beat_row *ret_row);

struct beat;
struct rados;
struct beat_options {
    struct port *port;
    uint32_t incarnation;
    instant (*oldest)(struct rados *rados); /* of its own snapshots */
    struct rados *rados;
    unsigned dead_ms;     /* BEAT_DEAD_MS */
    void (*fenced)(void); /* beat_is_fenced(), once, by the thread of heartbeats; or NULL */
    uint32_t known;       /* the newest format that it knows (formats.h) */
};
/* Waits for the first one. NULL: *ret_problem (static): it cannot be written, no thread can be started, or the store's format is
 * not known. Start-up. */
struct beat *beat_start(const struct beat_options *options, const char **ret_problem);
/* Waits for the answer to the last one. is_last: nothing of this front end is left to be collected, and its rows go. */
void beat_stop(struct beat *beat, bool is_last);
bool beat_is_answered(struct beat *beat);
/* Others have taken this front end for dead: it may commit nothing any more. */
bool beat_is_fenced(struct beat *beat);
/* The format to write by. It may rise at any moment; whoever reads goes by what it finds. */
uint32_t beat_format(struct beat *beat);
/* False: this machine's clock is not that of most others. */
bool beat_clock_agrees(struct beat *beat);

/* No snapshot that another front end has open was opened before: as of some seconds ago. Who has not written its heartbeat for
 * BEAT_DEAD_TICKS reads nothing any more. 0: it is not known. */
instant beat_oldest_of_others(struct beat *beat);

/* Others that are dead, with their last heartbeats; at most `max`. */
struct beat_dead {
    uint32_t incarnation;
    struct beat_row row;
};
size_t beat_dead(struct beat *beat, struct beat_dead *ret_dead, size_t max);
/* No other that may live has a lower number: it does what one is enough for. Two may think so. */
bool beat_is_first(struct beat *beat);

/* ---- the judgement, apart for tests ---- */

/* So many looks have to tell that a clock is behind. */
#define BEAT_LOOKS_BEHIND 3u

struct beat_peer {
    uint32_t incarnation;
    unsigned looks_behind; /* of beat_judge() */
    instant at;
};
/* How long a heartbeat has been the same. */
struct beat_quiet {
    uint32_t incarnation;
    struct beat_row row;
    unsigned quiet_ms;
};
struct beat_look {
    instant begun, ended; /* by this machine's clock */
    uint64_t ended_ms;    /* by the monotonic one */
    struct beat_quiet all[BEAT_PEERS_MAX];
    size_t all_count;
    struct beat_peer peers[BEAT_PEERS_MAX];
    size_t count;
    instant oldest; /* snapshot of any that lives */
};
struct beat_judgement {
    bool agrees;
    uint64_t ahead, behind; /* ticks: what others' clocks are ahead at least, and behind */
    uint32_t farthest;      /* the front end whose clock is */
};
struct beat_judgement beat_judge(const struct beat_look *before, struct beat_look *now);
/* Counts on for those whose heartbeat has not changed. */
void beat_count_quiet(const struct beat_look *before, struct beat_look *now);

#endif
