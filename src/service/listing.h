/* What a list of containers, queues, tables or blobs is asked: pages of names in order. Plain
 * values; service/listing_xml.h reads them from a request. */
#ifndef LAGRA_SERVICE_LISTING_H
#define LAGRA_SERVICE_LISTING_H

#include "service/decision.h"

#define LISTING_MAX         5000 /* results a page, asked for or not */
/* A page ends early once so many records were looked at, shown or not: the work of one call is
 * bounded. */
#define LISTING_RECORDS_MAX 20000

/* Texts have ptr NULL when absent or empty. */
struct listing {
    struct bytes prefix;
    struct bytes marker; /* as sent */
    uint32_t max;        /* 1..LISTING_MAX */
    bool max_given;
    struct bytes hidden; /* a name that is not shown; ptr NULL: none */
    unsigned include;    /* bits: positions in the operation's table of names */
};

/* A record of a space: where a page begins. */
struct listing_place {
    struct bytes name;   /* partition key; ptr NULL: from the beginning */
    struct bytes record; /* record key; ptr NULL: at the first of the name */
};

/* A page is handed over entry by entry, so that thousands of them need not be kept in memory first.
 * The function that renders the page provides the sink. It starts anew with each attempt to decide, and
 * sets `full` when it accepts no more. */
struct listing_sink {
    bool full;
    void (*begin)(struct listing_sink *sink, instant now);
    /* Is the record shown? What is damaged is, for add() to say so. NULL: all are. */
    bool (*shows)(struct listing_sink *sink, const struct space_record *at);
    /* One entry: its record is gone after the call. False: it is damaged. */
    bool (*add)(struct listing_sink *sink, const struct space_record *at);
};

/* Returns whether the text has only characters that names of containers, queues and shares can have. */
bool listing_is_name(struct bytes name);

/* The records of an account's space (service/names.h), which are of its containers, queues or
 * shares, in order of name, a page of them. Merged with those of other cells (d->input->merged).
 *
 * from      where the page begins
 * ret_next  where the next one does, in d->arena; name.ptr NULL: none
 * returns   OK, as decision_fail_store() */
enum error listing_of_space(struct decision *d, struct guid space, const struct listing *listing,
                            struct listing_place from, struct listing_sink *sink,
                            struct listing_place *ret_next);

#endif
