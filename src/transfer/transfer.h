/* Copying an account: from a server that speaks Azure Storage's API, from an export, or from a data folder of
 * Azurite, to a server or to an export. docs/import.md
 *
 * A source lists what it has as items (item.h), in an order in which they can be made; a sink makes them. Containers,
 * queues with their messages, tables, shares and directories are made by the thread that lists, one after the other;
 * blobs, entities and files by workers, at the same time (run.h). What is made is noted in a journal (journal.h), so
 * that a run which was killed is continued by the next.
 *
 * What a source says is not trusted: its names are checked before they become paths, its values before they become headers
 * (fetch/client.h), and all that is read into memory has a limit. */
#ifndef LAGRA_TRANSFER_TRANSFER_H
#define LAGRA_TRANSFER_TRANSFER_H

#include "transfer/endpoint.h"

#define TRANSFER_WORKERS_MAX     256u
#define TRANSFER_WORKERS_DEFAULT 16u

struct transfer_count {
    uint64_t items, items_listed; /* made or found to be made before; listed so far */
    uint64_t skipped;             /* of those: made by an earlier run */
    uint64_t bytes, bytes_listed;
    uint64_t problems;
};

struct transfer_options {
    /* One of three, and of two. */
    const struct account_place *from;
    const char *from_export, *from_azurite; /* folders */
    const char *azurite_account;            /* which of those in that folder */
    const struct account_place *to;
    const char *to_export;
    const char *ca_path; /* PEM file of the authorities that are trusted; NULL: the system's */
    const char *journal_path;
    unsigned workers;
    bool receives_messages; /* of queues with more than can be peeked at */
    /* Each second or oftener. The thread of transfer_run(). */
    void (*show)(void *context, const struct transfer_count *count);
    void (*complain)(void *context, const char *problem); /* any thread, one at a time */
    void *context;
};

/* What a source has and says, and is not copied, since the target would not take it or nothing there could hold it. */
enum left_out {
    LEFT_OUT_DELETED,         /* versions and snapshots of blobs that are deleted */
    LEFT_OUT_SHARE_SNAPSHOTS, /* snapshots of shares */
    LEFT_OUT_LEASES,          /* of containers, blobs and shares */
    LEFT_OUT_POLICIES, /* access policies of containers and the like: a signature opens none */
    LEFT_OUT_OWN_CONTAINERS, /* the service's: $logs */
    LEFT_OUT_KINDS
};

struct transfer_result {
    struct transfer_count count;
    uint64_t containers, blobs, queues, messages, tables, entities, shares, directories, files;
    uint64_t left_out[LEFT_OUT_KINDS];
    uint64_t compared, differing, missing; /* of the comparison at the end */
    bool can_go_on;                        /* not all was copied, and the journal has what was */
};

/* Copies, compares, and removes the journal when all is well. Problems were said. returns whether all was copied, and is the
 * same */
bool transfer_run(const struct transfer_options *options, struct transfer_result *ret_result);

#endif
