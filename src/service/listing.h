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
    unsigned include; /* bits: positions in the operation's table of names */
};

/* Hands one over: its name and its record, which are gone after the call. *ret_full: the page takes
 * no more. False: the record is damaged. */
typedef bool listing_add_fn(void *page, struct bytes name, struct bytes value, bool *ret_full);

/* The partitions of an account's space (service/names.h), which are its containers, queues or
 * tables, in order of name, a page of them.
 *
 * from      where the page begins; ptr NULL: at the first
 * ret_next  where the next one does, in d->arena; ptr NULL: there is none
 * returns   OK, as decision_fail_store() */
enum error listing_of_space(struct decision *d, struct guid space, const struct listing *listing,
                            struct bytes from, listing_add_fn *add, void *page,
                            struct bytes *ret_next);

#endif
