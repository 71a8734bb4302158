/* What requests ask of protection: policies and legal holds of containers and of blobs, and keys of
 * customers. Only runs of the service "protect" have any (protect.h). */
#ifndef LAGRA_SIM_PROTECT_ASK_H
#define LAGRA_SIM_PROTECT_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* Keys of customers, numbered from 1; 0: none. */
#define KEYS      2u
/* Tags of legal holds, as bits. */
#define HOLD_TAGS 3u

enum protect_mode { NOT_RETAINED, UNLOCKED, LOCKED };
enum protect_append { APPENDS_NOTHING, APPENDS_TO_APPEND_BLOBS, APPENDS_TO_ALL };
/* The changes that only the operator can request. */
enum protect_change {
    CHANGE_VERSIONS,
    CHANGE_POLICY,
    CHANGE_LOCK,
    CHANGE_EXTEND,
    CHANGE_REMOVE,
    CHANGE_HOLD,
    CHANGE_RELEASE,
    CHANGE_CLOSE,
    CHANGE_OPEN,
    PROTECT_CHANGES
};

struct protect_ask {
    bool by_operator; /* Delete Container: by `lagra container delete` */
    /* Of the operator's change. */
    enum protect_change change;
    unsigned days;
    enum protect_append append;
    unsigned tags; /* bits */
    /* Of a blob: what a request gives or sets. */
    bool has_policy, has_mode;
    enum protect_mode mode;
    int64_t until_s; /* Unix seconds */
    bool has_hold, hold;
    unsigned key;
};

/* What a response shows. */
struct protect_reply {
    enum protect_mode mode;
    int64_t until_s;
    bool has_hold;
    bool container_has_policy, container_has_hold, container_has_versions;
    bool has_key; /* the SHA-256 of one */
};

#endif
