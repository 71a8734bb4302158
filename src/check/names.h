/* Inside of program/ only: what `lagra check` has found, by its name, and what a salvage lost. */
#ifndef LAGRA_CHECK_NAMES_H
#define LAGRA_CHECK_NAMES_H

#include "blob/blob.h"
#include "check/records.h"
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
    uint64_t bytes; /* of the files of a share */
};

/* A place, copied. */
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
    struct guid *spaces; /* in which there are blobs */
    size_t space_count;
    struct guid *trees; /* spaces that shares have */
    size_t tree_count;
    struct lost_range *lost;
    size_t lost_count;
    bool salvages;
    struct check_leftovers leftovers; /* of a salvage */
    uint64_t kinds[KINDS];            /* containers, queues, tables, shares */
    uint64_t counts[KINDS];           /* blobs, messages, entities, files */
    uint64_t findings;
    char *buffer; /* CHECK_READ_BYTES */
};

/* ---- names.c ---- */

/* The name of the account whose space it is; ptr NULL: none of those that are served. */
struct bytes check_find_account(const struct guid *space, enum kind kind);
/* The first of those that are served. */
struct bytes check_first_account(void);
/* A part of a sentence (report.h): its name, with a slash behind. */
void check_say_account(const struct guid *space, enum kind kind);
/* Takes the name over. */
void check_add_container(struct check *check, struct known_container container);
/* NULL: none of those that were added. */
struct known_container *check_find_container(const struct check *check, const struct guid *space);
/* The same: the name of a blob, or of what else has a partition in that space. */
void check_say_blob(const struct check *check, const struct guid *space, struct bytes name);
/* In memory of malloc(). */
char *check_copy_text(struct bytes text);

/* ---- salvage.c ---- */

/* Of struct salvage_listener, with the check as the context. Names are known later: it is kept. */
void check_report_lost(void *context, const struct record_place *after,
                       const struct record_place *to);
/* Says what was kept. */
void check_say_lost(const struct check *check);
/* Makes a container for the blobs of each space that no container has, and a share for each tree; makes the
 * trees of all shares whole again. */
void check_adopt_all(struct check *check);

#endif
