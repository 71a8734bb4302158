/* The records of messages: see message.h. */
#include "queue/message.h"

#include "base/codec.h"
#include "base/endian.h"
#include "base/log.h"

#define RECORD_VERSION 1
#define KEY_ORDER      'o'
#define KEY_BODY       'b'
#define KEY_EXPIRING   'e'
#define BODY_KEY_SIZE  17

const struct bytes message_counter = BYTES("messages");

/* ---- times ---- */

instant message_shown(instant time)
{
    instant shown = time < MESSAGE_NEVER ? clock_with_steps(time) : time;

    return shown < MESSAGE_NEVER ? shown : MESSAGE_NEVER;
}

/* ---- ids ---- */

/* 60 bits of the instant, then 62 random ones, around the version and the variant: in order of
 * insertion. Instants need a 61st bit from the year 3654 on. */
struct guid message_id(instant inserted, struct guid random)
{
    struct guid id = random;

    for (size_t i = 0; i < 6; i++)
        id.b[i] = (uint8_t)(inserted >> (52 - 8 * i));
    id.b[6] = (uint8_t)(0x80 | (inserted >> 8 & 0x0F));
    id.b[7] = (uint8_t)inserted;
    id.b[8] = (uint8_t)(0x80 | (random.b[8] & 0x3F));
    return id;
}

instant message_inserted(const struct guid *id)
{
    instant inserted = 0;

    for (size_t i = 0; i < 6; i++)
        inserted = inserted << 8 | id->b[i];
    return inserted << 12 | (instant)(id->b[6] & 0x0F) << 8 | id->b[7];
}

/* ---- keys ---- */

static struct bytes instant_key(char to[MESSAGE_KEY_SIZE], char kind, instant at,
                                const struct guid *id)
{
    to[0] = kind;
    be64_put(to + 1, at);
    memcpy(to + 9, id->b, sizeof id->b);
    return bytes_of(to, MESSAGE_KEY_SIZE);
}

static struct bytes body_key(char to[BODY_KEY_SIZE], const struct guid *id)
{
    to[0] = KEY_BODY;
    memcpy(to + 1, id->b, sizeof id->b);
    return bytes_of(to, BODY_KEY_SIZE);
}

#define SCAN_FROM_SIZE 9

static struct bytes scan_from(char to[SCAN_FROM_SIZE], char kind, instant from)
{
    to[0] = kind;
    be64_put(to + 1, from);
    return bytes_of(to, SCAN_FROM_SIZE);
}

static bool read_key(struct bytes key, char kind, instant *ret_at, struct guid *ret_id)
{
    if (key.len != MESSAGE_KEY_SIZE || key.ptr[0] != kind)
        return false;
    *ret_at = be64_get(key.ptr + 1);
    memcpy(ret_id->b, key.ptr + 9, sizeof ret_id->b);
    return true;
}

static bool damaged(const struct record *record)
{
    log_line(LOG_ERROR, "a record of a message has an unknown form (%zu and %zu bytes)",
             record->key.len, record->value.len);
    return false;
}

/* ---- reading ---- */

struct scan *message_scan_order(struct snapshot *before, instant from)
{
    static const char kind = KEY_ORDER;
    char first[SCAN_FROM_SIZE];

    return scan_open_front(before, RECORD_INNER, bytes_of(&kind, 1),
                           scan_from(first, KEY_ORDER, from));
}

bool message_read_order(const struct record *record, struct message *ret_message)
{
    struct message message = { .text = { NULL, 0 } };
    struct decoder in;

    decoder_init(&in, record->value);
    if (!read_key(record->key, KEY_ORDER, &message.visible, &message.id) ||
        decode_u8(&in) != RECORD_VERSION)
        return damaged(record);
    message.dequeued = (uint32_t)decode_u64(&in);
    message.changes = (uint32_t)decode_u64(&in);
    message.expires = decode_u64(&in);
    *ret_message = message;
    return decoder_ok(&in) || damaged(record);
}

static enum store_result read_body(struct snapshot *before, struct arena *arena,
                                   struct message *message)
{
    char key[BODY_KEY_SIZE];
    struct record record;
    struct decoder in;
    enum store_result result =
        snapshot_get(before, RECORD_INNER, body_key(key, &message->id), arena, &record);

    if (result)
        return result;
    decoder_init(&in, record.value);
    if (decode_u8(&in) == RECORD_VERSION) {
        message->expires = decode_u64(&in);
        message->text = decode_bytes(&in);
        if (decoder_ok(&in))
            return STORE_OK;
    }
    record.key = bytes_of(key, sizeof key);
    damaged(&record);
    return STORE_CORRUPT;
}

enum store_result message_read_text(struct snapshot *before, struct arena *arena,
                                    struct message *message)
{
    enum store_result result = read_body(before, arena, message);

    if (result != STORE_NOT_FOUND)
        return result;
    log_line(LOG_ERROR, "a message has no body");
    return STORE_CORRUPT;
}

void message_read_ahead(struct snapshot *before, const struct message *message, size_t bytes)
{
    static const char kind = KEY_BODY;
    char key[BODY_KEY_SIZE];
    struct scan *scan =
        scan_open(before, RECORD_INNER, bytes_of(&kind, 1), body_key(key, &message->id));
    struct record record;

    for (size_t read = 0; read < bytes; read += record.key.len + record.value.len)
        if (scan_next(scan, NULL, &record) != STORE_OK)
            break; /* who needs that record finds out what is wrong with it */
    scan_close(scan);
}

/* Why there is no message in this state. */
static enum error why_none(struct decision *d, const struct guid *id)
{
    struct message message = { .id = *id };
    enum store_result result = read_body(d->before, d->arena, &message);

    if (result == STORE_NOT_FOUND)
        return snapshot_is_gone(d->before) ? DECIDE_AGAIN : E_MessageNotFound;
    if (result)
        return decision_fail_store(d, result);
    return message.expires <= message_now(d) ? E_MessageNotFound : E_PopReceiptMismatch;
}

static enum error refuse_receipt(struct decision *d)
{
    problem_set_field(d->problem, "QueryParameterName", bytes_from_string("popreceipt"));
    problem_add_field(d->problem, "Reason", bytes_from_string("invalid receipt format"));
    return E_InvalidQueryParameterValue;
}

enum error message_find(struct decision *d, const struct message_claim *claim,
                        struct message *ret_message)
{
    char key[MESSAGE_KEY_SIZE];
    struct record record;
    struct bytes at = instant_key(key, KEY_ORDER, claim->receipt.visible, &claim->id);
    enum store_result result;

    if (!claim->has_receipt)
        return refuse_receipt(d);
    if (!claim->has_id)
        return E_MessageNotFound;
    result = snapshot_get(d->before, RECORD_INNER, at, d->arena, &record);
    if (result == STORE_NOT_FOUND)
        return why_none(d, &claim->id);
    if (result)
        return decision_fail_store(d, result);
    record.key = at;
    if (!message_read_order(&record, ret_message))
        return decision_fail_store(d, STORE_CORRUPT);
    if (ret_message->expires <= message_now(d))
        return E_MessageNotFound;
    return ret_message->changes == claim->receipt.changes ? OK : E_PopReceiptMismatch;
}

/* ---- writing ---- */

static void put_order(struct changes *changes, struct arena *arena, const struct message *message)
{
    char key[MESSAGE_KEY_SIZE], visible[8];
    struct text out;

    text_init(&out, arena, 24);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, message->dequeued);
    encode_u64(&out, message->changes);
    encode_u64(&out, message->expires);
    changes_put(changes, RECORD_INNER, instant_key(key, KEY_ORDER, message->visible, &message->id),
                text_bytes(&out), NULL, 0);
    if (message->expires == MESSAGE_NEVER)
        return;
    be64_put(visible, message->visible);
    changes_put(changes, RECORD_INNER,
                instant_key(key, KEY_EXPIRING, message->expires, &message->id),
                bytes_of(visible, sizeof visible), NULL, 0);
}

static void delete_order(struct changes *changes, const struct message *message)
{
    char key[MESSAGE_KEY_SIZE];

    changes_delete(changes, RECORD_INNER,
                   instant_key(key, KEY_ORDER, message->visible, &message->id));
}

void message_write_text(struct changes *changes, struct arena *arena, const struct message *message)
{
    char key[BODY_KEY_SIZE];
    struct text out;

    text_init(&out, arena, 24 + message->text.len);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, message->expires);
    encode_bytes(&out, message->text);
    changes_put(changes, RECORD_INNER, body_key(key, &message->id), text_bytes(&out), NULL, 0);
}

void message_write_new(struct changes *changes, struct arena *arena, const struct message *message)
{
    put_order(changes, arena, message);
    message_write_text(changes, arena, message);
    changes_count(changes, message_counter, 1);
}

void message_move(struct changes *changes, struct arena *arena, const struct message *before,
                  const struct message *after)
{
    if (before->visible != after->visible)
        delete_order(changes, before);
    put_order(changes, arena, after);
}

void message_remove(struct changes *changes, const struct message *message)
{
    char key[MESSAGE_KEY_SIZE];

    delete_order(changes, message);
    changes_delete(changes, RECORD_INNER, body_key(key, &message->id));
    if (message->expires != MESSAGE_NEVER)
        changes_delete(changes, RECORD_INNER,
                       instant_key(key, KEY_EXPIRING, message->expires, &message->id));
    changes_count(changes, message_counter, -1);
}

/* ---- what expires ---- */

struct scan *message_scan_expiring(struct snapshot *before, instant from)
{
    static const char kind = KEY_EXPIRING;
    char first[SCAN_FROM_SIZE];

    return scan_open(before, RECORD_INNER, bytes_of(&kind, 1),
                     scan_from(first, KEY_EXPIRING, from));
}

bool message_read_expiring(const struct record *record, struct message *ret_message)
{
    struct message message = { .text = { NULL, 0 } };

    if (record->value.len != 8 ||
        !read_key(record->key, KEY_EXPIRING, &message.expires, &message.id))
        return damaged(record);
    message.visible = be64_get(record->value.ptr);
    *ret_message = message;
    return true;
}
