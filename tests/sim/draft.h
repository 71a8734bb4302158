/* A request of another service than blobs, before what all have alike is added and it is signed. */
#ifndef LAGRA_SIM_DRAFT_H
#define LAGRA_SIM_DRAFT_H

#include "base/arena.h"
#include "http/http.h"

#define DRAFT_HEADERS_MAX 12u

/* Without host, date, version, length, the client's number and the signature. */
struct draft {
    enum http_method method;
    const char *method_text;
    struct bytes path;  /* with the account */
    struct bytes query; /* ptr NULL: none */
    struct {
        const char *name;
        struct bytes value;
    } headers[DRAFT_HEADERS_MAX];
    unsigned header_count;
    struct bytes body;
};

#endif
