/* Parameters of lists of containers, queues, tables or blobs, which return pages of names in order.
 * Plain values; service/listing_xml.h reads them from a request. */
#ifndef LAGRA_SERVICE_LISTING_H
#define LAGRA_SERVICE_LISTING_H

#include "service/decision.h"

#define LISTING_MAX         5000 /* maximum and default number of results per page */
/* A page ends early after this many records were read, shown or not. This bounds the work of a
 * call. */
#define LISTING_RECORDS_MAX 20000

/* Strings have ptr NULL if absent or empty. */
struct listing {
    struct bytes prefix;
    struct bytes marker; /* as sent */
    uint32_t max;        /* 1..LISTING_MAX */
    bool max_given;
    struct bytes hidden; /* name that is not shown; ptr NULL if none */
    unsigned include;    /* bits: indices in the operation's table of names */
};

/* Record of a space at which a page starts. */
struct listing_place {
    struct bytes name;   /* partition key; ptr NULL for the beginning */
    struct bytes record; /* record key; ptr NULL for the first record of the name */
};

/* Receives a page one entry at a time, so that thousands of entries need not be held in memory.
 * Implemented by the function that renders the page. Restarted by each attempt to decide. Sets
 * `full` when it accepts no more entries. */
struct listing_sink {
    bool full;
    void (*begin)(struct listing_sink *sink, instant now);
    /* Returns true if the record is shown. Damaged records are shown, so that add() reports them.
     * NULL if all are shown. */
    bool (*shows)(struct listing_sink *sink, const struct space_record *at);
    /* Adds an entry. The record is invalid after the call. Returns false if it is damaged. */
    bool (*add)(struct listing_sink *sink, const struct space_record *at);
};

/* Returns true if the text has only characters that are allowed in names of containers, queues and
 * shares. */
bool listing_is_name(struct bytes name);

/* Lists a page of the records of an account's space (service/names.h): its containers, queues or
 * shares, in order of name. Merges them with those of other cells (d->input->merged).
 *
 * from      start of the page
 * ret_next  start of the next page, in d->arena; name.ptr NULL at the end
 * returns   OK, or an error of decision_fail_store() */
enum error listing_of_space(struct decision *d, struct guid space, const struct listing *listing,
                            struct listing_place from, struct listing_sink *sink,
                            struct listing_place *ret_next);

#endif
