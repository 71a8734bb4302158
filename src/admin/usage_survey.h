/* Storage used by the accounts of a server, as of the last count (service/usage.h): a low-priority
 * thread counts from time to time, and on request. The report supplies metrics, and capacity
 * limits, which also consider bytes received since, so that they are not exceeded by much. */
#ifndef LAGRA_ADMIN_USAGE_SURVEY_H
#define LAGRA_ADMIN_USAGE_SURVEY_H

#include "base/lock.h"
#include "base/thread.h"
#include "service/server.h"
#include "service/usage.h"

/* Number of largest containers reported individually. */
#define SURVEY_SHOWN_MAX 100u

struct survey_options {
    const struct endpoint_set *endpoints;
    struct store *store;
    struct accounts *accounts;
    unsigned every_ms; /* 0: only on request */
};

struct usage_survey;
/* Returns NULL if no thread could be started. */
struct usage_survey *usage_survey_start(const struct survey_options *options);
/* Stops the thread. Call before closing the store. */
void usage_survey_stop(struct usage_survey *survey);

/* Holds the usage of one account in one service. */
struct survey_total {
    struct bytes account;
    const char *service;
    uint64_t containers;
    struct usage usage;
};
/* One of the largest containers. */
struct survey_container {
    struct survey_total of; /* containers: 1 */
    struct bytes name;
};
struct survey_listener {
    void (*total)(void *context, const struct survey_total *total);
    void (*container)(void *context, const struct survey_container *container);
    void *context;
};
/* Runs a survey now; blocks on disk I/O. Calls are serialized. Returns false if something could
 * not be read. */
bool usage_survey_count(struct usage_survey *survey);
/* Passes the last report to the listener, valid during the calls; none before the first count. */
void usage_survey_read(struct usage_survey *survey, const struct survey_listener *listener);

/* Prints the last report as metrics. */
void usage_survey_print(struct usage_survey *survey, struct text *to);

#endif
