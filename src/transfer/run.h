/* Inside of transfer/ only: a run, its workers, and what sources and sinks are. */
#ifndef LAGRA_TRANSFER_RUN_H
#define LAGRA_TRANSFER_RUN_H

#include "transfer/asker.h"
#include "transfer/item.h"
#include "transfer/transfer.h"

struct run;

/* A thread that copies, and its memory and connections. The first one is the thread that lists. */
struct worker {
    struct run *run;
    struct arena *arena;     /* of the item that is being copied; emptied behind it */
    struct asker *from, *to; /* NULL: that side is no server */
};

/* The first thing that is wrong with an item (printf); the run goes on with others. returns false */
bool worker_problem(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Something that is left out, and is no problem (printf). */
void worker_note(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Counts what is not copied, of a source that is listed. The first worker. */
void run_leave_out(struct run *run, enum left_out kind, uint64_t count);

enum put_result {
    PUT_MADE,
    PUT_THERE, /* an earlier run has made it: what belongs to it (messages of a queue) is passed over */
    PUT_FAILED,
    PUT_STOPPED, /* the run ends: nothing more is to be listed */
};

/* Makes an item now, or soon; what it points to is copied. Of sources, while they list. */
enum put_result run_put(struct run *run, const struct item *item);
/* Whether it goes on with what an earlier run has begun. */
bool run_goes_on(const struct run *run);
bool run_receives_messages(const struct run *run);
/* Returns whether the listing is only compared with the other side's at the end: items are not created, bytes, messages and policies
 * are not read, and each state of a blob may be put separately. */
bool run_is_comparing(const struct run *run);
/* Notes in the journal that something is begun with a queue that outlives the process. returns whether an earlier run has
 * noted it. The first worker. */
bool run_note_begin(struct run *run, const struct item *queue);
/* Notes that a message (its queue, and its id as the name) comes behind those that were noted before. The first worker. */
void run_note_message(struct run *run, const struct item *message);
/* The place of a message among those that earlier runs have noted. UINT64_MAX: they have not. The first worker. */
uint64_t run_noted_place(const struct run *run, const struct item *message);

struct source {
    /* Lists everything by run_put(), once to copy and once to compare. Called on the first worker. Returns false after reporting why
     * the listing is incomplete. */
    bool (*list)(struct source *source, struct worker *worker);
    /* Adds what the list does not say: headers of files. Any worker. NULL: it says all. */
    bool (*complete)(struct source *source, struct worker *worker, struct item *item);
    /* Bytes of a blob or file, all of those that are asked for, in the worker's arena or until the source is freed. Any
     * worker; so are those below. False: said why. */
    bool (*read)(struct source *source, struct worker *worker, const struct item *item, uint64_t at,
                 uint64_t length, struct bytes *ret_bytes);
    /* The parts of a page blob or file that are not zeros. */
    bool (*ranges)(struct source *source, struct worker *worker, const struct item *item,
                   struct item_ranges *ret_ranges);
    void (*free)(struct source *source);
};

struct sink {
    /* Makes it, with its states. False: said why. */
    bool (*put)(struct sink *sink, struct source *source, struct worker *worker,
                const struct item *item);
    /* Called after everything was copied. Returns false after reporting why. May be NULL. */
    bool (*end)(struct sink *sink, struct worker *worker);
    void (*free)(struct sink *sink);
};

/* What the two sides are. NULL: said why. */
struct run_openers {
    struct source *(*source)(struct worker *worker, const struct transfer_options *options);
    struct sink *(*sink)(struct worker *worker, const struct transfer_options *options);
    /* Opens the target as a source, to compare it at the end. */
    struct source *(*target)(struct worker *worker, const struct transfer_options *options);
};
/* See transfer_run(). */
bool run_all(const struct transfer_options *options, const struct run_openers *openers,
             struct transfer_result *ret_result);

#endif
