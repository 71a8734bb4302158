/* Checks records of queues and tables: see records.h. */
#include "check/records.h"
#include "queue/front.h"
#include "queue/message.h"
#include "table/tables.h"

/* Prefixes of keys: queue/message.h. */
enum { KEY_ORDER = 'o', KEY_FRONT = 'w' };

bool check_queue(struct bytes value, struct guid *ret_space)
{
    struct queue queue;
    bool is_valid = queue_decode(value, &queue);

    if (is_valid)
        *ret_space = queue.space;
    return is_valid;
}

static const char *about(struct arena *arena, const struct guid *id, const char *what)
{
    char text[GUID_TEXT_SIZE];

    guid_format(id, text);
    return arena_string(arena, arena_printf(arena, "message %s %s", text, what));
}

static const char *check_order(struct read_view *snapshot, struct arena *arena,
                               const struct record *record)
{
    struct message message;

    if (!message_read_order(record, &message))
        return "the record of a message is corrupt";
    if (message_read_text(snapshot, arena, &message))
        return about(arena, &message.id, "has an unreadable text");
    return NULL;
}

const char *check_message(struct store *store, struct arena *arena,
                          const struct record_place *place, const struct record *record,
                          bool *ret_counts)
{
    struct partition partition = { place->space, place->partition_key };
    struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    char kind = record->key.len > 0 ? record->key.ptr[0] : '\0';
    const char *wrong = NULL;
    struct front front;

    *ret_counts = kind == KEY_ORDER;
    if (kind == KEY_ORDER)
        wrong = check_order(snapshot, arena, record);
    else if (kind == KEY_FRONT && front_read(snapshot, arena, &front))
        wrong = "the record of its first message is corrupt";
    read_view_close(snapshot);
    return wrong;
}

/* ---- table ---- */

bool check_table(struct bytes value, struct guid *ret_space)
{
    struct table table;
    bool is_valid = table_decode(value, &table);

    if (is_valid)
        *ret_space = table.space;
    return is_valid;
}

const char *check_entity(struct store *store, struct arena *arena, const struct record_place *place,
                         const struct record *record, bool *ret_counts)
{
    struct entity entity;

    (void)store;
    *ret_counts = place->family == RECORD_LISTED;
    if (!*ret_counts || entity_decode(arena, record->value, &entity))
        return NULL;
    return arena_string(arena, arena_printf(arena, "the entity with RowKey %.*s is corrupt",
                                            BYTES_ARG(entity_key_decode(arena, record->key))));
}
