/* See cell_accounts.h. */
#include "admin/cell_accounts.h"

#include "admin/cell_usage.h"
#include "admin/stored_accounts.h"
#include "base/codec.h"
#include "base/log.h"
#include "service/deciding.h"
#include "service/driver.h"
#include "service/names.h"

#define VERSION            1
#define EVERY_MS           500u
#define STEP_MS            20u
#define REQUEST_TIMEOUT_MS 2000u
#define ARENA_MAX          ((size_t)64 << 20)

static const struct bytes properties_key = BYTES("p"); /* service_properties.h */

static struct partition partition_of(struct bytes service, struct bytes account)
{
    static const char *const services[] = { "blob", "queue", "table", "file" };

    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        if (bytes_is(service, services[i]))
            return (struct partition){ .space = account_space(services[i], account),
                                       .key = BYTES("") };
    return (struct partition){ .space = stored_accounts_space(), .key = BYTES("") };
}

/* ---- the root ---- */

struct writing {
    const struct endpoint_set *all;
    struct text *out; /* NULL to compute only the digest */
    struct arena *arena;
    uint64_t digest;
    uint64_t sequence; /* newest sequence of the data read */
    enum store_result result;
};

/* Adds a partition to the digest, which is the sum, over all partitions, of a hash of the
 * partition's identity and the instant of its last commit. A sum, because accounts have no
 * order. */
static void add_digest(struct writing *w, struct bytes service, struct bytes account, instant last)
{
    uint64_t hash = 14695981039346656037u ^ last;

    for (size_t i = 0; i < service.len; i++)
        hash = (hash ^ (uint8_t)service.ptr[i]) * 1099511628211u;
    for (size_t i = 0; i < account.len; i++)
        hash = (hash ^ (uint8_t)account.ptr[i]) * 1099511628211u;
    w->digest += hash * 0x9e3779b97f4a7c15u;
}

static void write_record(struct writing *w, struct bytes service, struct bytes account,
                         const struct record *record)
{
    encode_u8(w->out, 1);
    encode_bytes(w->out, service);
    encode_bytes(w->out, account);
    encode_bytes(w->out, record->key);
    encode_bytes(w->out, record->value);
}

static enum store_result write_matching(struct writing *w, struct read_view *snapshot,
                                        struct bytes service, struct bytes account)
{
    struct bytes prefix = service.len > 0 ? properties_key : bytes_from_string("");
    struct scan *scan = scan_open(snapshot, RECORD_INNER, prefix, prefix);
    struct record record;
    enum store_result result;

    while (!(result = scan_next(scan, w->arena, &record)))
        if (service.len == 0 || bytes_equal(record.key, properties_key))
            write_record(w, service, account, &record);
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static void write_partition(struct writing *w, struct bytes service, struct bytes account)
{
    struct read_view *snapshot =
        read_view_open(w->all->endpoints[0].store, partition_of(service, account), STORE_MAY_BLOCK);

    add_digest(w, service, account, read_view_instant(snapshot));
    if (read_view_sequence(snapshot) > w->sequence)
        w->sequence = read_view_sequence(snapshot);
    if (w->out && !w->result)
        w->result = write_matching(w, snapshot, service, account);
    read_view_close(snapshot);
}

static void write_account(const struct account *account, void *context)
{
    struct writing *w = context;

    for (size_t i = 0; i < w->all->count; i++) {
        const struct service *service = w->all->endpoints[i].service;

        if (!service->data_of)
            write_partition(w, bytes_from_string(service->name), account_name(account));
    }
}

static void write_all(struct writing *w)
{
    w->digest = 1;
    write_partition(w, bytes_from_string(""), bytes_from_string(""));
    accounts_each(w->all->endpoints[0].accounts, write_account, w);
}

int cell_accounts_serve(void *context, struct bytes body, struct arena *arena,
                        struct text *ret_body)
{
    struct writing w = { .all = context, .arena = arena, .result = STORE_OK };
    struct text records;
    struct decoder in;
    uint64_t known;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return 400;
    known = decode_u64(&in);
    if (!decoder_ok(&in))
        return 400;
    write_all(&w);
    text_init(&records, arena, 1024);
    if (w.digest != known) {
        uint64_t before = w.digest;

        w.out = &records;
        write_all(&w);
        /* if a record has changed in between, the cell will request all records again */
        w.digest = before;
    }
    if (w.result || store_await(w.all->endpoints[0].store, w.sequence))
        return 503;
    encode_u8(ret_body, VERSION);
    encode_u64(ret_body, w.digest);
    text_add(ret_body, text_bytes(&records));
    encode_u8(ret_body, 0);
    return 200;
}

/* ---- another cell ---- */

struct entry {
    struct partition partition;
    struct bytes key, value;
};

static enum error attempt_store(struct decision *d, void *of)
{
    const struct entry *entry = of;
    struct record record;
    enum store_result result;

    decision_open_subject(d, entry->partition);
    decision_read_clock(d);
    result = read_view_get(d->before, RECORD_INNER, entry->key, d->arena, &record);
    if (result && result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    if (result || !bytes_equal(record.value, entry->value))
        changes_put(d->changes, RECORD_INNER, entry->key, entry->value, NULL, 0);
    return OK;
}

static bool store_entry(struct cell_accounts *f, struct arena *arena, struct entry *entry)
{
    return deciding_run_in(f->store, NULL, arena, attempt_store, entry) == OK;
}

/* Stores all records of a response. Returns false if it is malformed, or the store has failed. */
static bool store_all(struct cell_accounts *f, struct bytes body, struct arena *arena,
                      uint64_t *digest)
{
    struct decoder in;
    uint64_t of_root;
    uint8_t more;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return false;
    of_root = decode_u64(&in);
    while ((more = decode_u8(&in)) == 1) {
        struct bytes service = decode_bytes(&in);
        struct bytes account = decode_bytes(&in);
        struct entry entry = { .partition = partition_of(service, account) };

        entry.key = decode_bytes(&in);
        entry.value = decode_bytes(&in);
        if (!entry.key.ptr || !entry.value.ptr || (f->store && !store_entry(f, arena, &entry)) ||
            (service.len == 0 && !stored_account_follow(f->accounts, entry.key, entry.value)))
            return false;
    }
    if (more != 0 || !decoder_ok(&in))
        return false;
    *digest = of_root;
    return true;
}

/* Returns true if the root has an owner. Checked before each request, because a request waits for
 * an owner, which would delay the shutdown of the thread. */
static bool root_has_owner(struct route *route)
{
    struct owner_target target;
    uint64_t asked_ns;

    return route_find(route, CLUSTER_ROOT, &target, &asked_ns) == ROUTE_FOUND;
}

static void follow(struct cell_accounts *f, uint64_t *digest, bool *has_failed)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct peer_response response;
    struct text body;
    bool is_done;

    text_init(&body, arena, CELL_ACCOUNTS_BODY_MAX);
    encode_u8(&body, VERSION);
    encode_u64(&body, *digest);
    is_done = root_has_owner(f->peers->route) &&
              peer_ask(f->peers,
                       &(struct peer_request){ .cell = CLUSTER_ROOT,
                                               .path = CELL_ACCOUNTS_PATH,
                                               .body = text_bytes(&body),
                                               .response_max = PEER_BODY_MAX,
                                               .timeout_ms = REQUEST_TIMEOUT_MS,
                                               .is_repeatable = true },
                       arena, &response) == PEER_OK &&
              response.status == 200 && store_all(f, response.body, arena, digest);
    if (is_done == *has_failed)
        log_line(is_done ? LOG_INFO : LOG_WARN, "accounts can%s be read from the root cell",
                 is_done ? "" : "not");
    *has_failed = !is_done;
    arena_free(arena);
}

static void *run(void *argument)
{
    struct cell_accounts *f = argument;
    uint64_t digest = 0;
    bool has_failed = false;

    while (!atomic_load(&f->ends)) {
        follow(f, &digest, &has_failed);
        if (f->store && !has_failed)
            cell_usage_report(f->peers, f->cell, f->accounts);
        for (unsigned ms = 0; ms < EVERY_MS && !atomic_load(&f->ends); ms += STEP_MS)
            thread_sleep_ns(STEP_MS * NS_PER_MS);
    }
    return NULL;
}

bool cell_accounts_start(struct cell_accounts *follower)
{
    return thread_start(&follower->thread, run, follower);
}

void cell_accounts_stop(struct cell_accounts *follower)
{
    atomic_store(&follower->ends, true);
    thread_join(&follower->thread);
}
