/* Internal to archive.c and archive_rows.c. */
#ifndef LAGRA_STORE_EMBEDDED_ARCHIVE_PRIVATE_H
#define LAGRA_STORE_EMBEDDED_ARCHIVE_PRIVATE_H

#include "store/archive.h"
#include "store/embedded/embedded_private.h"

#define RECORD_ARENA_MAX ((size_t)1 << 30)

struct archive {
    const struct keyspace *keyspace;
    struct partition selected;
    struct arena *arena;                /* for its key */
    const struct record_sealer *sealer; /* NULL if not encrypted at rest */
    const struct keyring *keyring;      /* NULL if not encrypted at rest */
    /* Of a running store: */
    struct store *store;    /* NULL means a backup */
    struct read_view *view; /* of the selected partition; NULL means none */
    bool watches;
    /* Of a backup: */
    struct keyring *own_keyring;
    struct record_sealer *own_sealer;
    struct keyspace own;
    int extents; /* the folder */
    uint32_t open_extent;
    int fd; /* of open_extent; -1: none */
};

/* Returns STORE_NOT_FOUND to stop. */
typedef enum store_result archive_key_value(void *context, struct bytes key, struct bytes value);
/* Calls row() for all rows whose keys have the prefix. */
enum store_result archive_each(struct archive *archive, struct bytes prefix, archive_key_value *row,
                               void *context);
/* Unescapes a partition key or index key, in the arena. Returns false if it is malformed. */
bool archive_unescape(struct arena *arena, struct bytes escaped, struct bytes *ret_key);

#endif
