/* Adds up accounts' usage of capacity across cells: see cell_usage.h. */
#include "admin/cell_usage.h"

#include <pthread.h>
#include <stdlib.h>

#include "auth/account_limits.h"
#include "base/codec.h"
#include "base/lock.h"
#include "service/server.h"

#define VERSION            1
#define REQUEST_TIMEOUT_MS 2000u
#define ARENA_MAX          ((size_t)16 << 20)

enum { IS_COUNTED = 1, WAS_REFUSED = 2 };

/* ---- entries ---- */

static void write_entry(struct text *out, const struct account *account,
                        const struct account_usage *usage)
{
    encode_u8(out, 1);
    encode_bytes(out, account_name(account));
    encode_u8(out, (uint8_t)((usage->is_counted ? IS_COUNTED : 0) |
                             (usage->was_refused ? WAS_REFUSED : 0)));
    encode_u64(out, usage->bytes < LIMIT_MAX ? usage->bytes : LIMIT_MAX);
}

/* Reads the next entry. Returns false at the end, and after an error, which sets in->bad. */
static bool read_entry(struct decoder *in, struct bytes *ret_account,
                       struct account_usage *ret_usage)
{
    uint8_t more = decode_u8(in), flags;

    in->bad = in->bad || more > 1;
    if (more != 1 || in->bad)
        return false;
    *ret_account = decode_bytes(in);
    flags = decode_u8(in);
    *ret_usage = (struct account_usage){ .bytes = decode_u64(in),
                                         .is_counted = flags & IS_COUNTED,
                                         .was_refused = flags & WAS_REFUSED };
    in->bad = in->bad || ret_usage->bytes > LIMIT_MAX;
    return !in->bad;
}

/* ---- in another cell ---- */

static void write_own(const struct account *account, void *context)
{
    const struct account_usage usage = account_usage_here(account);

    if (account_limit(account, LIMIT_CAPACITY) > 0)
        write_entry(context, account, &usage);
}

static void take_others(struct accounts *accounts, struct bytes body)
{
    struct account_usage usage;
    struct decoder in;
    struct bytes name;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return;
    while (read_entry(&in, &name, &usage)) {
        const struct account *account = accounts_find(accounts, name);

        if (account)
            account_usage_elsewhere(account, &usage);
    }
}

static void see_limit(const struct account *account, void *context)
{
    bool *has_limit = context;

    *has_limit |= account_limit(account, LIMIT_CAPACITY) > 0;
}

void cell_usage_report(struct peers *peers, uint32_t cell, struct accounts *accounts)
{
    struct peer_request request = { .cell = CLUSTER_ROOT,
                                    .path = CELL_BYTES_PATH,
                                    .response_max = CELL_BYTES_BODY_MAX,
                                    .timeout_ms = REQUEST_TIMEOUT_MS,
                                    .is_repeatable = true };
    struct peer_response response;
    struct arena *arena;
    struct text body;
    bool has_limit = false;

    accounts_each(accounts, see_limit, &has_limit);
    if (!has_limit)
        return;
    arena = arena_new(ARENA_MAX);
    text_init(&body, arena, 1024);
    encode_u8(&body, VERSION);
    encode_u64(&body, cell);
    accounts_each(accounts, write_own, &body);
    encode_u8(&body, 0);
    request.body = text_bytes(&body);
    if (peer_ask(peers, &request, arena, &response) == PEER_OK && response.status == 200)
        take_others(accounts, response.body);
    arena_free(arena);
}

/* ---- in the root ---- */

/* Bytes of an account as reported by the owners of other cells. */
struct reported {
    const struct account *account;
    uint64_t bytes[CLUSTER_CELLS_MAX]; /* in the order of reports.cells */
    uint64_t refused;                  /* bit set, by index in `bytes` */
};
_Static_assert(CLUSTER_CELLS_MAX <= 64, "one bit per cell");

static struct {
    struct lock lock; /* protects everything */
    uint32_t cells[CLUSTER_CELLS_MAX];
    unsigned cell_count;
    struct reported *of; /* sorted by account */
    size_t count, capacity;
} reports;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
    lock_init(&reports.lock, RANK_USAGE);
}

/* Returns the index of a cell, or CLUSTER_CELLS_MAX if there are too many cells. */
static unsigned index_of(uint64_t cell)
{
    unsigned i = 0;

    while (i < reports.cell_count && reports.cells[i] != cell)
        i++;
    if (i == reports.cell_count && i < CLUSTER_CELLS_MAX)
        reports.cells[reports.cell_count++] = (uint32_t)cell;
    return i;
}

/* Returns the reports about an account. If none exist, adds an empty one if `adds`, else
 * returns NULL. */
static struct reported *find(const struct account *account, bool adds)
{
    size_t from = 0, to = reports.count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if ((uintptr_t)reports.of[middle].account < (uintptr_t)account)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < reports.count && reports.of[from].account == account)
        return &reports.of[from];
    if (!adds)
        return NULL;
    if (reports.count == reports.capacity) {
        reports.capacity = reports.capacity > 0 ? 2 * reports.capacity : 16;
        reports.of = xrealloc(reports.of, reports.capacity * sizeof *reports.of);
    }
    memmove(&reports.of[from + 1], &reports.of[from], (reports.count - from) * sizeof *reports.of);
    reports.count++;
    reports.of[from] = (struct reported){ .account = account };
    return &reports.of[from];
}

/* Adds up the reports of all cells except the one with this index. */
static struct account_usage sum_without(const struct reported *reported, unsigned place)
{
    struct account_usage sum = { .is_counted = true };

    for (unsigned i = 0; reported && i < reports.cell_count; i++) {
        if (i == place)
            continue;
        sum.bytes += reported->bytes[i];
        sum.was_refused = sum.was_refused || reported->refused >> i & 1;
    }
    return sum;
}

static void take_report(const struct account *account, unsigned place,
                        const struct account_usage *usage)
{
    struct reported *reported = find(account, true);
    const uint64_t bit = UINT64_C(1) << place;
    struct account_usage others;

    /* A new owner does not know the total before its first count. Until then, the previous owner's
     * last report is used, unless the new owner's is higher. */
    if (usage->is_counted || usage->bytes > reported->bytes[place])
        reported->bytes[place] = usage->bytes;
    reported->refused = usage->was_refused ? reported->refused | bit : reported->refused & ~bit;
    others = sum_without(reported, CLUSTER_CELLS_MAX);
    account_usage_elsewhere(account, &others);
}

struct responding {
    struct text *out;
    unsigned place; /* index of the requesting cell */
};

static void write_others(const struct account *account, void *context)
{
    const struct responding *r = context;
    const struct account_usage own = account_usage_here(account);
    struct account_usage sum;

    if (account_limit(account, LIMIT_CAPACITY) == 0)
        return;
    sum = sum_without(find(account, false), r->place);
    sum.bytes += own.bytes;
    sum.was_refused = sum.was_refused || own.was_refused;
    write_entry(r->out, account, &sum);
}

static int serve(const struct accounts *accounts, struct decoder *in, struct text *ret_body)
{
    uint64_t cell = decode_u64(in);
    struct responding r = { .out = ret_body };
    struct account_usage usage;
    struct bytes name;

    if (in->bad || cell == 0 || cell == CLUSTER_ROOT || cell > PLACEMENT_CELL_MAX)
        return 400;
    r.place = index_of(cell);
    if (r.place == CLUSTER_CELLS_MAX)
        return 400;
    while (read_entry(in, &name, &usage)) {
        const struct account *account = accounts_find(accounts, name);

        if (account)
            take_report(account, r.place, &usage);
    }
    if (!decoder_ok(in))
        return 400;
    encode_u8(ret_body, VERSION);
    accounts_each(accounts, write_others, &r);
    encode_u8(ret_body, 0);
    return 200;
}

int cell_bytes_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    const struct endpoint_set *all = context;
    struct decoder in;
    int status;

    (void)arena;
    pthread_once(&once, init);
    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return 400;
    lock_acquire(&reports.lock);
    status = serve(all->endpoints[0].accounts, &in, ret_body);
    lock_release(&reports.lock);
    return status;
}
