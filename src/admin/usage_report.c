/* Operation of `lagra usage`: makes the owners of all cells count now, and adds up their results.
 * Rule 2 of cell_usage.h. */
#include <stdatomic.h>
#include <stdlib.h>

#include "admin/admin_private.h"
#include "admin/cell_usage.h"
#include "base/codec.h"
#include "cluster/peer.h"

#define VERSION        1
/* Timeout of a request; counting a large cell takes minutes. */
#define RESPONSE_MS    600000u
#define ENTRIES_MAX    ((size_t)1 << 20)
#define TEXT_BYTES_MAX 1024u

enum { ENTRY_END, ENTRY_TOTAL, ENTRY_CONTAINER };

/* The usage of all cells. */
struct merged {
    struct arena *arena;
    struct survey_container *entries; /* containers, and totals, whose name.ptr is NULL */
    size_t count, capacity;
};

static void add(struct merged *m, const struct survey_total *total, struct bytes name)
{
    if (m->count == m->capacity) {
        size_t capacity = m->capacity > 0 ? 2 * m->capacity : 256;
        struct survey_container *grown = arena_array(m->arena, capacity, sizeof *grown);

        if (m->count > 0)
            memcpy(grown, m->entries, m->count * sizeof *grown);
        m->entries = grown;
        m->capacity = capacity;
    }
    m->entries[m->count++] = (struct survey_container){ .of = *total, .name = name };
}

static void add_total(void *context, const struct survey_total *total)
{
    struct survey_total copy = *total;
    struct merged *m = context;

    copy.account = arena_copy(m->arena, total->account);
    if (total->containers > 0 || total->usage.bytes > 0)
        add(m, &copy, bytes_of(NULL, 0));
}

static void add_container(void *context, const struct survey_container *container)
{
    struct survey_total copy = container->of;
    struct merged *m = context;

    copy.account = arena_copy(m->arena, copy.account);
    add(m, &copy, arena_copy(m->arena, container->name));
}

/* Counts the usage of this cell. Returns false if a record could not be read. */
static bool count_own(struct merged *m, struct usage_survey *survey)
{
    if (!usage_survey_count(survey))
        return false;
    usage_survey_read(survey, &(struct survey_listener){ add_total, add_container, m });
    return true;
}

/* ---- for another cell ---- */

int cell_usage_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    static atomic_bool counts; /* so that at most one thread of the pool is occupied */
    struct merged m = { .arena = arena };
    const struct endpoint_set *all = context;
    bool is_done;

    if (body.len != 1 || body.ptr[0] != VERSION)
        return 400;
    if (atomic_exchange(&counts, true))
        return 503;
    is_done = count_own(&m, all->usage);
    atomic_store(&counts, false);
    encode_u8(ret_body, VERSION);
    for (size_t i = 0; i < m.count; i++) {
        const struct survey_total *of = &m.entries[i].of;

        encode_u8(ret_body, m.entries[i].name.ptr ? ENTRY_CONTAINER : ENTRY_TOTAL);
        encode_bytes(ret_body, of->account);
        encode_bytes(ret_body, bytes_from_string(of->service));
        encode_u64(ret_body, of->containers);
        encode_u64(ret_body, of->usage.objects);
        encode_u64(ret_body, of->usage.bytes);
        encode_u64(ret_body, of->usage.quota_bytes);
        if (m.entries[i].name.ptr)
            encode_bytes(ret_body, m.entries[i].name);
    }
    encode_u8(ret_body, ENTRY_END);
    return is_done ? 200 : 500;
}

/* Adds the entries of another cell. Returns false if they are malformed. */
static bool add_response(struct merged *m, const struct endpoint_set *all, struct bytes body)
{
    struct decoder in;
    uint8_t kind;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return false;
    while ((kind = decode_u8(&in)) == ENTRY_TOTAL || kind == ENTRY_CONTAINER) {
        struct survey_total total = { .account = decode_bytes(&in) };
        const struct endpoint *endpoint = endpoint_find(all, decode_bytes(&in));
        struct bytes name = { NULL, 0 };

        total.containers = decode_u64(&in);
        total.usage.objects = decode_u64(&in);
        total.usage.bytes = decode_u64(&in);
        total.usage.quota_bytes = decode_u64(&in);
        if (kind == ENTRY_CONTAINER)
            name = decode_bytes(&in);
        if (in.bad || !endpoint || !total.account.ptr || total.account.len > TEXT_BYTES_MAX ||
            name.len > TEXT_BYTES_MAX || (kind == ENTRY_CONTAINER && !name.ptr) ||
            m->count == ENTRIES_MAX)
            return false;
        total.service = endpoint->service->name;
        add(m, &total, name);
    }
    return kind == ENTRY_END && decoder_ok(&in);
}

/* ---- the command ---- */

/* Orders totals before containers, totals by account and service, and containers by size, largest
 * first. */
static int compare(const void *a, const void *b)
{
    const struct survey_container *one = a, *two = b;
    int order = (one->name.ptr != NULL) - (two->name.ptr != NULL);

    if (order == 0 && one->name.ptr)
        return (one->of.usage.bytes < two->of.usage.bytes) -
               (one->of.usage.bytes > two->of.usage.bytes);
    if (order == 0)
        order = bytes_compare(one->of.account, two->of.account);
    return order != 0 ? order : strcmp(one->of.service, two->of.service);
}

/* Adds up the totals of each account and service. */
static void add_up(struct merged *m)
{
    size_t count = 0;

    qsort(m->entries, m->count, sizeof *m->entries, compare);
    for (size_t i = 0; i < m->count; i++) {
        const struct survey_total *from = &m->entries[i].of;
        struct survey_total *to = count > 0 ? &m->entries[count - 1].of : NULL;

        if (!to || m->entries[i].name.ptr || compare(&m->entries[count - 1], &m->entries[i]) != 0) {
            m->entries[count++] = m->entries[i];
            continue;
        }
        to->containers += from->containers;
        to->usage.objects += from->usage.objects;
        to->usage.bytes += from->usage.bytes;
        to->usage.quota_bytes += from->usage.quota_bytes;
    }
    m->count = count;
}

static void write_entry(struct json_writer *out, const struct survey_container *entry)
{
    const struct survey_total *of = &entry->of;

    json_write_begin(out, '{');
    if (entry->name.ptr)
        json_write_member(out, "name", entry->name);
    json_write_member(out, "account", of->account);
    json_write_member(out, "service", bytes_from_string(of->service));
    json_write_number(out, "objects", of->usage.objects);
    json_write_number(out, "bytes", of->usage.bytes);
    if (of->usage.quota_bytes > 0)
        json_write_number(out, "quota", of->usage.quota_bytes);
    if (!entry->name.ptr)
        json_write_number(out, "containers", of->containers);
    json_write_end(out, '}');
}

static void write_merged(struct json_writer *out, const struct merged *m)
{
    size_t shown = 0;

    json_write_name(out, "accounts");
    json_write_begin(out, '[');
    for (size_t i = 0; i < m->count; i++)
        if (!m->entries[i].name.ptr)
            write_entry(out, &m->entries[i]);
    json_write_end(out, ']');
    json_write_name(out, "containers");
    json_write_begin(out, '[');
    for (size_t i = 0; i < m->count && shown < SURVEY_SHOWN_MAX; i++)
        if (m->entries[i].name.ptr) {
            write_entry(out, &m->entries[i]);
            shown++;
        }
    json_write_end(out, ']');
}

/* Lists the other cells, if the server can reach their owners. Returns their number. */
static unsigned list_others(const struct admin *admin, uint32_t cells[CLUSTER_CELLS_MAX])
{
    unsigned all = admin->endpoints->endpoints[0].peers ? route_cells(admin->route, cells) : 0;
    unsigned count = 0;

    for (unsigned i = 0; i < all; i++)
        if (cells[i] != admin->cell)
            cells[count++] = cells[i];
    return count;
}

void admin_usage(struct admin_call *call)
{
    static const char version = VERSION;
    const struct admin *admin = call->admin;
    struct merged m = { .arena = call->arena };
    struct peer_call *calls[CLUSTER_CELLS_MAX];
    uint32_t cells[CLUSTER_CELLS_MAX];
    unsigned count = list_others(admin, cells), missing = 0;
    bool is_counted;

    for (unsigned i = 0; i < count; i++)
        calls[i] = peer_begin(admin->endpoints->endpoints[0].peers,
                              &(struct peer_request){ .cell = cells[i],
                                                      .path = CELL_USAGE_PATH,
                                                      .body = bytes_of(&version, 1),
                                                      .response_max = PEER_BODY_MAX,
                                                      .response_ms = RESPONSE_MS },
                              call->arena);
    is_counted = count_own(&m, admin->endpoints->usage);
    for (unsigned i = 0; i < count; i++) {
        struct peer_response response;

        if (peer_end(calls[i], &response) != PEER_OK || response.status != 200 ||
            !add_response(&m, admin->endpoints, response.body))
            missing = missing > 0 ? missing : cells[i];
    }
    if (!is_counted)
        admin_fail(
            call, 500, "InternalError",
            "Usage could not be determined because stored data could not be read; see the log.");
    else if (missing > 0)
        admin_fail(call, 503, "ServerBusy", "The owner of cell %u has not reported its usage.",
                   missing);
    else {
        if (count > 0)
            add_up(&m);
        write_merged(&call->out, &m);
    }
}
