/* Measures the storage used by the accounts of a server (service/usage.h). A low-priority thread
 * counts it periodically and on request. Metrics and capacity limits use its report; the limits
 * also count the bytes received since, so that they cannot be exceeded by much. */
#ifndef LAGRA_ADMIN_USAGE_SURVEY_H
#define LAGRA_ADMIN_USAGE_SURVEY_H

#include "base/lock.h"
#include "base/thread.h"
#include "service/server.h"
#include "service/usage.h"

/* Maximum number of largest containers reported individually. */
#define SURVEY_SHOWN_MAX 100u

struct survey_options {
    const struct endpoint_set *endpoints;
    struct store *store;
    struct accounts *accounts;
    unsigned every_ms; /* 0 means only on request */
};

struct usage_survey;
/* Returns NULL if no thread could be started. */
struct usage_survey *usage_survey_start(const struct survey_options *options);
/* Stops the thread. Call before closing the store. */
void usage_survey_stop(struct usage_survey *survey);

/* Usage of one account in one service. */
struct survey_total {
    struct bytes account;
    const char *service;
    uint64_t containers;
    struct usage usage;
};
/* One of the largest containers. */
struct survey_container {
    struct survey_total of; /* its number of containers is 1 */
    struct bytes name;
};
struct survey_listener {
    void (*total)(void *context, const struct survey_total *total);
    void (*container)(void *context, const struct survey_container *container);
    void *context;
};
/* Counts now. May wait for the disk. Concurrent calls run one after the other. Returns false if a
 * record could not be read. */
bool usage_survey_count(struct usage_survey *survey);
/* Passes the last report to the listener; does nothing before the first count. The data is valid
 * only during the listener's calls. */
void usage_survey_read(struct usage_survey *survey, const struct survey_listener *listener);

/* Prints the last report as metrics. */
void usage_survey_print(struct usage_survey *survey, struct text *to);

#endif
