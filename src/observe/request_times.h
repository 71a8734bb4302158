/* Where the time of a request goes: which stage it is in, and how long it has been in each. Used on the
 * thread that has the request. */
#ifndef LAGRA_OBSERVE_REQUEST_TIMES_H
#define LAGRA_OBSERVE_REQUEST_TIMES_H

#include "base/clock.h"
#include "observe/probes.h"

/* The numbers are those of the probes (docs/monitoring.md). */
enum request_stage {
    AT_HEAD, /* its head is understood, who asks is found out */
    AT_BODY, /* its body comes in; a large one is written meanwhile */
    AT_STAGED, /* all of it has come: what was written reaches the disk; what it names elsewhere is read */
    AT_THREAD, /* it waits for a thread that may wait for a disk */
    AT_DECIDE, /* it is decided and committed, once or several times */
    AT_OTHERS, /* it waits for an SMB client to give up what it has cached */
    AT_SYNC,   /* what it reports reaches the disk */
    AT_ANSWER, /* its answer is made */
    AT_SEND,   /* its answer goes out */
    REQUEST_STAGES,
};

struct request_times {
    enum request_stage stage;
    bool is_timed; /* a log wants it: else only the probes see the stages */
    uint64_t since_ns;
    uint64_t spent_ns[REQUEST_STAGES];
};

/* Ends the stage at `now_ns`. */
static inline void request_times_add(struct request_times *times, uint64_t now_ns)
{
    times->spent_ns[times->stage] += now_ns - times->since_ns;
    times->since_ns = now_ns;
}

/* Enters a stage. The address of `times` identifies the request to the probes. */
static inline void request_times_enter(struct request_times *times, enum request_stage stage)
{
    if (times->stage == stage)
        return;
    if (times->is_timed)
        request_times_add(times, clock_monotonic_ns());
    PROBE_STAGE(times, times->stage, stage);
    times->stage = stage;
}

#endif
