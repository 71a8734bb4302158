/* Inside of program/ only: the parts of `lagra check`. Its checks of records of queues, tables and shares
 * have files of their own, since the headers of the services have names in common. */
#ifndef LAGRA_CHECK_RECORDS_H
#define LAGRA_CHECK_RECORDS_H

#include "store/inspect.h"

struct content;

#define CHECK_READ_BYTES (1u << 20)
#define CHECK_ARENA_MAX  (1u << 30)

/* Reads all bytes of a blob. buffer: CHECK_READ_BYTES
 * returns STORE_OK, STORE_CORRUPT, STORE_IO */
enum store_result check_content(struct store *store, const struct record_place *place,
                                const struct content *content, char *buffer);

/* The record of a queue, of a table, of a share: false when it makes no sense. *ret_space: of what is in it. */
bool check_queue(struct bytes value, struct guid *ret_space);
bool check_table(struct bytes value, struct guid *ret_space);
bool check_share(struct bytes value, struct guid *ret_space);
/* Is it the key of a share's record, also of one that was deleted and is kept? */
bool check_is_of_share(struct bytes record_key);

/* A record of a queue's messages, of a table's entities.
 *
 * ret_counts  it is a message, or an entity
 * returns     NULL when it makes sense, else what is wrong, in the arena */
const char *check_message(struct store *store, struct arena *arena,
                          const struct record_place *place, const struct record *record,
                          bool *ret_counts);
const char *check_entity(struct store *store, struct arena *arena, const struct record_place *place,
                         const struct record *record, bool *ret_counts);
/* A record of what is in a share. buffer: CHECK_READ_BYTES; ret_counts: it is a file; ret_bytes: its length */
const char *check_file(struct store *store, struct arena *arena, char *buffer,
                       const struct record_place *place, const struct record *record,
                       bool *ret_counts, uint64_t *ret_bytes);
/* Does the share count so many bytes of its files? */
bool check_usage(struct store *store, struct guid space, uint64_t bytes);

/* ---- after a salvage: restore.c, share.c ---- */

/* May a record be one of a share's tree, which no other space has? */
bool check_is_of_tree(const struct record_place *place, struct bytes value);
/* Makes the record of a share whose own is lost. False: it has one already, or the commit failed. */
bool check_adopt_share(struct store *store, struct bytes account, const char *name,
                       struct guid space);
/* Makes the tree in a share whole again, of what is left of it, and says what was lost.
 * account: the space of the share's record. returns how much that was */
uint64_t check_restore_tree(struct store *store, struct guid account, const char *share,
                            struct guid space);
/* Partitions that have entries, as those of directories, and no node record. They lie where only a look at all
 * records finds them: each is noted as that look meets it. */
struct check_leftovers {
    struct check_leftover {
        struct guid space;
        uint64_t id;
    } * items; /* of malloc() */
    size_t count;
    struct check_leftover last; /* looked at */
};
void check_note_leftover(struct check_leftovers *left, struct store *store,
                         const struct record_place *place);
/* Behind check_restore_tree() of all shares, which have these spaces: deletes the entries of directories that are
 * lost, which nobody can reach. */
void check_delete_leftovers(const struct check_leftovers *left, struct store *store,
                            const struct guid *spaces, size_t count);
/* The share counts its snapshots, and its tree keeps what they see. newest: a generation that was written in */
void check_restore_snapshots(struct store *store, struct guid account, const char *share,
                             struct guid space, uint64_t newest);

#endif
