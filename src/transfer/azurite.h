/* Internal to transfer/: the data directory of Azurite 3: a JSON database per service (LokiJS: a
 * list of collections, each a list of documents), and extents, append-only files whose parts
 * documents refer to. The databases are read into memory. Their contents are not trusted: an
 * extent's name must have the form of a UUID, and a part must be within its blob. */
#ifndef LAGRA_TRANSFER_AZURITE_H
#define LAGRA_TRANSFER_AZURITE_H

#include "base/json.h"
#include "transfer/run.h"

#define AZURITE_DEPTH   8u

/* A part of an item's bytes; `place` of an item is an array of these, in order. */
#define AZURITE_ID_SIZE 40u
struct azurite_part {
    uint64_t at; /* in the item */
    uint64_t offset, count;
    char id[AZURITE_ID_SIZE]; /* empty for zeros */
};

/* A document of a collection with the names by which it is found; documents with equal names keep
 * their order. */
struct azurite_document {
    struct bytes parent, name, state;
    struct bytes text;
    size_t number;
};
struct azurite_documents {
    struct azurite_document *of;
    size_t count, capacity;
};

struct azurite {
    struct source source;
    int folder;
    struct bytes account;
    struct worker *worker; /* the listing worker */
    /* For the database being read. */
    struct arena *arena;
    char *text;
    struct bytes collections; /* a JSON list */
};

/* Reads a database; *ret_there is false if it does not exist. Returns false after reporting an
 * error. */
bool azurite_open(struct azurite *a, const char *name, bool *ret_there);
void azurite_close(struct azurite *a);
/* Returns the account's documents in a collection; none if it does not exist. names: the members
 * used as `parent`, `name` and `state`, or NULL. Sorted by them; an empty state is last. */
bool azurite_collect(struct azurite *a, const char *collection, const char *const names[3],
                     struct azurite_documents *ret_documents);
/* Reads members of an object like json_object_pick(). Returns false after reporting a corrupt
 * database. */
bool azurite_pick(struct azurite *a, struct bytes object, const char *const names[], size_t count,
                  struct json_member *ret_members);
/* Returns a string, possibly empty; ptr NULL if it is not one. */
struct bytes azurite_text(const struct json_member *member);
uint64_t azurite_number(const struct json_member *member);
/* Adds {"name": "value"} as x-ms-meta-.. headers. */
void azurite_add_metadata(struct azurite *a, struct item *item, const struct json_member *metadata);
/* Returns access policies as XML; ptr NULL if none exist. */
struct bytes azurite_policies(struct azurite *a, const struct json_member *list);
/* Adds a part from {"id", "offset", "count"}. Returns false if it is malformed. */
bool azurite_add_part(struct azurite *a, struct text *parts, uint64_t at,
                      const struct json_member *persistency, uint64_t *ret_count);

/* List a service. Return false after reporting an error. azurite_blobs.c, azurite_queues.c,
 * azurite_queues.c */
bool azurite_list_blobs(struct azurite *a);
bool azurite_list_queues(struct azurite *a);
bool azurite_list_tables(struct azurite *a);

/* Reads bytes of an item from the extents in the directory `storage`: azurite_parts.c. */
bool azurite_read(const struct azurite *a, struct worker *worker, const char *storage,
                  struct bytes parts, uint64_t at, uint64_t length, struct bytes *ret_bytes);

#endif
