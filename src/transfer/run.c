/* See run.h. */
#include "transfer/run.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/thread.h"
#include "transfer/compare.h"
#include "transfer/journal.h"

/* Maximum items waiting for a worker, each in its own arena: more than a page of a listing, so that
 * workers copy one page while the next one is fetched. */
#define WAITING_MAX      8192u
#define ITEM_BYTES_MAX   ((size_t)256 << 20)
#define WORKER_BYTES_MAX ((size_t)2 << 30)
#define SHOW_MS          200

enum run_phase { RUN_COPIES, RUN_LISTS_TARGET, RUN_LISTS_SOURCE };

struct job {
    struct arena *arena;
    struct item *item;
    struct item_hash hash;
};

struct run {
    const struct transfer_options *options;
    const struct run_openers *openers;
    struct transfer_result *result;
    struct source *source;
    struct sink *sink;
    struct journal *journal;
    struct comparison *comparison;
    enum run_phase phase;
    bool source_is_hierarchical; /* it has listed a directory */
    struct worker first;
    struct thread threads[TRANSFER_WORKERS_MAX];
    struct worker workers[TRANSFER_WORKERS_MAX];
    unsigned started;
    /* Under the lock. */
    struct lock lock;
    pthread_cond_t has_jobs; /* signaled for a new job or the end; workers wait */
    /* signaled when there is space for a job, or none is running; the lister waits */
    pthread_cond_t is_ahead;
    struct job waiting[WAITING_MAX];
    unsigned begin, count;
    unsigned busy;
    bool is_over;          /* there will be no more jobs */
    atomic_bool is_broken; /* the journal cannot be written: stop copying */
};

/* ---- problems ---- */

static void say(struct run *run, const char *text, unsigned problems)
{
    lock_acquire(&run->lock);
    run->result->count.problems += problems;
    run->options->complain(run->options->context, text);
    lock_release(&run->lock);
}

bool worker_problem(struct worker *worker, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(worker->run, arena_string(worker->arena, arena_vprintf(worker->arena, format, args)), 1);
    va_end(args);
    return false;
}

void worker_note(struct worker *worker, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(worker->run, arena_string(worker->arena, arena_vprintf(worker->arena, format, args)), 0);
    va_end(args);
}

void run_leave_out(struct run *run, enum left_out kind, uint64_t count)
{
    if (!run_is_comparing(run))
        run->result->left_out[kind] += count;
}

bool run_is_resumed(const struct run *run)
{
    return journal_goes_on(run->journal);
}

bool run_receives_messages(const struct run *run)
{
    return run->options->receives_messages;
}

bool run_is_comparing(const struct run *run)
{
    return run->phase != RUN_COPIES;
}

/* ---- creating items ---- */

static void count_made(struct run *run, const struct item *item, bool is_skipped)
{
    struct transfer_count *count = &run->result->count;

    lock_acquire(&run->lock);
    count->items++;
    count->skipped += is_skipped;
    count->bytes += item_bytes(item);
    lock_release(&run->lock);
}

static bool make(struct run *run, struct worker *worker, struct item *item,
                 const struct item_hash *hash)
{
    struct source *source = run->source;
    bool made =
        !source->complete || item->kind != ITEM_FILE || source->complete(source, worker, item);

    made = made && run->sink->put(run->sink, source, worker, item);
    if (made && item_is_noted(item->kind) && !journal_add(run->journal, hash)) {
        atomic_store(&run->is_broken, true);
        made = worker_problem(worker, "the journal cannot be written: %s", strerror(errno));
    }
    if (made)
        count_made(run, item, false);
    return made;
}

bool run_journal_queue(struct run *run, const struct item *queue)
{
    const struct item begun = { .kind = ITEM_QUEUE, .parent = queue->parent };
    struct item_hash hash;

    item_hash_source(&begun, &hash);
    if (journal_has(run->journal, &hash))
        return true;
    if (!journal_add(run->journal, &hash))
        atomic_store(&run->is_broken, true);
    return false;
}

void run_journal_message(struct run *run, const struct item *message)
{
    struct item_hash hash;

    item_hash_source(message, &hash);
    if (!journal_has(run->journal, &hash) && !journal_add(run->journal, &hash))
        atomic_store(&run->is_broken, true);
}

uint64_t run_journal_position(const struct run *run, const struct item *message)
{
    struct item_hash hash;

    item_hash_source(message, &hash);
    return journal_number(run->journal, &hash);
}

/* ---- workers ---- */

static bool take_job(struct run *run, struct job *ret_job)
{
    bool taken;

    lock_acquire(&run->lock);
    while (run->count == 0 && !run->is_over)
        lock_wait(&run->lock, &run->has_jobs, -1);
    taken = run->count > 0;
    if (taken) {
        *ret_job = run->waiting[run->begin];
        run->begin = (run->begin + 1) % WAITING_MAX;
        if (run->count-- == WAITING_MAX)
            pthread_cond_signal(&run->is_ahead);
        run->busy++;
    }
    lock_release(&run->lock);
    return taken;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct run *run = worker->run;
    struct job job;

    while (take_job(run, &job)) {
        struct arena_mark mark = arena_mark(worker->arena);

        if (!atomic_load(&run->is_broken))
            (void)make(run, worker, job.item, &job.hash);
        arena_rewind(worker->arena, mark);
        arena_free(job.arena);
        lock_acquire(&run->lock);
        if (--run->busy == 0 && run->count == 0)
            pthread_cond_signal(&run->is_ahead);
        lock_release(&run->lock);
    }
    return NULL;
}

static void show(struct run *run)
{
    struct transfer_count count;

    lock_acquire(&run->lock);
    count = run->result->count;
    lock_release(&run->lock);
    run->options->show(run->options->context, &count);
}

static void push_job(struct run *run, const struct job *job)
{
    bool pushed = false;

    while (!pushed) {
        lock_acquire(&run->lock);
        if (run->count == WAITING_MAX)
            (void)lock_wait(&run->lock, &run->is_ahead, SHOW_MS);
        pushed = run->count < WAITING_MAX;
        if (pushed) {
            run->waiting[(run->begin + run->count++) % WAITING_MAX] = *job;
            pthread_cond_signal(&run->has_jobs);
        }
        lock_release(&run->lock);
        show(run);
    }
}

/* Waits until all items put so far were created. */
static void wait_for_jobs(struct run *run)
{
    bool waits = true;

    while (waits) {
        lock_acquire(&run->lock);
        if (run->count > 0 || run->busy > 0)
            (void)lock_wait(&run->lock, &run->is_ahead, SHOW_MS);
        waits = run->count > 0 || run->busy > 0;
        lock_release(&run->lock);
        show(run);
    }
}

/* ---- listings ---- */

static uint64_t *counter_of(struct transfer_result *result, enum item_kind kind)
{
    uint64_t *const counters[ITEM_KINDS] = {
        [ITEM_CONTAINER] = &result->containers, [ITEM_BLOB] = &result->blobs,
        [ITEM_QUEUE] = &result->queues,         [ITEM_MESSAGE] = &result->messages,
        [ITEM_TABLE] = &result->tables,         [ITEM_ENTITY] = &result->entities,
        [ITEM_SHARE] = &result->shares,         [ITEM_DIRECTORY] = &result->directories,
        [ITEM_FILE] = &result->files,           [ITEM_FOLDER] = &result->directories,
    };

    return counters[kind];
}

static void count_listed(struct run *run, const struct item *item)
{
    uint64_t *counter = counter_of(run->result, item->kind);

    lock_acquire(&run->lock);
    run->result->count.items_listed++;
    run->result->count.bytes_listed += item_bytes(item);
    if (counter && (item->kind != ITEM_FOLDER || item->name.len > 0))
        (*counter)++;
    lock_release(&run->lock);
}

static enum put_result compare(struct run *run, const struct item *item)
{
    if (run->phase == RUN_LISTS_TARGET)
        comparison_add(run->comparison, run->first.arena, item);
    else
        comparison_meet(run->comparison, run->first.arena, item);
    return PUT_CREATED;
}

static enum put_result put_now(struct run *run, const struct item *item,
                               const struct item_hash *hash)
{
    struct arena_mark mark = arena_mark(run->first.arena);
    bool made = make(run, &run->first, item_copy(run->first.arena, item), hash);

    arena_rewind(run->first.arena, mark);
    show(run);
    return made ? PUT_CREATED : PUT_FAILED;
}

/* Returns the item in the form that both sides have, or NULL if one of them does not have it. */
static const struct item *common_form(struct run *run, const struct item *item)
{
    bool is_lost;

    if (item->kind == ITEM_FOLDER && run->phase != RUN_LISTS_TARGET)
        run->source_is_hierarchical = true;
    if (run->source_is_hierarchical && run->sink->is_hierarchical)
        return item;
    item = item_flatten(run->first.arena, item, &is_lost);
    run_leave_out(run, LEFT_OUT_ACCESS, is_lost);
    return item;
}

enum put_result run_put(struct run *run, const struct item *item)
{
    struct job job;

    item = common_form(run, item);
    if (!item)
        return PUT_CREATED;
    if (run_is_comparing(run))
        return compare(run, item);
    if (atomic_load(&run->is_broken))
        return PUT_STOPPED;
    if (item->kind == ITEM_QUEUE && item_find_header(item, ITEM_QUEUE_MARK).ptr) {
        worker_problem(&run->first,
                       "queue %.*s is incomplete at the source: an import into it was not finished",
                       BYTES_ARG(item->parent));
        return PUT_FAILED;
    }
    count_listed(run, item);
    item_hash_noted(item, &job.hash);
    if ((item_is_noted(item->kind) || item->kind == ITEM_QUEUE) &&
        journal_has(run->journal, &job.hash)) {
        count_made(run, item, true);
        return PUT_EXISTS;
    }
    if (item_is_ordered(item->kind))
        return put_now(run, item, &job.hash);
    job.arena = arena_new(ITEM_BYTES_MAX);
    job.item = item_copy(job.arena, item);
    push_job(run, &job);
    return PUT_CREATED;
}

/* ---- a run ---- */

static bool open_worker(struct run *run, struct worker *worker)
{
    const struct transfer_options *options = run->options;
    const char *problem = NULL;

    *worker = (struct worker){ .run = run, .arena = arena_new(WORKER_BYTES_MAX) };
    if (options->from)
        worker->from = api_client_new(options->from, options->ca_path, &problem);
    if (options->to && !problem)
        worker->to = api_client_new(options->to, options->ca_path, &problem);
    return !problem || worker_problem(worker, "%s", problem);
}

static void close_worker(struct worker *worker)
{
    api_client_free(worker->from);
    api_client_free(worker->to);
    arena_free(worker->arena);
}

static bool start_workers(struct run *run)
{
    for (; run->started < run->options->workers; run->started++) {
        struct worker *worker = &run->workers[run->started];

        if (!open_worker(run, worker) || !thread_start(&run->threads[run->started], work, worker)) {
            close_worker(worker);
            return run->started > 0;
        }
    }
    return true;
}

static void stop_workers(struct run *run)
{
    lock_acquire(&run->lock);
    run->is_over = true;
    pthread_cond_broadcast(&run->has_jobs);
    lock_release(&run->lock);
    for (unsigned i = 0; i < run->started; i++) {
        thread_join(&run->threads[i]);
        close_worker(&run->workers[i]);
    }
}

static bool open_sides(struct run *run)
{
    run->source = run->openers->source(&run->first, run->options);
    run->sink = run->openers->sink(&run->first, run->options);
    return run->source && run->sink;
}

/* Hashes source and target: URLs and accounts, or directory names. */
static void hash_pair(const struct transfer_options *options, struct item_hash *ret_hash)
{
    struct item places[2] = { { .kind = ITEM_SERVICE }, { .kind = ITEM_SERVICE } };

    places[0].parent = options->from ? options->from->urls[ENDPOINT_BLOB]
                                     : bytes_from_string(options->from_export);
    places[0].name = bytes_from_string(options->from_azurite);
    places[0].body = bytes_from_string(options->azurite_account);
    places[1].state =
        options->to ? options->to->urls[ENDPOINT_BLOB] : bytes_from_string(options->to_export);
    places[0].next = &places[1];
    item_hash_source(&places[0], ret_hash);
}

static bool open_journal(struct run *run)
{
    const char *path = run->options->journal_path, *problem;
    struct item_hash pair;

    hash_pair(run->options, &pair);
    run->journal = journal_open(path, &pair, &problem);
    return run->journal || worker_problem(&run->first, "%s: %s", path, problem);
}

static void report_difference(void *context, const char *problem)
{
    struct run *run = context;

    worker_problem(&run->first, "%s", problem);
}

/* Lists the target, then the source once more. */
static bool compare_all(struct run *run)
{
    struct transfer_result *result = run->result;
    struct source *target = run->openers->target(&run->first, run->options);
    struct comparison_count count;
    bool listed;

    run->phase = RUN_LISTS_TARGET;
    listed = target && target->list(target, &run->first);
    if (target)
        target->free(target);
    comparison_begin(run->comparison);
    run->phase = RUN_LISTS_SOURCE;
    listed = listed && run->source->list(run->source, &run->first);
    comparison_end(run->comparison, run->first.arena);
    count = comparison_count(run->comparison);
    result->compared = count.same;
    result->differing = count.differing;
    result->missing = count.missing;
    return listed && result->count.problems == 0;
}

static bool copy_all(struct run *run)
{
    bool copied = run->source->list(run->source, &run->first);

    wait_for_jobs(run);
    stop_workers(run);
    copied = copied && run->result->count.problems == 0;
    if (copied && run->sink->end)
        copied = run->sink->end(run->sink, &run->first);
    return copied && compare_all(run);
}

bool run_all(const struct transfer_options *options, const struct run_openers *openers,
             struct transfer_result *ret_result)
{
    struct run *run = xcalloc(1, sizeof *run);
    bool began, copied = false;

    *ret_result = (struct transfer_result){ .compared = 0 };
    run->options = options;
    run->openers = openers;
    run->result = ret_result;
    run->comparison = comparison_new(report_difference, run);
    atomic_init(&run->is_broken, false);
    lock_init(&run->lock, RANK_TRANSFER);
    lock_condition_init(&run->has_jobs);
    lock_condition_init(&run->is_ahead);
    began =
        open_worker(run, &run->first) && open_journal(run) && open_sides(run) && start_workers(run);
    if (began)
        copied = copy_all(run);
    ret_result->can_go_on = run->journal && !copied && (began || run_is_resumed(run));
    if (run->source)
        run->source->free(run->source);
    if (run->sink)
        run->sink->free(run->sink);
    if (run->journal)
        journal_close(run->journal, !ret_result->can_go_on);
    close_worker(&run->first);
    comparison_free(run->comparison);
    lock_destroy(&run->lock);
    pthread_cond_destroy(&run->has_jobs);
    pthread_cond_destroy(&run->is_ahead);
    free(run);
    return copied;
}
