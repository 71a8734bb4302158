/* Internal to transfer/: a run, its workers, and the interfaces of sources and sinks. */
#ifndef LAGRA_TRANSFER_RUN_H
#define LAGRA_TRANSFER_RUN_H

#include "transfer/api_client.h"
#include "transfer/item.h"
#include "transfer/transfer.h"

struct run;

/* A thread that copies, with its memory and connections. The first worker is the thread that
 * lists. */
struct worker {
    struct run *run;
    struct arena *arena;          /* for the current item; rewound after it */
    struct api_client *from, *to; /* NULL if that side is not a server */
};

/* Reports a problem of an item (printf); the run continues with other items. Returns false. */
bool worker_problem(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports an omission that is not a problem (printf). */
void worker_note(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Counts source data that is not copied. First worker only. */
void run_leave_out(struct run *run, enum left_out kind, uint64_t count);

enum put_result {
    PUT_CREATED,
    /* created by an earlier run: its dependent items (messages of a queue) are skipped */
    PUT_EXISTS,
    PUT_FAILED,
    PUT_STOPPED, /* the run is ending: list nothing more */
};

/* Creates an item now, or soon; its data is copied. Called by sources while listing. A hierarchical
 * source puts the root of a container before its files and directories. If one side is flat, items
 * of the other one are created and compared in their flat form. */
enum put_result run_put(struct run *run, const struct item *item);
/* Returns true if this run continues an earlier one. */
bool run_is_resumed(const struct run *run);
bool run_receives_messages(const struct run *run);
/* Returns true while the listing is only used for the final comparison: items are not created;
 * bytes, messages and policies are not read; and each state of a blob may be put separately. */
bool run_is_comparing(const struct run *run);
/* Records in the journal that the transfer of a queue has started, so that a restart can resume it.
 * Returns true if an earlier run has recorded it. First worker only. */
bool run_journal_queue(struct run *run, const struct item *queue);
/* Records that a message follows those recorded before (parent: its queue, name: its id). First
 * worker only. */
void run_journal_message(struct run *run, const struct item *message);
/* Returns the position of a message among those recorded by earlier runs, or UINT64_MAX. First
 * worker only. */
uint64_t run_journal_position(const struct run *run, const struct item *message);

struct source {
    /* Lists everything with run_put(), once to copy and once to compare. Called on the first
     * worker. Returns false after reporting why the listing is incomplete. */
    bool (*list)(struct source *source, struct worker *worker);
    /* Adds information missing in the listing: headers of files. Any worker. NULL if not needed. */
    bool (*complete)(struct source *source, struct worker *worker, struct item *item);
    /* Reads exactly `length` bytes into the worker's arena (or memory valid until the source is
     * freed). This and the following callbacks may run on any worker. Returns false after reporting
     * the error. */
    bool (*read)(struct source *source, struct worker *worker, const struct item *item, uint64_t at,
                 uint64_t length, struct bytes *ret_bytes);
    /* Returns the parts of a page blob or file that are not zeros. */
    bool (*ranges)(struct source *source, struct worker *worker, const struct item *item,
                   struct item_ranges *ret_ranges);
    void (*free)(struct source *source);
};

struct sink {
    /* The target stores access control lists and directories; otherwise it gets flat items. */
    bool is_hierarchical;
    /* Creates an item with its states. Returns false after reporting the error. */
    bool (*put)(struct sink *sink, struct source *source, struct worker *worker,
                const struct item *item);
    /* Called after everything was copied. Returns false after reporting why. May be NULL. */
    bool (*end)(struct sink *sink, struct worker *worker);
    void (*free)(struct sink *sink);
};

/* Functions that open the two sides. Return NULL after reporting the error. */
struct run_openers {
    struct source *(*source)(struct worker *worker, const struct transfer_options *options);
    struct sink *(*sink)(struct worker *worker, const struct transfer_options *options);
    /* Opens the target as a source for the final comparison. */
    struct source *(*target)(struct worker *worker, const struct transfer_options *options);
};
/* See transfer_run(). */
bool run_all(const struct transfer_options *options, const struct run_openers *openers,
             struct transfer_result *ret_result);

/* Internal to transfer/: the available sources and sinks. */

/* Create the server side. is_target: the copy's target, opened for the comparison */
struct source *source_server_new(bool is_target);
struct sink *sink_server_new(struct worker *worker);
/* Create the directory side. Return NULL after reporting the error. */
struct source *source_export_new(struct worker *worker, const char *folder);
/* account: the account to copy */
struct source *source_azurite_new(struct worker *worker, const char *folder, const char *account);
struct sink *sink_export_new(struct worker *worker, const char *folder);

#endif
