/* Timing of a request: its current stage, and the time spent in each stage. Used on the thread that
 * currently runs the request. */
#ifndef LAGRA_OBSERVE_REQUEST_TIMES_H
#define LAGRA_OBSERVE_REQUEST_TIMES_H

#include "base/clock.h"
#include "observe/probes.h"

/* The probes report these numbers (docs/monitoring.md). */
enum request_stage {
    AT_HEAD, /* parsing the header and authenticating the caller */
    AT_BODY, /* receiving the body; a large one is written at the same time */
    /* body received; waiting until it is on disk, and reading data that the request refers to */
    AT_STAGED,
    AT_THREAD, /* waiting for a thread that may block on a disk */
    AT_DECIDE, /* deciding and committing, once or several times */
    AT_OTHERS, /* waiting for an SMB client to release cached data */
    AT_SYNC,   /* waiting until the data that the response reports is on disk */
    AT_ANSWER, /* creating the response */
    AT_SEND,   /* sending the response */
    REQUEST_STAGES,
};

struct request_times {
    enum request_stage stage;
    bool is_timed; /* a log needs the times; otherwise only the probes see the stages */
    uint64_t since_ns;
    uint64_t spent_ns[REQUEST_STAGES];
};

/* Ends the stage at `now_ns`. */
static inline void request_times_add(struct request_times *times, uint64_t now_ns)
{
    times->spent_ns[times->stage] += now_ns - times->since_ns;
    times->since_ns = now_ns;
}

/* Enters a stage. The address of `times` identifies the request in the probes. */
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
