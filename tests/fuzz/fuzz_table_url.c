/* What the URL of a request to the Table service names: paths and continuation tokens. What is
 * understood comes back from what answers write of it. */
#include <stdlib.h>

#include "fuzz.h"
#include "service/problem.h"
#include "table/rest/query.h"
#include "table/rest/entity_json.h"
#include "table/rest/odata.h"

static enum error read_path(struct arena *arena, struct bytes path, struct table_resource *to)
{
    struct request request = { .method = METHOD_GET };
    struct problem problem = { .detail = NULL };
    struct call call = { .request = &request, .arena = arena, .problem = &problem };

    *to = (struct table_resource){ .table = { NULL, 0 } };
    return table_read_resource(&call, path, &to->base);
}

static void check_path(struct arena *arena, struct bytes path)
{
    struct table_resource named, again;
    struct text written;

    if (read_path(arena, path, &named) != OK)
        return;
    if ((named.base.level == LEVEL_ENTITY) != (named.row_key.ptr != NULL) ||
        !named.row_key.ptr != !named.partition_key.ptr || named.base.level > LEVEL_BATCH)
        abort();
    if (table_check_names(&named.base) != OK || named.base.level != LEVEL_ENTITY)
        return;
    text_init(&written, arena, 64);
    entity_path_write(&written, named.table, named.partition_key, named.row_key);
    if (read_path(arena, text_bytes(&written), &again) != OK ||
        !bytes_equal(again.table, named.table) ||
        !bytes_equal(again.partition_key, named.partition_key) ||
        !bytes_equal(again.row_key, named.row_key))
        abort();
}

static void check_token(struct arena *arena, struct bytes token)
{
    struct bytes key = continuation_decode(arena, token), again;

    if (!key.ptr)
        return;
    again = continuation_decode(arena, continuation_encode(arena, key));
    if (!again.ptr || !bytes_equal(again, key))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 28);
    struct bytes text = bytes_of(data, size), any;

    check_path(arena, text);
    check_token(arena, text);
    /* As a key, too. */
    any = continuation_decode(arena, continuation_encode(arena, text));
    if (size < 4096 && (!any.ptr || !bytes_equal(any, text)))
        abort();
    arena_free(arena);
    return 0;
}
