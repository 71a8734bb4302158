/* Copies an account from a server with Azure Storage's API, an export, or an Azurite data
 * directory, to a server or an export. docs/import.md
 *
 * A source lists its data as items (item.h), in an order in which they can be created; a sink
 * creates them. Containers, queues with their messages, tables, shares and directories are created
 * one after another by the listing thread; blobs, entities and files concurrently by workers
 * (run.h). Created items are recorded in a journal (journal.h), so that the next run can continue
 * one that was killed.
 *
 * The source is not trusted: names are checked before they become paths, values before they become
 * headers (fetch/client.h), and all memory is limited. */
#ifndef LAGRA_TRANSFER_TRANSFER_H
#define LAGRA_TRANSFER_TRANSFER_H

#include "transfer/endpoint.h"

#define TRANSFER_WORKERS_MAX     256u
#define TRANSFER_WORKERS_DEFAULT 16u

struct transfer_count {
    uint64_t items, items_listed; /* created, now or before; listed so far */
    uint64_t skipped;             /* of these, created by an earlier run */
    uint64_t bytes, bytes_listed;
    uint64_t problems;
};

struct transfer_options {
    /* One of three sources, and one of two targets. */
    const struct account_endpoint *from;
    const char *from_export, *from_azurite; /* directories */
    const char *azurite_account;            /* account to copy from that directory */
    const struct account_endpoint *to;
    const char *to_export;
    const char
        *ca_path; /* PEM file with trusted certificate authorities; NULL means the system's */
    const char *journal_path;
    unsigned workers;
    /* read queues with more messages than can be peeked by receiving them */
    bool receives_messages;
    /* Called at least once a second, on the thread of transfer_run(). */
    void (*show)(void *context, const struct transfer_count *count);
    void (*complain)(void *context, const char *problem); /* any thread, one at a time */
    void *context;
};

/* Source data that is not copied, because the target would reject it or has no equivalent. */
enum left_out {
    LEFT_OUT_DELETED,         /* versions and snapshots of deleted blobs */
    LEFT_OUT_SHARE_SNAPSHOTS, /* snapshots of shares */
    LEFT_OUT_LEASES,          /* of containers, blobs and shares */
    LEFT_OUT_POLICIES,        /* access policies of containers etc., which a SAS cannot read */
    LEFT_OUT_OWN_CONTAINERS,  /* created by the service: $logs */
    /* files and directories of a hierarchical account, whose owners, lists, expiry and encryption
     * contexts a flat target does not have, or which the source does not show */
    LEFT_OUT_ACCESS,
    LEFT_OUT_KINDS
};

struct transfer_result {
    struct transfer_count count;
    uint64_t containers, blobs, queues, messages, tables, entities, shares, directories, files;
    uint64_t left_out[LEFT_OUT_KINDS];
    uint64_t compared, differing, missing; /* in the final comparison */
    bool can_go_on;                        /* incomplete, but the journal allows continuing */
};

/* Copies, compares, and removes the journal on success. Problems were reported. Returns true if
 * everything was copied and compares equal. */
bool transfer_run(const struct transfer_options *options, struct transfer_result *ret_result);

#endif
