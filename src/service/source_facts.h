/* Properties of a blob or file as copy source, independent of its service. */
#ifndef LAGRA_SERVICE_SOURCE_FACTS_H
#define LAGRA_SERVICE_SOURCE_FACTS_H

#include "concurrency/etag.h"
#include "content/content.h"
#include "service/http_properties.h"

struct source_facts {
    struct content content; /* only for a source on this server */
    struct etag etag;       /* only for a source on this server */
    struct http_properties http;
    struct bytes metadata;
    /* OK unless archived; else the error for reading it. Copy Blob may copy it within an account */
    enum error archived;
};

#endif
