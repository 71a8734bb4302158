/* Lines of an export: what is read of one is written as a line that is read as the same again. */
#include <stdlib.h>

#include "fuzz.h"
#include "transfer/item.h"

static struct bytes write_line(struct arena *arena, const struct item *item, bool *ret_good)
{
    struct text line;

    text_init(&line, arena, 256);
    *ret_good = item_write_json(&line, item);
    return text_bytes(&line);
}

/* A size is written beside a place alone: where there is none, there are no bytes. */
static bool has_places(const struct item *item)
{
    for (; item; item = item->next) {
        if (!item->place.ptr)
            return false;
    }
    return true;
}

static void check(struct arena *arena, const struct item *item)
{
    bool good, again_good;
    struct bytes line = write_line(arena, item, &good);
    const char *problem;
    struct item *again;

    if (!good || !has_places(item))
        return;
    again = item_read_json(arena, line, &problem);
    if (!again || !bytes_equal(write_line(arena, again, &again_good), line))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new((size_t)1 << 30);
    const char *problem = NULL;
    struct item *item = item_read_json(arena, bytes_of(data, size), &problem);
    struct item_hash hash;

    if (!item && !problem)
        abort();
    if (item) {
        item = item_copy(arena, item);
        item_hash_source(item, &hash);
        item_hash_alike(arena, item, &hash);
        (void)item_bytes(item);
        check(arena, item);
    }
    arena_free(arena);
    return 0;
}
