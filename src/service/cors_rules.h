/* CORS rules of a service as a value, and their stored form.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services */
#ifndef LAGRA_SERVICE_CORS_RULES_H
#define LAGRA_SERVICE_CORS_RULES_H

#include "base/codec.h"

/* rest: as above, "Usage and restrictions"; semantics 10.1 */
#define CORS_RULES_MAX       5
#define CORS_RULES_BYTES_MAX 2048 /* all texts together, as stored */

struct cors_rule {
    struct bytes methods, origins, allowed_headers, exposed_headers; /* comma lists */
    uint64_t max_age_s;
};

struct cors_rules {
    struct cors_rule items[CORS_RULES_MAX];
    size_t count; /* 0: CORS is off */
};

void cors_rules_encode(struct text *out, const struct cors_rules *rules);
/* Returns false when the bytes have an unknown form; texts point into them. */
bool cors_rules_decode(struct bytes encoded, struct cors_rules *ret_rules);

#endif
