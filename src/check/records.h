/* Checks of single records. Records of queues and tables, and of shares, are checked in separate
 * files, because the headers of the services declare conflicting names. Internal to check/. */
#ifndef LAGRA_CHECK_RECORDS_H
#define LAGRA_CHECK_RECORDS_H

#include "store/inspect.h"

struct content;

#define CHECK_READ_BYTES (1u << 20)
#define CHECK_ARENA_MAX  (1u << 30)

/* Reads all bytes of a blob. buffer: CHECK_READ_BYTES
 * returns  STORE_OK, STORE_CORRUPT, STORE_IO */
enum store_result check_content(struct store *store, const struct record_place *place,
                                const struct content *content, char *buffer);

/* Decode the record of a queue, a table or a share, and set *ret_space to the space of its data.
 * Return false if the record is corrupt. */
bool check_queue(struct bytes value, struct guid *ret_space);
bool check_table(struct bytes value, struct guid *ret_space);
bool check_share(struct bytes value, struct guid *ret_space);
/* Returns true for the key of a share's record, including soft-deleted shares. */
bool check_is_of_share(struct bytes record_key);

/* Check a record of a message, or of an entity.
 *
 * ret_counts  set if the record counts as a message, or an entity
 * returns     a description of the defect, in the arena, or NULL */
const char *check_message(struct store *store, struct arena *arena,
                          const struct record_place *place, const struct record *record,
                          bool *ret_counts);
const char *check_entity(struct store *store, struct arena *arena, const struct record_place *place,
                         const struct record *record, bool *ret_counts);
/* Checks a record in the tree of a share, like check_message(). buffer: CHECK_READ_BYTES;
 * ret_counts: set for a file; ret_bytes: its length */
const char *check_file(struct store *store, struct arena *arena, char *buffer,
                       const struct record_place *place, const struct record *record,
                       bool *ret_counts, uint64_t *ret_bytes);
/* Checks a record of the tree of hierarchical containers, and no others. is_shared: the root has
 * their root directories. Returns a description of the defect with the path, in the arena, or
 * NULL. */
const char *check_path_record(struct store *store, struct arena *arena,
                              const struct record_place *place, const struct record *record,
                              bool is_shared);
/* Returns true if the byte total stored for the share equals `bytes`. */
bool check_usage(struct store *store, struct guid space, uint64_t bytes);

/* ---- after a salvage: restore.c, share.c ---- */

/* Returns true if the record can only belong to a tree. */
bool check_is_of_tree(const struct record_place *place, struct bytes value);
/* Creates a record for a share whose record is lost. Returns false if a share of that name exists
 * or the commit failed. */
bool check_adopt_share(struct store *store, struct bytes account, const char *name,
                       struct guid space);
/* Rebuilds the tree of a share from the salvaged records, and reports lost items. account: space of
 * the share's record. Returns the number of lost items. */
uint64_t check_restore_tree(struct store *store, struct guid account, const char *share,
                            struct guid space);
/* Rebuilds the tree of a hierarchical container, or of several ones (is_shared), likewise. */
uint64_t check_restore_paths(struct store *store, const char *name, struct guid space,
                             bool is_shared);
/* Partitions with directory entries but without a node record, collected by a pass over all
 * records. */
struct check_leftovers {
    struct check_leftover {
        struct guid space;
        uint64_t id;
    } * items; /* from malloc() */
    size_t count;
    struct check_leftover last; /* last partition inspected */
};
void check_record_leftover(struct check_leftovers *left, struct store *store,
                           const struct record_place *place);
/* Deletes the unreachable entries of lost directories. Called after check_restore_tree() of all
 * shares. spaces: those of the shares */
void check_delete_leftovers(const struct check_leftovers *left, struct store *store,
                            const struct guid *spaces, size_t count);
/* Recounts the snapshots of a share, and marks the data they refer to as retained. newest: newest
 * generation written */
void check_restore_snapshots(struct store *store, struct guid account, const char *share,
                             struct guid space, uint64_t newest);

#endif
