/* Requests of which one part is malformed or out of range: values beside the edges of what the
 * reference allows, and how each is answered whatever the state is. */
#ifndef LAGRA_SIM_MALFORMED_H
#define LAGRA_SIM_MALFORMED_H

#include "request.h"

struct http_header;

struct malformed {
    const char *name, *value;
    bool in_query; /* else a header */
    uint64_t ops;  /* bits of enum op */
    uint32_t acts; /* bits of enum lease_act; 0: all */
    bool of_body;  /* seen when the body was read, if nothing refused the request before */
    int status;
    const char *code;
};

/* One that fits the request, drawn; NULL: none does. */
const struct malformed *malformed_draw(const struct ask *ask, uint64_t random);
/* Is the header of that name the malformed part? */
bool malformed_header(const struct ask *ask, const char *name);
bool malformed_query(const struct ask *ask, const char *name);
/* Is the malformed part a header that is not among these? */
bool malformed_is_missing(const struct ask *ask, const struct http_header *headers, size_t count);

#endif
