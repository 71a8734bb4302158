/* Internal to analytics/: the data collected from events for the thread that writes it. */
#ifndef LAGRA_ANALYTICS_PRIVATE_H
#define LAGRA_ANALYTICS_PRIVATE_H

#include "analytics/analytics.h"
#include "base/lock.h"
#include "base/thread.h"
#include "observe/analytics_event.h"
#include "request/gather.h"
#include "request/cell_request.h"

/* Counts of the requests in an hour or a minute, and the entity that stores them.
 * rest: Storage-Analytics-Metrics-Table-Schema */

struct tally {
    uint64_t ingress, egress; /* bytes including headers */
    uint64_t counts[ANALYTICS_OUTCOMES][ANALYTICS_WHO];
    double e2e_ms, server_ms; /* sums over successful requests */
};

void tally_count(struct tally *tally, const struct analytics_event *event);
/* Returns the entity without its keys, as JSON. */
struct bytes tally_write(struct arena *arena, const struct tally *tally);
/* Adds the counts in an entity. Returns false if it is malformed. */
bool tally_read(struct arena *arena, struct bytes json, struct tally *tally);

/* Lines of one hour, for one blob. */
struct log_part {
    struct log_part *next;
    instant hour;        /* start of the hour */
    instant first, last; /* start times of the requests */
    unsigned version;    /* of the lines */
    unsigned kinds;      /* of the requests: LOGS_ bits */
    size_t line_count;
    size_t length, capacity;
    char *bytes;
};
/* Limits: lines of a blob; unwritten lines of all accounts; counted operations. */
#define LOG_PART_BYTES_MAX ((size_t)4 << 20)
#define PENDING_BYTES_MAX  ((size_t)32 << 20)
#define TALLIES_MAX        16384u

/* Counts of an operation; for all operations the name is "All". */
struct api_tally {
    struct api_tally *next;
    bool is_system; /* for requests of Storage Analytics itself */
    char name[ANALYTICS_NAME_SIZE];
    struct tally tally;
};

/* A service of an account that is logged or measured. Lives as long as struct analytics. */
struct monitored {
    struct monitored *next;        /* in its bucket; constant once listed */
    const struct account *account; /* constant, like the following two */
    unsigned service;
    const char *service_name;
    /* Under lock. */
    struct analytics_logging logging;
    struct analytics_metrics hour, minute;
    struct log_part *oldest, *newest;
    struct api_tally *tallies;
    instant tallied; /* newest request in `tallies` */
    /* Used only by the thread. */
    bool has_logs;         /* $logs exists or was created */
    instant named_hour;    /* hour of the last blob name used */
    unsigned next_number;  /* number of the next blob in that hour */
    instant summed_until;  /* hours before it have their totals, even without requests */
    instant expired_until; /* data before it was checked for expiry */
    instant capacity_day;  /* day of the last or current capacity count */
};

#define MONITORED_BUCKETS 256u

struct analytics {
    const struct endpoint_set *endpoints;
    struct store *store;
    const struct accounts *accounts;
    unsigned every_s;
    struct lock lock;
    pthread_cond_t changed;                         /* waited for by the thread */
    pthread_cond_t stops;                           /* waited for by the capacity thread */
    struct monitored *monitored[MONITORED_BUCKETS]; /* changed only by the thread, under lock */
    size_t pending_bytes, tally_count;              /* under lock, like the following members */
    /* is_stale: an account's service properties were changed */
    bool stopping, is_full, is_stale;
    struct thread thread;
    /* The thread that counts an account's capacity: one at a time, started and joined by the main
     * thread. */
    struct monitored *counted; /* service being counted; NULL means no thread */
    bool has_counted;          /* under lock; the thread is ending */
    struct thread counter;
};

/* ---- collect.c ---- */

/* Sets the instance for analytics_take(), or NULL. Main thread only. */
void collect_into(struct analytics *analytics);
/* Returns true if long operations should stop. */
bool collect_is_stopping(struct analytics *analytics);
/* Reads and applies the accounts' current settings. May block. */
void collect_settings(struct analytics *analytics);
/* Collected data, oldest first, owned by the caller; and the current settings. */
struct collected {
    struct log_part *parts;
    struct api_tally *tallies;
    instant tallied;
    struct analytics_logging logging;
    struct analytics_metrics hour, minute;
};
void collected_take(struct analytics *analytics, struct monitored *monitored,
                    struct collected *ret_collected);
/* Puts back data that could not be written. It is retried later, or dropped if it does not fit. */
void collected_put_back(struct analytics *analytics, struct monitored *monitored,
                        struct log_part *part);
void log_part_free(struct analytics *analytics, struct log_part *part);
void api_tally_free(struct analytics *analytics, struct api_tally *tally);

/* ---- requests: collect.c ---- */

/* Returns true if this process owns a cell other than the root cell of a cluster, which has $logs
 * and the metrics tables. */
static inline bool is_other_cell(const struct analytics *analytics)
{
    const struct endpoint *endpoint = &analytics->endpoints->endpoints[0];

    return endpoint->peers && !endpoint->places;
}
/* Sends an internal request, which is counted as a system request. In a cluster, it is sent to the
 * root cell. asked: its path is raw and relative to the account */
enum error ask(struct analytics *analytics, const struct account *account, const char *service,
               struct arena *arena, struct internal_request *asked,
               struct internal_response *ret_answer);

/* ---- capacity.c ---- */

/* Starts counting the capacity of the account's Blob service once a day, if hourly metrics are
 * enabled. */
void capacity_begin(struct analytics *analytics, struct monitored *monitored, instant now);
/* Waits until the count has ended, which does not take long if the server is stopping. */
void capacity_join(struct analytics *analytics);

/* ---- logs.c, metrics.c, retention.c ---- */

/* Creates $logs, if it does not exist. */
enum error logs_make(struct analytics *analytics, const struct account *account);
/* Writes the part as a blob. */
enum error logs_write(struct analytics *analytics, struct monitored *monitored,
                      const struct log_part *part);
/* An entity of a metrics table. */
struct metrics_place {
    const char *table; /* "$MetricsHourPrimaryTransactions", without the service */
    instant at;        /* start of its day, hour or minute */
    const struct monitored *monitored;
};
/* Checks whether the entity exists. Returns OK; E_TableNotFound, E_ResourceNotFound .. */
enum error metrics_find(struct analytics *analytics, struct arena *arena,
                        const struct metrics_place *place, struct bytes row);
/* Replaces the entity; creates the table. */
enum error metrics_put(struct analytics *analytics, struct arena *arena,
                       const struct metrics_place *place, struct bytes row, struct bytes json);
/* Adds to the entities of the hour and the minute. */
void metrics_write(struct analytics *analytics, struct monitored *monitored,
                   const struct collected *collected);
/* Writes entities for past hours without requests. */
void metrics_finish_hours(struct analytics *analytics, struct monitored *monitored, instant now);
/* Deletes data past its retention period. */
void retention_apply(struct analytics *analytics, struct monitored *monitored, instant now);

/* Memory for one step. */
#define STEP_ARENA_MAX ((size_t)32 << 20)

/* ---- lines of a log. rest: Storage-Analytics-Log-Format ---- */

/* Writes a status message such as "SASClientOtherError", which is also the name of a metrics
 * column. */
void outcome_write(struct text *to, enum analytics_who who, enum analytics_outcome outcome);

/* Writes the lines of a request with their line ends: one, or three for a copy.
 * event    followed by its strings
 * version  of the format: 1 or 2 */
void line_write(const struct analytics_event *event, unsigned version, struct text *to);
#define LINES_BYTES_MAX ((size_t)512 << 10)

#endif
