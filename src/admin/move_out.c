/* See move_out.h. */
#include "admin/move_out.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "admin/move_copy.h"
#include "base/gate.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "service/driver.h"
#include "service/server.h"
#include "service/usage.h"

#define VERSION      1
#define ARENA_MAX    ((size_t)64 << 20)
/* Maximum number of attempts. All of them fail only if the container is repeatedly deleted and
 * created. */
#define ATTEMPTS_MAX 20u
#define PAUSE_MS     20u

static struct {
    struct lock lock;
    /* Under lock. */
    bool is_running;
    enum move_state state;
    const char *problem;
    /* Used by the thread; changed only while it is not running. */
    struct thread thread;
    struct arena *arena; /* contains the strings of the move */
    struct move move;
    const struct endpoint *endpoint;
    _Atomic uint64_t records, bytes;
    atomic_bool ends;
} job;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct metric_family moves = {
    "lagra_moves_total", "Ended moves of containers from this server to other cells", METRIC_COUNTER
};

static void init(void)
{
    lock_init(&job.lock, RANK_BACKUP_HOLD);
}

static void set_state(enum move_state state, const char *problem)
{
    lock_acquire(&job.lock);
    job.state = state;
    job.problem = problem;
    job.is_running = state == MOVE_COPIES;
    lock_release(&job.lock);
}

/* ---- the thread ---- */

/* Seals the name. Returns MOVE_AGAIN if it has changed since it was prepared. */
static enum move_result seal(struct copier *c, uint64_t digest)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct seal seal = {
        .move = c->move, .digest = digest, .dropped = c->named, .dropped_count = c->named_count
    };
    enum error e =
        deciding_run_in(c->endpoint->store, c->endpoint->service, arena, placement_seal, &seal);

    arena_free(arena);
    if (e)
        c->problem = "the source cannot write to its store";
    if (e)
        return MOVE_FAILED;
    return seal.is_done ? MOVE_OK : MOVE_AGAIN;
}

static enum move_result try_once(struct copier *c)
{
    uint64_t digest = 0;
    enum move_result result;

    c->arena = arena_new(ARENA_MAX);
    result = copier_prepare(c, &digest);
    if (!result) {
        job_gate_pass(JOB_STEPPED);
        result = seal(c, digest);
    } else if (result == MOVE_AGAIN) {
        job_gate_pass(JOB_STEP);
    }
    arena_free(c->arena);
    return result;
}

static void *run(void *argument)
{
    struct copier copier = { .endpoint = job.endpoint,
                             .move = job.move,
                             .kept = job.arena,
                             .ends = &job.ends,
                             .records = &job.records,
                             .bytes = &job.bytes };
    enum move_result result = MOVE_AGAIN;

    (void)argument;
    job_gate_pass(JOB_BEGUN);
    if (!move_cancel_earlier(job.endpoint, &job.move)) {
        copier.problem = "an earlier move of this name has not ended";
        result = MOVE_FAILED;
    }
    for (unsigned i = 0; i < ATTEMPTS_MAX && result == MOVE_AGAIN && !atomic_load(&job.ends); i++) {
        if (i > 1)
            thread_sleep_ns(PAUSE_MS * NS_PER_MS);
        result = try_once(&copier);
    }
    copier_release(&copier);
    metric_add(metric_series(&moves, result == MOVE_OK ? "result=\"moved\"" : "result=\"undone\""),
               1);
    job_gate_pass(JOB_ENDED);
    if (result == MOVE_OK)
        log_line(LOG_INFO, "moved %.*s of account %.*s (%.*s) to cell %u", BYTES_ARG(job.move.key),
                 BYTES_ARG(job.move.account), BYTES_ARG(job.move.service), (unsigned)job.move.to);
    if (result == MOVE_OK)
        set_state(MOVE_SEALED, "");
    else if (result == MOVE_MISSING)
        set_state(MOVE_GONE, "it no longer exists");
    else
        set_state(MOVE_UNDONE, copier.problem ? copier.problem
                                              : "it changes too often, or the move was cancelled");
    return NULL;
}

void move_out_describe(char *to, size_t size)
{
    to[0] = '\0';
    pthread_once(&once, init);
    lock_acquire(&job.lock);
    if (job.state == MOVE_COPIES)
        snprintf(to, size, "%.*s %.*s/%.*s to cell %u", BYTES_ARG(job.move.service),
                 BYTES_ARG(job.move.account), BYTES_ARG(job.move.key), (unsigned)job.move.to);
    lock_release(&job.lock);
}

void move_out_stop(void)
{
    atomic_store(&job.ends, true);
    thread_join(&job.thread);
}

/* ---- requests ---- */

static bool claim(void)
{
    bool is_free;

    pthread_once(&once, init);
    lock_acquire(&job.lock);
    is_free = !job.is_running && !atomic_load(&job.ends);
    if (is_free)
        job.is_running = true;
    lock_release(&job.lock);
    return is_free;
}

/* Returns true if no earlier move of the name is sealed. */
static bool has_ended(const struct endpoint *endpoint, const struct move *move, struct arena *arena)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .arena = arena, .problem = &problem };
    struct read_view *snapshot = read_view_open(
        endpoint->store, move_partition(endpoint->service->name, move), STORE_MAY_BLOCK);
    bool is_sealed = true;
    enum store_result result = placement_sealed(&d, snapshot, move->incarnation - 1, &is_sealed);

    read_view_close(snapshot);
    return !result && !is_sealed;
}

int move_start_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    const struct endpoint *endpoint;
    struct decoder in;
    struct move move;

    (void)ret_body;
    decoder_init(&in, body);
    if (!move_read(&in, &move) || !decoder_ok(&in))
        return 400;
    endpoint = endpoint_find(context, move.service);
    if (!endpoint || !endpoint->peers)
        return 400;
    if (!has_ended(endpoint, &move, arena))
        return 503; /* an earlier move of the name is sealed */
    if (!claim())
        return 409;
    thread_join(&job.thread); /* thread of the previous move, which has ended */
    if (job.arena)
        arena_free(job.arena);
    job.arena = arena_new(ARENA_MAX);
    job.endpoint = endpoint;
    job.move = move;
    job.move.service = arena_copy(job.arena, move.service);
    job.move.account = arena_copy(job.arena, move.account);
    job.move.key = arena_copy(job.arena, move.key);
    atomic_store(&job.records, 0);
    atomic_store(&job.bytes, 0);
    set_state(MOVE_COPIES, "");
    if (thread_start(&job.thread, run, NULL))
        return 200;
    set_state(MOVE_UNDONE, "no thread can be started");
    return 503;
}

int move_status_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    enum move_state state = MOVE_UNKNOWN;
    struct move move = { .incarnation = 0 };
    const char *problem = "";
    struct decoder in;
    uint64_t incarnation;

    (void)context;
    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return 400;
    incarnation = decode_u64(&in);
    if (!decoder_ok(&in))
        return 400;
    pthread_once(&once, init);
    lock_acquire(&job.lock);
    if (incarnation > 0 && incarnation == job.move.incarnation) {
        state = job.state;
        problem = job.problem;
        move = job.move;
        move.account = arena_copy(arena, move.account);
        move.key = arena_copy(arena, move.key);
        move.service = arena_copy(arena, move.service);
    }
    lock_release(&job.lock);
    if (state == MOVE_SEALED && has_ended(job.endpoint, &move, arena))
        state = MOVE_DONE;
    encode_u8(ret_body, VERSION);
    encode_u8(ret_body, (uint8_t)state);
    encode_u64(ret_body, atomic_load(&job.records));
    encode_u64(ret_body, atomic_load(&job.bytes));
    encode_bytes(ret_body, bytes_from_string(problem));
    return 200;
}

/* ---- names ---- */

struct naming {
    const struct endpoint *endpoint;
    struct bytes account;
    struct text *out;
    unsigned count;
};

static bool add_name(void *context, struct bytes name, const struct usage *usage)
{
    struct naming *naming = context;

    (void)usage;
    if (name.len > 0 && name.ptr[0] == '$')
        return true;
    encode_bytes(naming->out, bytes_from_string(naming->endpoint->service->name));
    encode_bytes(naming->out, naming->account);
    encode_bytes(naming->out, name);
    return ++naming->count < MOVE_NAMES_MAX;
}

static void add_account(const struct account *account, void *context)
{
    struct naming *naming = context;
    const struct usage_walk walk = { .store = naming->endpoint->store,
                                     .service = naming->endpoint->service,
                                     .account = account_name(account),
                                     .found = add_name,
                                     .context = naming };

    naming->account = account_name(account);
    if (naming->count < MOVE_NAMES_MAX)
        (void)usage_look(&walk);
}

int move_names_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    const struct endpoint_set *all = context;
    struct naming naming = { .out = ret_body };

    (void)arena;
    if (body.len != 1 || body.ptr[0] != VERSION)
        return 400;
    encode_u8(ret_body, VERSION);
    for (size_t i = 0; i < all->count; i++) {
        naming.endpoint = &all->endpoints[i];
        if (naming.endpoint->service->data_of)
            continue;
        accounts_each(all->endpoints[i].accounts, add_account, &naming);
    }
    return 200;
}
