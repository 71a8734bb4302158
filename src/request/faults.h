/* Faults that the tests of clients ask for (docs/fault-injection.md): rules that say which requests get which fault, and when.
 * Only a server that is started with --testing has any; everybody else pays one load a request.
 *
 * (1) A rule sees a request whose operation is known and whose caller may ask for it at all: who is refused before is
 *     refused as ever. The first rule that fires, in the order in which they were put, says what happens.
 * (2) Every rule ends by itself: by its count, its schedule or its time. It is still listed then, with its counts, until
 *     it is dropped, replaced, or the oldest of too many.
 * (3) What a rule does to its nth request depends on n and its seed alone.
 * Any thread. */
#ifndef LAGRA_REQUEST_FAULTS_H
#define LAGRA_REQUEST_FAULTS_H

#include <stdatomic.h>

#include "base/dates.h"
#include "service/call.h"

#define FAULT_RULES_MAX    64u
#define FAULT_NAME_MAX     64u
#define FAULT_PATTERN_MAX  1024u
#define FAULT_HEADERS_MAX  8u
#define FAULT_SCHEDULE_MAX 4096u
#define FAULT_COUNT_MAX    1000000000u
#define FAULT_DELAY_MS_MAX 600000u
#define FAULT_TIME_MS_MAX  86400000u
#define FAULT_RATE_MAX     1000000000u
#define FAULT_RETRY_S_MAX  86400u

/* Where the connection is cut. */
enum fault_cut {
    FAULT_CUT_NOWHERE,
    FAULT_CUT_BEFORE_REQUEST_BODY, /* behind the request's head */
    FAULT_CUT_IN_REQUEST_BODY,     /* when half of it has come; of one without: behind its head */
    FAULT_CUT_BEFORE_ANSWER,       /* the operation has been done */
    FAULT_CUT_BEFORE_ANSWER_BODY,  /* behind the answer's head; of one without body: before it */
    FAULT_CUT_IN_ANSWER_BODY,      /* behind half of it, likewise */
    FAULT_CUT_BEHIND_ANSWER,
};

/* What happens to a request. */
struct fault {
    uint64_t delay_ticks;   /* before it is looked at */
    enum error error;       /* that is answered in the place of what comes of it; OK: none */
    int status;             /* of that answer; 0: the error's own */
    unsigned retry_after_s; /* 0: nothing is said of that */
    bool is_done;           /* the operation is, and the error is answered all the same */
    enum fault_cut cut;
    bool wrong_md5;            /* of a success */
    uint64_t bytes_per_second; /* of the answer's body; 0: as fast as it goes */
};

/* Which requests. Patterns: '*' stands for any bytes, also none. ptr NULL: whatever it is. */
struct fault_match {
    struct bytes account;   /* its name, without "-secondary" */
    struct bytes service;   /* "blob" */
    struct bytes operation; /* as its row has it: "Put Blob" */
    struct bytes name;      /* a pattern: "container/blob", "queue", "table", "share/dir/file" */
    size_t header_count;
    struct fault_header {
        struct bytes name;  /* lower case */
        struct bytes value; /* a pattern; one that was not sent does not fit */
    } headers[FAULT_HEADERS_MAX];
};

/* When, of those that match. */
struct fault_when {
    uint64_t skip;  /* so many of the first are left alone */
    uint64_t count; /* it ends when it has fired so often; 0: it does not */
    double share;   /* of them, by the seed; 1: all */
    uint64_t seed;
    struct bytes
        schedule;      /* the nth letter is of the nth: 'x' fires, '.' does not; ptr NULL: none */
    bool repeats;      /* the schedule does; else it ends with it */
    uint64_t after_ms; /* it begins so long after it was put */
    uint64_t for_ms;   /* and ends so long after that; 0: it does not */
};

struct fault_rule {
    struct bytes name; /* unique */
    struct bytes text; /* JSON, as it was given, to be shown */
    struct fault_match match;
    struct fault fault;
    struct fault_when when;
};

/* What is shown of a rule. */
struct fault_state {
    struct bytes name, text;
    uint64_t matched, fired; /* requests */
    bool is_over;
};

/* Rules that have not ended. */
extern _Atomic unsigned faults_active;
static inline bool faults_are_set(void)
{
    return atomic_load_explicit(&faults_active, memory_order_relaxed) > 0;
}

/* What is to happen to the request: false: nothing. Of a call whose operation is known. */
bool faults_take(const struct call *call, struct fault *ret_fault);

/* Adds a rule, or replaces the one of its name, with counts of 0.
 *
 * arena    everything of the rule lies in it; taken over if it is added
 * returns  false: there are FAULT_RULES_MAX that have not ended */
bool faults_put(struct arena *arena, const struct fault_rule *rule);
/* False: there is none of that name. */
bool faults_drop(struct bytes name);
void faults_drop_all(void);
/* In their order; no other function of this file may be called meanwhile. */
void faults_each(void (*show)(const struct fault_state *state, void *context), void *context);

#endif
