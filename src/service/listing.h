/* What a list of containers, queues, tables or blobs is asked: pages of names in order. Plain values;
 * service/listing_xml.h reads them from a request. */
#ifndef LAGRA_SERVICE_LISTING_H
#define LAGRA_SERVICE_LISTING_H

#include "base/bytes.h"

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

#endif
