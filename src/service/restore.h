/* A service's functions for restoring a container, queue, table or share from a backup. Raw records
 * are copied into a new space (admin/restore.c); the record that refers to the space is created
 * anew. Pure. */
#ifndef LAGRA_SERVICE_RESTORE_H
#define LAGRA_SERVICE_RESTORE_H

#include "service/decision.h"

/* Offset of the space's id in the value of a LISTED record of the container's partition, after the
 * version byte. Also for snapshots and for retained deleted containers. */
#define RESTORE_SPACE_AT 1u
/* Returns the space in such a record; zero if the record is malformed. */
static inline struct guid restore_space_of(const struct record *record)
{
    struct guid space = { .b = { 0 } };

    if (record->value.len >= RESTORE_SPACE_AT + sizeof space.b)
        memcpy(space.b, record->value.ptr + RESTORE_SPACE_AT, sizeof space.b);
    return space;
}

struct restore_functions {
    /* Checks the name. Returns OK, E_InvalidResourceName, E_OutOfRangeName etc. */
    enum error (*check_name)(struct bytes name);
    bool has_passed_times; /* its contents have times for store_time_passed() */
    bool folds_case;       /* its partition has the name in lower case */
    /* Returns true if this is the key of the LISTED record of an existing container, in its
     * partition of the account's space. */
    bool (*is_owner)(struct bytes key);
    /* Writes such a record, without a lease, to d->changes for the container of this name with its
     * contents in `space`. Returns false if the record is malformed. */
    bool (*put_owner)(struct decision *d, const struct record *record, struct bytes name,
                      struct guid space);
    /* Refuses to replace an existing container with this record. Returns OK or an error. NULL if
     * every container can be replaced. Pure. */
    enum error (*permit_replacement)(const struct record *record);
    /* Deletes the contents of the container of such a record, which is deleted in d->changes. NULL
     * if they are all in its space. Returns STORE_OK, STORE_CONFLICT, or another failure. */
    enum store_result (*drop)(struct decision *d, const struct record *record);
    /* Returns the value of a content record without its lease and the id of its task, in the arena,
     * or the unchanged value. NULL if no record has either. */
    struct bytes (*without_lease)(struct arena *arena, enum record_family family,
                                  const struct record *record);
};

#endif
