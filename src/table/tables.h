/* The Table service's records, and what its files share. The files of this folder decide and know
 * nothing of HTTP, XML or JSON; those of rest/ read requests and render answers.
 *
 * Spaces and partitions:
 *   account space    account_space("table", account)
 *     partition ""                     INNER  "p": service properties
 *     partition <name in lower case>   LISTED "t": struct table
 *   table space      (table.space)
 *     partition <PartitionKey>         LISTED <RowKey>: the entity (entity.h)
 * Keys are encoded (entity_key_encode()), so an iterator over a table's space has its entities in
 * the order of the service. */
#ifndef LAGRA_TABLE_TABLES_H
#define LAGRA_TABLE_TABLES_H

#include "service/decision.h"
#include "table/entity.h"
#include "table/table.h"

/* ---- what a request names ---- */

enum table_level {
    LEVEL_SERVICE,
    LEVEL_TABLES, /* the set of all tables: /Tables */
    LEVEL_NAMED,  /* one of that set: /Tables('name') */
    LEVEL_TABLE,  /* the entities of a table: /name, /name() */
    LEVEL_ENTITY, /* /name(PartitionKey='..',RowKey='..') */
    LEVEL_BATCH,  /* /$batch */
};

/* Where a request names something by its body (Create Table, Insert Entity), parse completes a copy
 * of what the path named: then `table`, or the keys, are there at a level that has none. */
struct table_resource {
    struct resource base;
    struct bytes table;         /* as sent; ptr NULL: none is named */
    struct bytes partition_key; /* UTF-8; ptr NULL: no entity is named */
    struct bytes row_key;       /* the same */
};
static inline const struct table_resource *table_resource(const struct resource *resource)
{
    return (const struct table_resource *)(const void *)resource;
}
void table_signed_names(const struct resource *resource, struct bytes *ret_table,
                        struct bytes *ret_object);
/* returns OK, E_InvalidResourceName, E_OutOfRangeInput, E_KeyValueTooLarge */
enum error table_check_names(const struct resource *resource);
/* Letters and digits, a letter first; 3..63 of them; not the name of the set.
 * returns OK, E_InvalidResourceName, E_OutOfRangeInput
 * rest: Understanding-the-Table-Service-Data-Model "Table Names" */
enum error table_check_name(struct bytes name);
/* The same, and names of tables that the service makes itself. */
enum error table_check_any_name(struct bytes name);

/* ---- tables: table_record.c ---- */

struct table {
    struct guid space;
    struct bytes name; /* as it was created: its case is kept, and does not count */
    instant created;
    struct bytes policies; /* encoded, auth/policies.h */
};
/* returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO; strings are in the arena */
enum store_result table_read(struct snapshot *snapshot, struct arena *arena,
                             struct table *ret_table);
void table_write(struct changes *changes, struct arena *arena, const struct table *table);
/* Deletes the record (not what is in the table: changes_drop_space()). */
void table_delete_record(struct changes *changes);
/* For iterators: points into value. */
bool table_decode(struct bytes value, struct table *ret_table);

/* ---- what locate() and subject() find: d->state; subject.c ---- */

struct table_state {
    struct subject_state base;
    struct table table;  /* where one is named, but for Create Table */
    struct bytes stored; /* the entity's record; ptr NULL: none */
};
static inline struct table_state *table_state(struct decision *d)
{
    return (struct table_state *)(void *)d->state;
}
static inline const struct table_resource *table_asked(const struct decision *d)
{
    return table_resource(d->input->resource);
}

enum error table_locate(struct decision *d, struct partition *ret_partition);
enum error table_permit_facts(struct decision *d, struct permit_facts *ret_facts);

/* Subjects of the rows. */
enum error table_subject(struct decision *d);       /* missing: E_TableNotFound */
enum error table_subject_named(struct decision *d); /* missing: E_ResourceNotFound */
enum error entity_subject(struct decision *d);      /* missing: E_ResourceNotFound */
enum error entity_subject_optional(struct decision *d);

#endif
