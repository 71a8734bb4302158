/* What a service has in struct service for restoring one of its containers, queues, tables or shares from a backup: raw
 * records are copied into a new space (admin/restore.c), and what names that space is made anew. Pure. */
#ifndef LAGRA_SERVICE_RESTORE_H
#define LAGRA_SERVICE_RESTORE_H

#include "service/decision.h"

/* In the value of a LISTED record of the container's partition, also of a snapshot or of one that was deleted and is retained: where
 * the id of the space is, after the version byte of the record. */
#define RESTORE_SPACE_AT 1u

struct restore_functions {
    /* returns OK, E_InvalidResourceName, E_OutOfRangeInput.. */
    enum error (*check_name)(struct bytes name);
    bool has_passed_times; /* its contents have times as store_time_passed() */
    bool folds_case;       /* its partition has the name in lower case */
    /* Is it the key of a LISTED record, in the container's partition of the account's space, of one that is there now? */
    bool (*is_owner)(struct bytes key);
    /* Writes such a record to d->changes for the container of this name, whose contents are in `space`; without a
     * lease. False: it is malformed. */
    bool (*put_owner)(struct decision *d, const struct record *record, struct bytes name,
                      struct guid space);
    /* Of a record of its contents: the value without a lease, in the arena, or as it was. NULL: none has one. */
    struct bytes (*without_lease)(struct arena *arena, enum record_family family,
                                  const struct record *record);
};

#endif
