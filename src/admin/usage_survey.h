/* What the accounts of a server keep, as it was found when it was looked last (service/usage.h): a thread that gives way
 * to those that serve looks at all of it now and then, and when it is asked to. Its report is what metrics show, and what
 * limits of capacity are judged by; with the bytes that came since, so that nobody passes one by much. */
#ifndef LAGRA_ADMIN_USAGE_SURVEY_H
#define LAGRA_ADMIN_USAGE_SURVEY_H

#include "base/lock.h"
#include "base/thread.h"
#include "service/server.h"
#include "service/usage.h"

/* So many containers are shown each by itself: the largest ones. */
#define SURVEY_SHOWN_MAX 100u

struct survey_options {
    const struct endpoint_set *endpoints;
    struct store *store;
    struct accounts *accounts;
    unsigned every_ms; /* 0: when it is asked for */
};

struct usage_survey;
/* NULL: no thread. */
struct usage_survey *usage_survey_start(const struct survey_options *options);
/* Before the store is closed. */
void usage_survey_stop(struct usage_survey *survey);

/* One account in one service. */
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
/* Looks at everything now, waits for the disk, and calls back with what was found, which is valid during the calls. Any
 * thread that may block; one after another.
 * returns STORE_OK; STORE_CORRUPT, STORE_IO: nothing is shown */
struct survey_listener {
    void (*total)(void *context, const struct survey_total *total);
    void (*container)(void *context, const struct survey_container *container);
    void *context;
};
enum store_result usage_survey_now(struct usage_survey *survey);
/* What was found last; false: nothing yet. */
bool usage_survey_read(struct usage_survey *survey, const struct survey_listener *listener);
/* The same as metrics. */
void usage_survey_print(struct usage_survey *survey, struct text *to);

#endif
