#include "store/rados/whole.h"

#include <assert.h>
#include <stdlib.h>

#include "store/memory/treap.h"

struct whole {
    struct treap_node *root;
    uint32_t rows;
    size_t bytes;
};

static uint32_t random_priority(void)
{
    const struct guid random = guid_new();
    uint32_t priority;

    memcpy(&priority, random.b, sizeof priority);
    return priority;
}

static void forget(struct whole *whole, struct bytes key)
{
    struct bytes old;

    if (!treap_find(whole->root, key, &old))
        return;
    whole->rows--;
    whole->bytes -= key.len + old.len;
}

static void put(struct whole *whole, struct bytes key, struct bytes value)
{
    forget(whole, key);
    whole->rows++;
    whole->bytes += key.len + value.len;
    whole->root = treap_put(whole->root, key, value, random_priority());
}

static struct whole *if_small(struct whole *whole)
{
    if (whole->rows <= WHOLE_ROWS_MAX && whole->bytes <= WHOLE_BYTES_MAX)
        return whole;
    whole_free(whole);
    return NULL;
}

struct whole *whole_of_rows(const struct view_rows rows[2], const struct bytes prefixes[2])
{
    struct whole *whole;

    for (unsigned family = 0; family < 2; family++) {
        const struct view_run *run = view_rows_find(&rows[family], prefixes[family]);

        if (!run || !run->is_to_end)
            return NULL;
    }
    whole = xcalloc(1, sizeof *whole);
    for (unsigned family = 0; family < 2; family++) {
        const struct view_run *run = view_rows_find(&rows[family], prefixes[family]);

        for (uint32_t i = 0; i < run->count; i++)
            put(whole, run->rows[i].key, run->rows[i].value);
    }
    return if_small(whole);
}

static bool is_record(const struct bytes prefixes[2], struct bytes key)
{
    return bytes_has_prefix(key, prefixes[0]) || bytes_has_prefix(key, prefixes[1]);
}

struct whole *whole_after(const struct whole *before, const struct bytes prefixes[2],
                          const struct shard_change *changes)
{
    struct whole *whole = xcalloc(1, sizeof *whole);

    *whole = *before;
    whole->root = treap_hold(before->root);
    for (const struct shard_change *c = changes; c; c = c->next) {
        if (!is_record(prefixes, c->key))
            continue;
        if (c->is_removal) {
            forget(whole, c->key);
            whole->root = treap_delete(whole->root, c->key);
        } else {
            put(whole, c->key, c->value);
        }
    }
    return if_small(whole);
}

size_t whole_bytes(const struct whole *whole)
{
    return whole->bytes;
}

void whole_free(struct whole *whole)
{
    if (!whole)
        return;
    treap_release(whole->root);
    free(whole);
}

bool whole_get(const struct whole *whole, struct bytes key, struct bytes *ret_value)
{
    return treap_find(whole->root, key, ret_value);
}

bool whole_next(const struct whole *whole, struct bytes from, struct port_row *ret_row)
{
    struct treap_path path;

    treap_seek(&path, whole->root, from);
    return treap_at(&path, &ret_row->key, &ret_row->value);
}
