/* Names of resources in findings, and lost items of a salvage. Internal to check/. */
#ifndef LAGRA_CHECK_NAMES_H
#define LAGRA_CHECK_NAMES_H

#include "auth/auth.h"
#include "blob/blob.h"
#include "check/records.h"
#include "service/space_parts.h"
#include "store/inspect.h"

enum kind { CONTAINER, QUEUE, TABLE, SHARE, KINDS };

struct check_kind {
    const char *service, *name;
    bool (*is_key)(struct bytes record_key);
    bool (*read)(struct bytes value, struct guid *ret_space);
};
extern const struct check_kind check_kinds[KINDS];

/* A container, a queue, a table or a share. */
struct known_container {
    struct guid space;
    struct guid account;
    char *name;
    enum kind kind;
    bool hierarchical; /* container whose partitions are nodes of a tree */
    bool has_part;     /* the tree is shared with other containers (paths.c); its root directory: */
    struct guid part;
    bool is_retained; /* deleted, and can be restored */
    uint64_t bytes;   /* total of a share's files */
};

/* Copy of a struct record_place. */
struct place_copy {
    bool known;
    struct guid space;
    char *partition;
};

struct lost_range {
    struct place_copy after;
    struct place_copy to;
};

struct check {
    struct store *store;
    struct known_container *containers;
    size_t container_count;
    struct guid *spaces; /* spaces that contain blobs */
    size_t space_count;
    struct guid *trees; /* spaces of shares */
    size_t tree_count;
    struct lost_range *lost;
    size_t lost_count;
    bool salvages;
    struct check_leftovers leftovers; /* found during a salvage */
    uint64_t kinds[KINDS];            /* containers, queues, tables, shares */
    uint64_t counts[KINDS];           /* blobs, messages, entities, files */
    uint64_t findings;
    char *buffer; /* CHECK_READ_BYTES */
};

/* ---- names.c ---- */

/* Returns the name of the account with this space; ptr NULL if it is not in AZURITE_ACCOUNTS. */
struct bytes check_find_account(const struct guid *space, enum kind kind);
/* Returns the name of the first configured account. */
struct bytes check_first_account(void);
/* Prints the name of the account with this space and a slash, as part of a sentence (report.h). */
void check_report_account(const struct guid *space, enum kind kind);
/* Adds a container and takes ownership of its name. */
void check_add_container(struct check *check, struct known_container container);
/* Returns the added container with this space, or NULL. */
struct known_container *check_find_container(const struct check *check, const struct guid *space);
/* Copies a string into memory from malloc(). */
char *check_copy_text(struct bytes text);

/* Returns true for the record of a container whose tree is shared. This and the following:
 * paths.c */
bool check_part_of_container(const struct record_place *place, const struct record *record,
                             struct guid *ret_part);
/* Finds the part of a shared space to which a partition belongs. Returns false if to none. */
bool check_find_part(struct store *store, const struct guid *space, struct bytes key,
                     struct guid *ret_part);
/* Returns the container to which a partition belongs, or NULL if its record is lost. */
const struct known_container *check_find_owner(struct check *check, const struct guid *space,
                                               struct bytes key);
/* Returns true if a partition belongs to a deleted container, whose contents a task deletes. */
bool check_is_deleted_path(struct check *check, const struct guid *space, struct bytes key);
/* Prints the name of a blob, or of another resource with a partition in the space, as part of a
 * sentence. */
void check_report_blob(struct check *check, const struct guid *space, struct bytes name);
/* Reports containers that have lost their root directories. */
void check_roots(struct check *check);
/* Finds the next root directory of a container in the tree of a space. *at: where to continue; "e"
 * at the beginning. Returns false at the end. */
bool check_next_root(struct check *check, const struct guid *space, struct bytes *at,
                     struct arena *arena, struct guid *ret_part, bool *ret_is_deleted);

/* ---- salvage.c ---- */

/* Callback in struct salvage_listener; context: the check. Stores the range, so that it can be
 * printed once names are known. */
void check_record_lost(void *context, const struct record_place *after,
                       const struct record_place *to);
/* Prints the recorded ranges. */
void check_report_lost(struct check *check);
/* Creates a container for each space with blobs whose container record is lost, and a share for
 * each tree whose share record is lost. Rebuilds the trees of all shares. */
void check_adopt_all(struct check *check);

/* ---- resource_name.c ---- */

/* Context of resource_name(). */
struct resource_names {
    struct store *store;
    const struct accounts *accounts; /* served accounts */
};

/* Writes the name of the resource that a record belongs to, for log messages about corruption found
 * by a scrub: "account/container/blob", or the known part of it. Searches the containers of all
 * accounts, so it is slow, and may wait for the disk. context: struct resource_names */
void resource_name(void *context, const struct record_place *place, char *name, size_t size);

#endif
