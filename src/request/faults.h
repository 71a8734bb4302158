/* Faults requested by tests of clients (docs/fault-injection.md). Rules define which requests get
 * which fault, and when. Only a server started with --testing has rules; on other servers each
 * request costs one atomic load.
 *
 * (1) A rule sees a request once its operation is known and its caller is permitted. Requests that
 *     are refused earlier are unaffected. The first rule that fires, in the order in which the
 *     rules were added, determines the fault.
 * (2) Each rule ends by its count, its schedule or its duration. An ended rule remains in listings,
 *     with its counts, until it is dropped or replaced, or until there are too many rules and it is
 *     the oldest ended one.
 * (3) The effect of a rule on its nth request depends only on n and its seed.
 * Thread-safe. */
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

/* Point at which the connection is closed. */
enum fault_cut {
    FAULT_CUT_NOWHERE,
    FAULT_CUT_BEFORE_REQUEST_BODY, /* after the request's headers */
    FAULT_CUT_IN_REQUEST_BODY,     /* after half of it; after the headers if there is no body */
    FAULT_CUT_BEFORE_ANSWER,       /* after the operation was executed */
    FAULT_CUT_BEFORE_ANSWER_BODY,  /* after the response headers; before them if there is no body */
    FAULT_CUT_IN_ANSWER_BODY,      /* after half of it; before the headers if there is no body */
    FAULT_CUT_BEHIND_ANSWER,
};

/* Effects on a request. */
struct fault {
    uint64_t delay_ticks;   /* delay before the request is processed */
    enum error error;       /* replaces the result; OK if none */
    int status;             /* of that error; 0 for the error's own status */
    unsigned retry_after_s; /* 0 for no Retry-After */
    bool is_done;           /* execute the operation although the error is returned */
    enum fault_cut cut;
    bool wrong_md5;            /* in successful responses */
    uint64_t bytes_per_second; /* for the response body; 0 if unlimited */
};

/* Selects requests. In patterns, '*' matches any bytes, also none. A field with ptr NULL matches
 * everything. */
struct fault_match {
    struct bytes account;   /* name without "-secondary" */
    struct bytes service;   /* for example "blob" */
    struct bytes operation; /* name in the operation table, for example "Put Blob" */
    struct bytes name;      /* pattern: "container/blob", "queue", "table", "share/dir/file" */
    size_t header_count;
    struct fault_header {
        struct bytes name;  /* lower case */
        struct bytes value; /* pattern; does not match if the header is missing */
    } headers[FAULT_HEADERS_MAX];
};

/* Selects the matching requests that get the fault. */
struct fault_when {
    uint64_t skip;  /* number of first matches to ignore */
    uint64_t count; /* the rule ends after firing this often; 0 for no limit */
    double share;   /* fraction that gets the fault, chosen by the seed; 1 for all */
    uint64_t seed;
    struct bytes
        schedule;      /* letter n applies to match n: 'x' fires, '.' does not; ptr NULL if none */
    bool repeats;      /* repeat the schedule; otherwise the rule ends with it */
    uint64_t after_ms; /* delay from adding the rule to its start */
    uint64_t for_ms;   /* duration after the start; 0 for no limit */
};

struct fault_rule {
    struct bytes name; /* unique */
    struct bytes text; /* original JSON, for listings */
    struct fault_match match;
    struct fault fault;
    struct fault_when when;
};

/* State of a rule, for listings. */
struct fault_state {
    struct bytes name, text;
    uint64_t matched, fired; /* number of requests */
    bool is_over;
};

/* Number of rules that have not ended. */
extern _Atomic unsigned faults_active;
static inline bool faults_are_set(void)
{
    return atomic_load_explicit(&faults_active, memory_order_relaxed) > 0;
}

/* Returns true and sets *ret_fault if a rule fires for the request. The call's operation must be
 * known. */
bool faults_take(const struct call *call, struct fault *ret_fault);

/* Adds a rule, or replaces the rule of the same name, with counts of 0.
 *
 * arena    holds all data of the rule; owned by this file if the rule is added
 * returns  false if FAULT_RULES_MAX rules have not ended */
bool faults_put(struct arena *arena, const struct fault_rule *rule);
/* Returns false if no rule has this name. */
bool faults_drop(struct bytes name);
void faults_drop_all(void);
/* Calls show() for each rule, in order. show() must not call functions of this file. */
void faults_each(void (*show)(const struct fault_state *state, void *context), void *context);

#endif
