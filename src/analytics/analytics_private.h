/* Inside analytics/ only: what is collected, between who takes events and the thread that writes. */
#ifndef LAGRA_ANALYTICS_PRIVATE_H
#define LAGRA_ANALYTICS_PRIVATE_H

#include "analytics/analytics.h"
#include "analytics/tally.h"
#include "base/lock.h"
#include "base/thread.h"
#include "service/gather.h"
#include "service/own_request.h"

/* Lines of one hour: what becomes a blob. */
struct log_part {
    struct log_part *next;
    instant hour;        /* begins it */
    instant first, last; /* begins of the requests */
    unsigned version;    /* of the lines */
    unsigned kinds;      /* of the requests: LOGS_ bits */
    size_t line_count;
    size_t length, capacity;
    char *bytes;
};
/* A blob's lines; those of all accounts that are not written yet, and operations that are counted. */
#define LOG_PART_BYTES_MAX ((size_t)4 << 20)
#define PENDING_BYTES_MAX  ((size_t)32 << 20)
#define TALLIES_MAX        16384u

/* What is counted of an operation; of all: the name is "All". */
struct api_tally {
    struct api_tally *next;
    bool is_system; /* of requests of Storage Analytics itself */
    char name[ANALYTICS_NAME_SIZE];
    struct tally tally;
};

/* An account's service of which something is kept. Lives as long as struct analytics. */
struct watched {
    struct watched *next;          /* of its bucket; constant once listed */
    const struct account *account; /* constant, as the next two */
    unsigned service;
    const char *service_name;
    /* Under lock. */
    struct analytics_logging logging;
    struct analytics_metrics hour, minute;
    struct log_part *oldest, *newest;
    struct api_tally *tallies;
    instant tallied; /* the newest that is counted there */
    /* The thread's. */
    bool has_logs;         /* $logs was made for it, or was there */
    instant named_hour;    /* in which the next blob's name was looked for */
    unsigned next_number;  /* of a blob in that hour */
    instant summed_until;  /* hours before it have their sums, of no requests too */
    instant expired_until; /* what is older was looked for */
    instant capacity_day;  /* which was counted last, or is being counted */
};

#define WATCHED_BUCKETS 256u

struct analytics {
    const struct endpoint_set *endpoints;
    struct store *store;
    const struct accounts *accounts;
    unsigned every_s;
    struct lock lock;
    pthread_cond_t changed;                   /* waited for by the thread */
    pthread_cond_t stops;                     /* by the one that counts */
    struct watched *watched[WATCHED_BUCKETS]; /* listed under lock, by the thread alone */
    size_t pending_bytes, tally_count;        /* under lock, as all below */
    bool stopping, is_full, is_stale;         /* is_stale: properties of some account were set */
    struct thread thread;
    /* The thread that counts what an account keeps: one at a time, begun and joined by the other. */
    struct watched *counted; /* of whom; NULL: it was joined */
    bool has_counted;        /* under lock: it ends */
    struct thread counter;
};

/* ---- collect.c ---- */

/* The one that runs, for analytics_take(); NULL: none. Main thread. */
void collect_into(struct analytics *analytics);
/* Whoever looks at much is to end soon. */
bool collect_is_stopping(struct analytics *analytics);
/* Reads what accounts ask for as it is now, and acts by it from now on. Thread that may block. */
void collect_settings(struct analytics *analytics);
/* Counts a request of Storage Analytics itself. */
void collect_own(struct analytics *analytics, const struct account *account, unsigned service,
                 const struct analytics_event *event);
/* What was collected, oldest first, is the caller's; the settings as they are. */
struct collected {
    struct log_part *parts;
    struct api_tally *tallies;
    instant tallied;
    struct analytics_logging logging;
    struct analytics_metrics hour, minute;
};
void collected_take(struct analytics *analytics, struct watched *watched,
                    struct collected *ret_collected);
/* It could not be written: it is tried again, or left out where there is no room for it. */
void collected_put_back(struct analytics *analytics, struct watched *watched,
                        struct log_part *part);
void log_part_free(struct analytics *analytics, struct log_part *part);
void api_tally_free(struct analytics *analytics, struct api_tally *tally);

/* ---- ask.c ---- */

/* A request of the service to itself, counted as such. asked: its path is below the account, raw */
enum error ask(struct analytics *analytics, const struct account *account, const char *service,
               struct arena *arena, struct own_request *asked, struct own_answer *ret_answer);

/* ---- capacity.c ---- */

/* Once a day, where sums of hours are wanted: begins to count what the Blob service of the account keeps. */
void capacity_begin(struct analytics *analytics, struct watched *watched, instant now);
/* Waits for the end of a count; while the server stops that is soon. */
void capacity_join(struct analytics *analytics);

/* ---- logs.c, metrics.c, retention.c ---- */

/* Makes $logs, if it is not there. */
enum error logs_make(struct analytics *analytics, const struct account *account);
/* Writes the part as a blob. */
enum error logs_write(struct analytics *analytics, struct watched *watched,
                      const struct log_part *part);
/* An entity of a table of metrics. */
struct metrics_place {
    const char *table; /* "$MetricsHourPrimaryTransactions", without the service */
    instant at;        /* begins its day, hour or minute */
    const struct watched *watched;
};
/* returns OK: it is there; E_TableNotFound, E_ResourceNotFound .. */
enum error metrics_find(struct analytics *analytics, struct arena *arena,
                        const struct metrics_place *place, struct bytes row);
/* In the place of what there is; makes the table. */
enum error metrics_put(struct analytics *analytics, struct arena *arena,
                       const struct metrics_place *place, struct bytes row, struct bytes json);
/* Adds to the entities of the hour and the minute. */
void metrics_write(struct analytics *analytics, struct watched *watched,
                   const struct collected *collected);
/* Hours that are over and had no requests have their entity, too. */
void metrics_finish_hours(struct analytics *analytics, struct watched *watched, instant now);
/* Deletes what is older than its policy has it. */
void retention_apply(struct analytics *analytics, struct watched *watched, instant now);

/* Of memory for one step. */
#define STEP_ARENA_MAX ((size_t)32 << 20)

#endif
