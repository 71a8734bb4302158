/* Index entries of opens and pending deletes: see open_record.h. */
#include "base/codec.h"
#include "base/endian.h"
#include "opens/handle_index.h"
#include "opens/open_record.h"
#include "service/small_record.h"

#include <assert.h>

#define HANDLE_VERSION    1
#define RETURN_VERSION    1
#define HANDLE_KEY_SIZE   (1 + 8 + 8)
#define RETURN_KEY_SIZE   (1 + 8)
#define RETURN_VALUE_SIZE (1 + VARINT_BYTES_MAX)

enum {
    KEEPS_ACCESSED = 1,
    KEEPS_WRITTEN = 2,
    KEEPS_CHANGED = 4,
    HAS_WRITTEN = 8,
    TIMES_FLAGS = 15
};

/* Returns when a disconnected handle expires, or 0 if it is connected. */
static instant disconnected_until(const struct handle *handle)
{
    return handle->persists && handle->epoch != open_epoch()
               ? open_epoch_end_of(handle->epoch, handle->durable.ticks)
               : handle->disconnected_until;
}

bool handle_counts(const struct handle *handle, instant now, uint64_t closed)
{
    instant until = disconnected_until(handle);

    return handle->id > closed && (handle->persists || handle->epoch == open_epoch()) &&
           (until == 0 || now < until);
}

/* ---- keys ---- */

struct bytes handle_prefix(struct arena *arena, const uint64_t *node)
{
    char *key = arena_bytes(arena, 1 + 8);

    key[0] = 'h';
    if (node)
        be64_put(key + 1, *node);
    return bytes_of(key, node ? 1 + 8 : 1);
}

static struct bytes write_key(char key[HANDLE_KEY_SIZE], uint64_t node, uint64_t id)
{
    key[0] = 'h';
    be64_put(key + 1, node);
    be64_put(key + 1 + 8, id);
    return bytes_of(key, HANDLE_KEY_SIZE);
}

struct bytes handle_key(struct arena *arena, uint64_t node, uint64_t id)
{
    return write_key(arena_bytes(arena, HANDLE_KEY_SIZE), node, id);
}

static struct bytes write_return_key(char key[RETURN_KEY_SIZE], uint64_t id)
{
    key[0] = 'r';
    be64_put(key + 1, id);
    return bytes_of(key, RETURN_KEY_SIZE);
}

struct bytes handle_reconnect_key(struct arena *arena, uint64_t id)
{
    return write_return_key(arena_bytes(arena, RETURN_KEY_SIZE), id);
}

/* ---- writing ---- */

static void encode_reconnect(struct text *out, const struct durable_handle_state *durable)
{
    const struct handle_times *times = &durable->times;

    encode_u64(out, durable->ticks);
    encode_u64(out, durable->granted);
    encode_u8(out, (uint8_t)((times->keeps_accessed ? KEEPS_ACCESSED : 0) |
                             (times->keeps_written ? KEEPS_WRITTEN : 0) |
                             (times->keeps_changed ? KEEPS_CHANGED : 0) |
                             (times->has_written ? HAS_WRITTEN : 0)));
    encode_u64(out, times->shown_written);
    encode_u64(out, times->shown_until);
    encode_bytes(out, durable->of_client);
}

static void put_return(struct changes *changes, struct arena *arena, const struct handle *handle)
{
    char key[RETURN_KEY_SIZE];
    struct text out;

    text_init(&out, arena, RETURN_VALUE_SIZE);
    encode_u8(&out, RETURN_VERSION);
    encode_u64(&out, handle->node);
    changes_index_put(changes, write_return_key(key, handle->id), text_bytes(&out));
}

void handle_put(struct changes *changes, struct arena *arena, const struct handle *handle)
{
    char key[HANDLE_KEY_SIZE];
    struct text out;

    assert(handle->durable.ticks <= HANDLE_TIMEOUT_TICKS_MAX);
    text_init(&out, arena,
              96 + handle->client_address.len + handle->client_name.len +
                  handle->durable.of_client.len);
    encode_u8(&out, HANDLE_VERSION);
    encode_u64(&out, handle->epoch);
    encode_u8(&out, handle->persists);
    encode_u8(&out, handle->access);
    encode_u64(&out, handle->session);
    encode_bytes(&out, handle->client_address);
    encode_bytes(&out, handle->client_name);
    encode_u64(&out, handle->opened);
    encode_u64(&out, handle->reconnected);
    encode_u64(&out, handle->disconnected_until);
    encode_reconnect(&out, &handle->durable);
    changes_index_put(changes, write_key(key, handle->node, handle->id), text_bytes(&out));
    if (handle->durable.of_client.ptr)
        put_return(changes, arena, handle);
}

void handle_delete_reconnect(struct changes *changes, uint64_t id)
{
    char key[RETURN_KEY_SIZE];

    changes_index_delete(changes, write_return_key(key, id));
}

void handle_delete(struct changes *changes, uint64_t node, const struct open_entry *open)
{
    char key[HANDLE_KEY_SIZE];

    changes_index_delete(changes, write_key(key, node, open->id));
    if (open->persists || open->disconnected_until > 0)
        handle_delete_reconnect(changes, open->id);
}

/* ---- reading ---- */

static bool decode_reconnect(struct decoder *in, struct durable_handle_state *ret_durable)
{
    struct durable_handle_state durable = { .ticks = decode_u64(in) };
    uint64_t granted = decode_u64(in);
    uint8_t flags = decode_u8(in);

    durable.granted = (uint32_t)granted;
    durable.times = (struct handle_times){
        .keeps_accessed = flags & KEEPS_ACCESSED,
        .keeps_written = flags & KEEPS_WRITTEN,
        .keeps_changed = flags & KEEPS_CHANGED,
        .has_written = flags & HAS_WRITTEN,
    };
    durable.times.shown_written = decode_u64(in);
    durable.times.shown_until = decode_u64(in);
    durable.of_client = decode_bytes(in);
    *ret_durable = durable;
    return durable.ticks <= HANDLE_TIMEOUT_TICKS_MAX && granted <= UINT32_MAX &&
           flags <= TIMES_FLAGS;
}

bool handle_decode(struct bytes key, struct bytes value, struct handle *ret_handle)
{
    struct handle h = { .node = 0 };
    struct decoder in;
    uint8_t persists;

    if (key.len != HANDLE_KEY_SIZE || key.ptr[0] != 'h')
        return false;
    h.node = be64_get(key.ptr + 1);
    h.id = be64_get(key.ptr + 1 + 8);
    decoder_init(&in, value);
    if (decode_u8(&in) != HANDLE_VERSION)
        return false;
    h.epoch = decode_u64(&in);
    persists = decode_u8(&in);
    h.access = decode_u8(&in);
    h.session = decode_u64(&in);
    h.client_address = decode_bytes(&in);
    h.client_name = decode_bytes(&in);
    h.opened = decode_u64(&in);
    h.reconnected = decode_u64(&in);
    h.disconnected_until = decode_u64(&in);
    if (!decode_reconnect(&in, &h.durable))
        return false;
    if (!decoder_ok(&in) || persists > 1 || h.access > ACCESS_ALL || h.id == 0)
        return false;
    h.persists = persists;
    *ret_handle = h;
    return true;
}

bool handle_reconnect_decode(struct bytes value, uint64_t *ret_node)
{
    struct decoder in;

    decoder_init(&in, value);
    if (decode_u8(&in) != RETURN_VERSION)
        return false;
    *ret_node = decode_u64(&in);
    return decoder_ok(&in);
}

/* ---- pending deletes ---- */

static struct bytes pending_key(char key[1 + 8], uint64_t node)
{
    key[0] = 'p';
    be64_put(key + 1, node);
    return bytes_of(key, 1 + 8);
}

void pending_put(struct changes *changes, uint64_t node)
{
    char key[1 + 8];

    changes_index_put(changes, pending_key(key, node), bytes_from_string("\x01"));
}

void pending_delete(struct changes *changes, uint64_t node)
{
    char key[1 + 8];

    changes_index_delete(changes, pending_key(key, node));
}

struct bytes pending_first(struct arena *arena, uint64_t node)
{
    return pending_key(arena_bytes(arena, 1 + 8), node);
}

bool pending_decode(struct bytes key, uint64_t *ret_node)
{
    if (key.len != 1 + 8 || key.ptr[0] != 'p')
        return false;
    *ret_node = be64_get(key.ptr + 1);
    return true;
}

/* ---- iterating over the handles of a share, and the paths of their nodes ---- */

/* Names of a path, outermost first; collected from the node upwards. */
struct way {
    struct bytes name;
    struct way *below;
};

static struct bytes join(struct arena *arena, const struct way *way)
{
    struct text out;

    text_init(&out, arena, 256);
    for (; way; way = way->below) {
        text_add(&out, way->name);
        if (way->below)
            text_add_char(&out, '/');
    }
    return text_bytes(&out);
}

enum store_result handle_node_read(struct tree *tree, struct arena *arena, uint64_t id,
                                   struct tree_node *ret_node)
{
    struct decision *d = tree->d;
    struct partition at = tree_partition(arena, tree->space, id);
    struct decision_part *part = decision_open(d, at, NULL);
    enum store_result result = tree_node_read(part->before, arena, TREE_CASE_IGNORED, ret_node);

    decision_leave(d, part);
    return result;
}

enum store_result handle_path_read(struct tree *tree, struct arena *arena, uint64_t node,
                                   uint64_t top, unsigned *work, struct handle_path *ret_place)
{
    struct way *way = NULL;
    bool is_below = node == top;
    unsigned depth = 0;
    struct tree_node read;

    ret_place->parent = TREE_ROOT;
    for (uint64_t id = node; id != TREE_ROOT; id = read.parent) {
        enum store_result result = handle_node_read(tree, arena, id, &read);
        struct way *more = arena_alloc(arena, sizeof *more);

        ++*work;
        if (result || ++depth > HANDLE_DEPTH_MAX)
            return result ? result : STORE_NOT_FOUND;
        *more = (struct way){ .name = read.name.given, .below = way };
        way = more;
        if (id == node)
            ret_place->parent = read.parent;
        is_below = is_below || read.parent == top;
    }
    ret_place->path = join(arena, way);
    return is_below ? STORE_OK : STORE_NOT_FOUND;
}

struct index_iterator *handle_scan(struct tree *tree, const uint64_t *node,
                                   const struct handle_marker *from)
{
    struct decision *d = tree->d;
    struct bytes prefix = handle_prefix(d->arena, node);
    struct bytes first = from->is_given ? handle_key(d->arena, from->node, from->id) : prefix;
    struct index_iterator *iterator =
        index_iterator_open(d->store, tree->space, prefix, first, bytes_from_string(""), d->access);

    decision_saw(d, index_iterator_sequence(iterator));
    return iterator;
}

enum store_result handle_next(struct tree *tree, struct index_iterator *iterator, unsigned *work,
                              struct handle *ret_handle)
{
    struct index_record record;
    enum store_result result = tree_read_state(tree);

    if (result)
        return result;
    do {
        result = index_iterator_next(iterator, &record);
        ++*work;
        if (!result && !handle_decode(record.key, record.value, ret_handle))
            result = record_is_unknown("the entry of a handle", record.value);
    } while (!result && !handle_counts(ret_handle, tree->d->now, tree->state.reopened) &&
             *work < HANDLE_WORK_MAX);
    return result;
}
