/* What is known of a blob or a file that is the source of a copy, whatever service it is of. */
#ifndef LAGRA_SERVICE_SOURCE_FACTS_H
#define LAGRA_SERVICE_SOURCE_FACTS_H

#include "concurrency/etag.h"
#include "content/content.h"
#include "service/http_properties.h"

struct source_facts {
    struct content content; /* of one on this server */
    struct etag etag;       /* the same */
    struct http_properties http;
    struct bytes metadata;
    enum error
        archived; /* OK: it is not; else what refuses to read it. Copy Blob may, within an account */
};

#endif
