/* What a copy is known by, and what becomes of its source, of any service. */
#ifndef LAGRA_SIM_COPY_TERMS_H
#define LAGRA_SIM_COPY_TERMS_H

/* What becomes of a source on another server after the request that named it. */
enum fate {
    FATE_STAYS,
    FATE_IS_GONE,
    FATE_CHANGES,
    FATE_LIES,         /* answers what no blob of ours may have, under the same ETag */
    FATE_LIES_AT_ONCE, /* answers the request itself so */
    FATES
};

struct copy_id {
    unsigned char bytes[16];
};

#endif
