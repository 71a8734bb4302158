/* Inside of transfer/ only: the data folder of Azurite 3: a database of JSON for each service (of LokiJS: a list of
 * collections, each a list of documents), and extents, files to which bytes were appended, of which documents name parts.
 * The databases are read into memory. What is in them is not trusted: an extent's name has the form of a UUID, and a part lies
 * within its blob. */
#ifndef LAGRA_TRANSFER_AZURITE_H
#define LAGRA_TRANSFER_AZURITE_H

#include "base/json.h"
#include "transfer/run.h"

#define AZURITE_DEPTH   8u

/* A part of an item's bytes: what `place` of an item is an array of, in their order. */
#define AZURITE_ID_SIZE 40u
struct azurite_part {
    uint64_t at; /* in the item */
    uint64_t offset, count;
    char id[AZURITE_ID_SIZE]; /* empty: zeros */
};

/* A document of a collection under the names by which it is found; those of an equal name stay in their order. */
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
    struct worker *worker; /* the one that lists */
    /* Of the database that is being read. */
    struct arena *arena;
    char *text;
    struct bytes collections; /* a list in JSON */
};

/* Reads a database; *ret_there false: there is none. False: said why. */
bool azurite_open(struct azurite *a, const char *name, bool *ret_there);
void azurite_close(struct azurite *a);
/* The documents of a collection that are the account's; none where there is no such collection. names: of the members that
 * `parent`, `name` and `state` of each are; NULL: none. Sorted by them; an empty state is the last one. */
bool azurite_collect(struct azurite *a, const char *collection, const char *const names[3],
                     struct azurite_documents *ret_documents);
/* Members of an object, as json_object_pick(); false: said that it is damaged. */
bool azurite_pick(struct azurite *a, struct bytes object, const char *const names[], size_t count,
                  struct json_member *ret_members);
/* A text, which may be empty; ptr NULL: not a text. */
struct bytes azurite_text(const struct json_member *member);
uint64_t azurite_number(const struct json_member *member);
/* {"name": "value"} as x-ms-meta-.. headers. */
void azurite_add_metadata(struct azurite *a, struct item *item, const struct json_member *metadata);
/* Access policies as XML; ptr NULL: there are none. */
struct bytes azurite_policies(struct azurite *a, const struct json_member *list);
/* Adds a part, from {"id", "offset", "count"}. False: malformed. */
bool azurite_add_part(struct azurite *a, struct text *parts, uint64_t at,
                      const struct json_member *persistency, uint64_t *ret_count);

/* All of a service. False: said why. azurite_blobs.c, azurite_queues.c, azurite_tables.c */
bool azurite_list_blobs(struct azurite *a);
bool azurite_list_queues(struct azurite *a);
bool azurite_list_tables(struct azurite *a);

/* The bytes of a part of an item, which is in the folder named: azurite_parts.c. */
bool azurite_read(const struct azurite *a, struct worker *worker, const char *storage,
                  struct bytes parts, uint64_t at, uint64_t length, struct bytes *ret_bytes);

#endif
