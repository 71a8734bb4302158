/* The records of the Table service, and declarations shared by its files. The files in this folder
 * contain the decisions and do not depend on HTTP, XML or JSON; those in rest/ parse requests and
 * render responses.
 *
 * Spaces and partitions:
 *   account space    account_space("table", account)
 *     partition ""                     INNER  "p": service properties
 *     partition <name in lower case>   LISTED "t": struct table
 *   table space      (table.space)
 *     partition <PartitionKey>         LISTED <RowKey>: the entity (entity.h)
 * Keys are encoded (entity_key_encode()), so an iterator over a table's space returns its entities
 * in the service's order. */
#ifndef LAGRA_TABLE_TABLES_H
#define LAGRA_TABLE_TABLES_H

#include "service/decision.h"
#include "table/entity.h"
#include "table/table.h"

/* ---- resources ---- */

enum table_level {
    LEVEL_SERVICE,
    LEVEL_TABLES, /* the set of all tables: /Tables */
    LEVEL_NAMED,  /* one table of that set: /Tables('name') */
    LEVEL_TABLE,  /* the entities of a table: /name, /name() */
    LEVEL_ENTITY, /* /name(PartitionKey='..',RowKey='..') */
    LEVEL_BATCH,  /* /$batch */
};

/* If the body names the resource (Create Table, Insert Entity), parse copies the path's
 * resource and sets `table` or the keys from the body, although resources of that level normally
 * have none. */
struct table_resource {
    struct resource base;
    struct bytes table;         /* as sent; ptr NULL if none */
    struct bytes partition_key; /* UTF-8; ptr NULL if there is no entity */
    struct bytes row_key;       /* like partition_key */
};
static inline const struct table_resource *table_resource(const struct resource *resource)
{
    return (const struct table_resource *)(const void *)resource;
}
void table_signed_names(const struct resource *resource, struct bytes *ret_table,
                        struct bytes *ret_object);
/* Checks all names. Returns OK, E_InvalidResourceName, E_OutOfRangeInput, E_KeyValueTooLarge. */
enum error table_check_names(const struct resource *resource);
/* Checks a table name: letters and digits, starting with a letter; length 3..63; not "Tables".
 * Returns OK, E_InvalidResourceName, E_OutOfRangeInput.
 * rest: Understanding-the-Table-Service-Data-Model "Table Names" */
enum error table_check_name(struct bytes name);
/* Like table_check_name(), but also allows names of tables created by the service. */
enum error table_check_any_name(struct bytes name);

/* ---- tables: subject.c ---- */

struct table {
    struct guid space;
    struct bytes name; /* as created; case is preserved, but not significant */
    instant created;
    struct bytes policies; /* encoded, auth/policies.h */
};
/* Reads a table; strings are in the arena. Returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT,
 * STORE_IO. */
enum store_result table_read(struct read_view *snapshot, struct arena *arena,
                             struct table *ret_table);
void table_write(struct changes *changes, struct arena *arena, const struct table *table);
/* Deletes the record (but not the table's contents: changes_drop_space()). */
void table_delete_record(struct changes *changes);
/* Decodes a record returned by an iterator; points into value. */
bool table_decode(struct bytes value, struct table *ret_table);

/* ---- results of locate() and subject(): d->state; subject.c ---- */

struct table_state {
    struct subject_state base;
    struct table table;  /* if one is named, except for Create Table */
    struct bytes stored; /* the entity's record; ptr NULL if none */
};
static inline struct table_state *table_state(struct decision *d)
{
    return (struct table_state *)(void *)d->state;
}
static inline const struct table_resource *table_requested(const struct decision *d)
{
    return table_resource(d->input->resource);
}

enum error table_locate(struct decision *d, struct partition *ret_partition);
enum error table_permit_facts(struct decision *d, struct permit_facts *ret_facts);

/* Subjects of the rows, which fail if the resource is missing: */
enum error table_subject(struct decision *d);       /* E_TableNotFound */
enum error table_subject_named(struct decision *d); /* E_ResourceNotFound */
enum error entity_subject(struct decision *d);      /* E_ResourceNotFound */
enum error entity_subject_optional(struct decision *d);

extern const struct restore_functions table_restore; /* table_operations.c */
extern const struct usage_functions table_usage;     /* table_operations.c */

#endif
