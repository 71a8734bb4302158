/* Oplocks and leases: see caching.h. */
#include "smb/caching.h"

#include <assert.h>
#include <stdlib.h>

#include <nettle/sha2.h>

#include "service/waiting.h"

#define TOLD           (UINT32_C(1) << 31)
#define NOTIFY_ACK     1u /* SMB2_NOTIFY_BREAK_LEASE_FLAG_ACK_REQUIRED */
/* How long a client may take to answer a break. ms-smb2: 3.3.2.1 */
#define BREAK_ANSWER_S 35u

uint8_t caching_of_level(uint8_t level)
{
    switch (level) {
    case OPLOCK_II:
        return CACHING_READ;
    case OPLOCK_EXCLUSIVE:
        return CACHING_READ | CACHING_WRITE;
    case OPLOCK_BATCH:
        return CACHING_ALL;
    default:
        return 0;
    }
}

uint8_t level_of_caching(uint8_t caching)
{
    if (caching & CACHING_WRITE)
        return caching & CACHING_HANDLE ? OPLOCK_BATCH : OPLOCK_EXCLUSIVE;
    return caching & CACHING_READ ? OPLOCK_II : OPLOCK_NONE;
}

/* An open that has it; NULL: none. */
static struct smb_open *caching_open(const struct smb_caching *caching)
{
    return opens_first_with(caching->connection->opens, caching);
}

/* ---- a client that does not answer: its server does, with nothing. ms-smb2: 3.3.2.1, 3.3.6.1 ---- */

struct overdue {
    struct smb_caching *caching;
    instant until;
    struct handle_acknowledge acknowledge;
};

static enum smb_step wait_on(struct smb_request *request, const struct overdue *overdue)
{
    switch (waiting_begin(waiting_turn(), overdue->until, request_arm(request))) {
    case WAITING_KEPT:
        return STEP_WAIT;
    case WAITING_OVER:
        return STEP_GO_ON;
    case WAITING_ENDS:
        break;
    }
    return smb_refuse(request, STATUS_SUCCESS);
}

static enum smb_step overdue_begin(struct smb_request *request, struct wire_reader *r)
{
    struct overdue *overdue = arena_alloc(request->message->arena, sizeof *overdue);

    (void)r;
    overdue->caching = request->open->caching;
    overdue->until = clock_now() + BREAK_ANSWER_S * TICKS_PER_SECOND;
    overdue->caching->overdue = request;
    request->parameters = overdue;
    return wait_on(request, overdue);
}

/* Whatever somebody commits wakes it: it looks. */
static enum smb_step overdue_go_on(struct smb_request *request)
{
    struct overdue *overdue = request->parameters;
    struct smb_caching *caching = overdue->caching;

    if (!request->open->caching || caching->overdue != request)
        return smb_refuse(request, STATUS_SUCCESS);
    if (clock_now() < overdue->until)
        return wait_on(request, overdue);
    overdue->acknowledge = (struct handle_acknowledge){
        .mount = &request->tree->mount,
        .node = caching->node,
        .key = caching->listener.key,
        .told = caching->breaks_to,
    };
    return smb_decide(request, handle_acknowledge_attempt, &overdue->acknowledge);
}

static enum smb_step overdue_decided(struct smb_request *request)
{
    const struct overdue *overdue = request->parameters;
    struct smb_caching *caching = overdue->caching;

    if (request->open->caching && caching->overdue == request) {
        caching->overdue = NULL;
        caching->is_breaking = false;
        caching->holds = 0;
    }
    return smb_refuse(request, STATUS_SUCCESS);
}

static const struct smb_row overdue = {
    .command = SMB_OPLOCK_BREAK,
    .name = "overdue",
    .begin = overdue_begin,
    .decided = overdue_decided,
    .go_on = overdue_go_on,
};

/* Nobody waits for the client's answer any more. */
static void end_overdue(struct smb_caching *caching)
{
    struct smb_request *request = caching->overdue;

    caching->overdue = NULL;
    if (request)
        request_hurry(request);
}

/* ---- who has it ---- */

/* Called by who has committed the break: notes it, and has the connection look. */
static void asked(struct break_listener *listener, const struct break_news *news)
{
    struct smb_caching *caching = (struct smb_caching *)(void *)listener;
    struct smb_connection *connection = caching->connection;
    uint32_t before = atomic_load(&caching->told);
    uint32_t told;

    do
        told = TOLD | (before ? before & 0xFF00 : (uint32_t)news->holds << 8) | news->to;
    while (!atomic_compare_exchange_weak(&caching->told, &before, told));
    atomic_store(&connection->breaks_come, true);
    atomic_fetch_add(&connection->posters, 1);
    smb_post(connection, NULL);
    atomic_fetch_sub(&connection->posters, 1);
}

/* One of all clients' for each pair of client and lease key. */
static struct guid caching_key(const struct smb_connection *connection,
                               const struct lease_asked *lease)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;
    struct guid key;

    if (!lease->is_lease)
        return guid_new();
    sha256_init(&hash);
    sha256_update(&hash, sizeof connection->agreed.client_guid.b, connection->agreed.client_guid.b);
    sha256_update(&hash, sizeof lease->key.b, lease->key.b);
    sha256_digest(&hash, sizeof digest, digest);
    memcpy(key.b, digest, sizeof key.b);
    return key;
}

struct smb_caching *caching_find(struct smb_connection *connection, const struct guid *lease_key)
{
    struct smb_caching *caching = connection->cachings;

    while (caching && !(caching->lease.is_lease && guid_equal(&caching->lease.key, lease_key)))
        caching = caching->next;
    return caching;
}

static void leave(struct smb_open *open)
{
    struct smb_caching *caching = open->caching;
    struct smb_caching **at = &caching->connection->cachings;

    open->caching = NULL;
    assert(caching->opens > 0);
    if (caching->overdue && caching->overdue->open == open)
        end_overdue(caching);
    if (--caching->opens > 0) {
        if (caching->is_breaking && !caching->overdue && caching_open(caching))
            smb_run(request_of_own(caching_open(caching), &overdue));
        return;
    }
    break_listener_remove(&caching->listener);
    while (*at != caching)
        at = &(*at)->next;
    *at = caching->next;
    free(caching);
}

static void join(struct smb_open *open, const struct lease_asked *lease, const struct guid *key,
                 uint16_t epoch)
{
    struct smb_connection *connection = open->tree->session->connection;
    struct smb_caching *caching = lease->is_lease ? caching_find(connection, &lease->key) : NULL;

    if (!caching) {
        caching = xcalloc(1, sizeof *caching);
        caching->connection = connection;
        caching->lease = *lease;
        caching->epoch = epoch;
        caching->listener = (struct break_listener){
            .space = open->tree->mount.space,
            .key = *key,
            .asked = asked,
        };
        atomic_init(&caching->told, 0);
        caching->next = connection->cachings;
        connection->cachings = caching;
        break_listener_add(&caching->listener);
    }
    caching->opens++;
    open->caching = caching;
    open->leaves_caching = leave;
}

void caching_join(struct smb_open *open, const struct lease_asked *lease)
{
    struct guid key = caching_key(open->tree->session->connection, lease);

    join(open, lease, &key, lease->epoch);
}

void caching_join_again(struct smb_open *open, const struct lease_asked *lease,
                        const struct guid *key, uint16_t epoch)
{
    join(open, lease, key, epoch);
}

void caching_returned(struct smb_open *open, uint8_t holds)
{
    struct smb_caching *caching = open->caching;

    caching->node = open->handle.node;
    if (!caching->is_breaking)
        caching->holds = holds;
}

bool caching_granted(struct smb_open *open, const struct handle_open *opened)
{
    struct smb_caching *caching = open->caching;

    if (caching->node != 0 && caching->node != opened->handle.node)
        return false;
    caching->node = opened->handle.node;
    if (opened->gives_caching != caching->holds && !caching->is_breaking) {
        caching->holds = opened->gives_caching;
        caching->epoch++;
    }
    return true;
}

/* ---- breaks ---- */

static void put_lease_break(const struct smb_caching *caching, uint8_t to, bool is_answered,
                            struct wire_writer *w)
{
    wire_put_u16(w, 44); /* StructureSize */
    wire_put_u16(w, caching->lease.version == 2 ? caching->epoch : 0);
    wire_put_u32(w, is_answered ? NOTIFY_ACK : 0);
    wire_put_guid(w, &caching->lease.key);
    wire_put_u32(w, caching->holds);
    wire_put_u32(w, to);
    wire_put_zeros(w, 4 + 4 + 4); /* BreakReason and hints */
}

static void put_oplock_break(const struct smb_open *open, uint8_t to, struct wire_writer *w)
{
    wire_put_u16(w, 24); /* StructureSize */
    wire_put_u8(w, level_of_caching(to));
    wire_put_zeros(w, 1 + 4);
    wire_put_u64(w, open_persistent_id(open));
    wire_put_u64(w, open->volatile_id);
}

/* Tells the client. It is asked for its answer unless it only read. */
static void send_break(struct smb_caching *caching, uint8_t to)
{
    struct smb_open *open = caching_open(caching);
    bool is_answered = caching->holds & (CACHING_WRITE | CACHING_HANDLE);
    struct arena *arena;
    struct wire_writer w;
    struct text text;

    if (!open)
        return;
    arena = arena_new(4096);
    text_init(&text, arena, 64);
    wire_writer_init(&w, &text);
    caching->epoch++;
    if (caching->lease.is_lease)
        put_lease_break(caching, to, is_answered, &w);
    else
        put_oplock_break(open, to, &w);
    smb_tell(caching->connection, open->tree->session, SMB_OPLOCK_BREAK, text_bytes(&text));
    arena_free(arena);
    caching->is_breaking = is_answered;
    caching->breaks_to = to;
    if (is_answered)
        smb_run(request_of_own(open, &overdue));
    else
        caching->holds = to;
}

void caching_acknowledged(struct smb_caching *caching, uint8_t keeps, uint8_t breaks_to)
{
    end_overdue(caching);
    caching->is_breaking = false;
    caching->holds = keeps;
    if (breaks_to != keeps)
        send_break(caching, breaks_to);
}

/* What an open that is not answered yet is told, waits until it is: the client does not know it before. */
void caching_send_breaks(struct smb_connection *connection)
{
    bool again = true;

    while (again) {
        again = false;
        for (struct smb_caching *caching = connection->cachings; caching; caching = caching->next) {
            uint32_t told;

            if (caching->is_breaking || caching->node == 0)
                continue;
            told = atomic_exchange(&caching->told, 0);
            if (!told || (caching->holds & ~(uint8_t)told) == 0)
                continue;
            send_break(caching, (uint8_t)told & caching->holds);
            again = true; /* the list may have changed */
            break;
        }
    }
}
