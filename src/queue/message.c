/* The records of messages: see message.h. */
#include "queue/message.h"

#include "base/codec.h"
#include "base/encode.h"
#include "base/endian.h"
#include "base/log.h"
#include "service/small_record.h"

#define ORDER_VERSION 1
#define BODY_VERSION  1
#define KEY_ORDER     'o'
#define KEY_BODY      'm'
#define KEY_NOTE      'p'

const struct bytes message_counter = BYTES("messages");

/* ---- times ---- */

static instant shown(const struct decision *d, instant time)
{
    instant by_clock = time < MESSAGE_NEVER ? store_time_shown(d->store, time) : time;

    return by_clock < MESSAGE_NEVER ? by_clock : MESSAGE_NEVER;
}

void message_show(const struct decision *d, struct message *message)
{
    message->visible_shown = shown(d, message->visible);
    message->expires_shown = shown(d, message->expires);
}

instant message_position(const struct message *message)
{
    bool expires_first = message->expires < message->visible;

    return expires_first ? message->expires : message->visible;
}

/* ---- ids ---- */

#define DUE_BITS    39 /* seconds: beyond the year 9999 */
#define DUE_NEVER   ((UINT64_C(1) << DUE_BITS) - 1)
#define RANDOM_BITS 23

/* Composes a UUID from 60 bits of the instant, 39 of the expiry and 23 random bits, around the
 * version and variant fields. Ids sort in order of insertion. Instants need a 61st bit from the
 * year 3654 on. */
struct guid message_id(instant inserted, instant expires, struct guid random)
{
    struct guid id = random;
    uint64_t due = expires == MESSAGE_NEVER ? DUE_NEVER : message_due(expires) / TICKS_PER_SECOND;
    uint64_t low = be64_get(random.b + 8) & ((UINT64_C(1) << RANDOM_BITS) - 1);

    for (size_t i = 0; i < 6; i++)
        id.b[i] = (uint8_t)(inserted >> (52 - 8 * i));
    id.b[6] = (uint8_t)(0x80 | (inserted >> 8 & 0x0F));
    id.b[7] = (uint8_t)inserted;
    be64_put(id.b + 8, UINT64_C(2) << 62 | due << RANDOM_BITS | low);
    return id;
}

instant message_inserted(const struct guid *id)
{
    instant inserted = 0;

    for (size_t i = 0; i < 6; i++)
        inserted = inserted << 8 | id->b[i];
    return inserted << 12 | (instant)(id->b[6] & 0x0F) << 8 | id->b[7];
}

static uint64_t due_of(const struct guid *id)
{
    return be64_get(id->b + 8) >> RANDOM_BITS & DUE_NEVER;
}

/* ---- keys ---- */

#define DUE_SIZE        5
#define ORDER_KEY_SIZE  25 /* 'o', position, id */
#define BODY_KEY_SIZE   22 /* 'm', due, id */
#define NOTE_KEY_SIZE   17 /* 'p', id */
#define ORDER_FROM_SIZE 9  /* without the id */
#define BODY_FROM_SIZE  6

static struct bytes place_key(char to[ORDER_KEY_SIZE], instant place, const struct guid *id)
{
    to[0] = KEY_ORDER;
    be64_put(to + 1, place);
    memcpy(to + ORDER_FROM_SIZE, id->b, sizeof id->b);
    return bytes_of(to, ORDER_KEY_SIZE);
}

static struct bytes order_key(char to[ORDER_KEY_SIZE], const struct message *message)
{
    return place_key(to, message_position(message), &message->id);
}

static struct bytes forward_key(char to[NOTE_KEY_SIZE], const struct guid *id)
{
    to[0] = KEY_NOTE;
    memcpy(to + 1, id->b, sizeof id->b);
    return bytes_of(to, NOTE_KEY_SIZE);
}

static struct bytes body_from(char to[BODY_FROM_SIZE], uint64_t due)
{
    char raw[8];

    be64_put(raw, due);
    to[0] = KEY_BODY;
    memcpy(to + 1, raw + sizeof raw - DUE_SIZE, DUE_SIZE);
    return bytes_of(to, BODY_FROM_SIZE);
}

static struct bytes body_key(char to[BODY_KEY_SIZE], const struct message *message)
{
    body_from(to, due_of(&message->id));
    memcpy(to + BODY_FROM_SIZE, message->id.b, sizeof message->id.b);
    return bytes_of(to, BODY_KEY_SIZE);
}

static struct bytes order_from(char to[ORDER_FROM_SIZE], instant from)
{
    to[0] = KEY_ORDER;
    be64_put(to + 1, from);
    return bytes_of(to, ORDER_FROM_SIZE);
}

static bool read_order_key(struct bytes key, instant *ret_place, struct guid *ret_id)
{
    if (key.len != ORDER_KEY_SIZE || key.ptr[0] != KEY_ORDER)
        return false;
    *ret_place = be64_get(key.ptr + 1);
    memcpy(ret_id->b, key.ptr + ORDER_FROM_SIZE, sizeof ret_id->b);
    return true;
}

static bool damaged(const struct record *record)
{
    log_line(LOG_ERROR, "the record of a message has an unrecognized format (%zu and %zu bytes)",
             record->key.len, record->value.len);
    return false;
}

/* ---- reading ---- */

struct scan *message_scan_order(struct read_view *before, instant from)
{
    static const char kind = KEY_ORDER;
    char first[ORDER_FROM_SIZE];

    return scan_open_front(before, RECORD_INNER, bytes_of(&kind, 1), order_from(first, from));
}

struct scan *message_search_order(struct read_view *before, instant from)
{
    static const char kind = KEY_ORDER;
    char first[ORDER_FROM_SIZE];

    return scan_open(before, RECORD_INNER, bytes_of(&kind, 1), order_from(first, from));
}

bool message_read_order(const struct record *record, struct message *ret_message)
{
    struct message message = { .text = { NULL, 0 } };
    struct decoder in;

    decoder_init(&in, record->value);
    if (!read_order_key(record->key, &message.visible, &message.id) ||
        decode_u8(&in) != ORDER_VERSION)
        return damaged(record);
    message.dequeued = (uint32_t)decode_u64(&in);
    message.changes = (uint32_t)decode_u64(&in);
    message.expires = decode_u64(&in);
    message.forwarded = decode_u8(&in) != 0;
    *ret_message = message;
    return decoder_ok(&in) || damaged(record);
}

/* Decodes the value of a body. */
static bool decode_body(struct bytes value, struct message *message)
{
    struct decoder in;

    decoder_init(&in, value);
    if (decode_u8(&in) != BODY_VERSION)
        return false;
    message->expires = decode_u64(&in);
    message->visible = decode_u64(&in);
    message->text = decode_bytes(&in);
    return decoder_ok(&in);
}

/* Decodes a body that was read. *ret_written: the message with the fields of its body */
static enum store_result take_body(const struct message *message, enum store_result result,
                                   struct bytes key, struct record *record,
                                   struct message *ret_written)
{
    if (result)
        return result;
    *ret_written = *message;
    if (decode_body(record->value, ret_written))
        return STORE_OK;
    record->key = key;
    damaged(record);
    return STORE_CORRUPT;
}

static enum store_result read_body(struct read_view *before, struct arena *arena,
                                   const struct message *message, struct message *ret_written)
{
    char key[BODY_KEY_SIZE];
    struct record record;
    struct bytes at = body_key(key, message);
    enum store_result result = read_view_get(before, RECORD_INNER, at, arena, &record);

    return take_body(message, result, at, &record, ret_written);
}

/* Reads the body, and reads ahead if the message was never dequeued, because the next Get Messages
 * most likely returns the message that was put after it. Bodies of messages that became visible
 * again are not in the order of gets. */
static enum store_result read_body_ahead(struct read_view *before, struct arena *arena,
                                         const struct message *message, struct message *ret_written)
{
    char key[BODY_KEY_SIZE];
    struct record record;
    struct bytes at = body_key(key, message);
    enum store_result result;

    if (message->dequeued > 0)
        return read_body(before, arena, message, ret_written);
    result = read_view_get_ahead(before, RECORD_INNER, bytes_of(key, 1), at, arena, &record);
    return take_body(message, result, at, &record, ret_written);
}

enum store_result message_read_text(struct read_view *before, struct arena *arena,
                                    struct message *message)
{
    struct message written;
    enum store_result result = read_body_ahead(before, arena, message, &written);

    if (!result)
        message->text = written.text;
    if (result != STORE_NOT_FOUND)
        return result;
    log_line(LOG_ERROR, "a message has no body");
    return STORE_CORRUPT;
}

static enum error refuse_receipt(struct decision *d, struct bytes sent)
{
    problem_set_field(d->problem, "QueryParameterName", bytes_from_string("popreceipt"));
    problem_add_field(d->problem, "QueryParameterValue", sent);
    problem_add_field(d->problem, "Reason", bytes_from_string("Invalid pop receipt format"));
    return E_InvalidQueryParameterValue;
}

enum error message_find(struct decision *d, const struct message_claim *claim,
                        struct message *ret_message)
{
    char key[ORDER_KEY_SIZE];
    struct record record;
    struct bytes at = place_key(key, claim->receipt.place, &claim->id);
    enum store_result result;

    if (!claim->has_receipt)
        return refuse_receipt(d, claim->receipt_sent);
    if (!claim->has_id)
        return E_MessageNotFound;
    result = read_view_get(d->before, RECORD_INNER, at, d->arena, &record);
    if (result == STORE_NOT_FOUND)
        return read_view_is_deleted(d->before) ? DECIDE_AGAIN : E_MessageNotFound;
    if (result)
        return decision_fail_store(d, result);
    record.key = at;
    if (!message_read_order(&record, ret_message))
        return decision_fail_store(d, STORE_CORRUPT);
    if (ret_message->expires <= message_now(d) || ret_message->changes != claim->receipt.changes)
        return E_MessageNotFound;
    return OK;
}

/* ---- writing ---- */

static void put_order(struct changes *changes, struct arena *arena, const struct message *message)
{
    char key[ORDER_KEY_SIZE];
    struct text out;

    text_init(&out, arena, 24);
    encode_u8(&out, ORDER_VERSION);
    encode_u64(&out, message->dequeued);
    encode_u64(&out, message->changes);
    encode_u64(&out, message->expires);
    encode_u8(&out, message->forwarded);
    changes_put(changes, RECORD_INNER, order_key(key, message), text_bytes(&out), NULL, 0);
}

static void delete_order(struct changes *changes, const struct message *message)
{
    char key[ORDER_KEY_SIZE];

    changes_delete(changes, RECORD_INNER, order_key(key, message));
}

static void delete_forward(struct changes *changes, const struct message *message)
{
    char key[NOTE_KEY_SIZE];

    changes_delete(changes, RECORD_INNER, forward_key(key, &message->id));
}

void message_write_text(struct changes *changes, struct arena *arena, const struct message *message)
{
    char key[BODY_KEY_SIZE];
    struct text out;

    text_init(&out, arena, 32 + message->text.len);
    encode_u8(&out, BODY_VERSION);
    encode_u64(&out, message->expires);
    encode_u64(&out, message_position(message));
    encode_bytes(&out, message->text);
    changes_put(changes, RECORD_INNER, body_key(key, message), text_bytes(&out), NULL, 0);
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
    struct message moved = *after;

    moved.forwarded = false;
    if (before->forwarded)
        delete_forward(changes, before);
    if (message_position(before) != message_position(after))
        delete_order(changes, before);
    put_order(changes, arena, &moved);
}

void message_remove(struct changes *changes, const struct message *message)
{
    char key[BODY_KEY_SIZE];

    delete_order(changes, message);
    changes_delete(changes, RECORD_INNER, body_key(key, message));
    if (message->forwarded)
        delete_forward(changes, message);
    changes_count(changes, message_counter, -1);
}

/* ---- expiry ---- */

struct scan *message_scan_bodies(struct read_view *before, instant from)
{
    static const char kind = KEY_BODY;
    char first[BODY_FROM_SIZE];

    return scan_open(before, RECORD_INNER, bytes_of(&kind, 1),
                     body_from(first, from / TICKS_PER_SECOND));
}

bool message_read_body(const struct record *record, struct message *ret_message, instant *ret_due)
{
    struct message message = { .text = { NULL, 0 } };

    if (record->key.len != BODY_KEY_SIZE)
        return damaged(record);
    memcpy(message.id.b, record->key.ptr + BODY_FROM_SIZE, sizeof message.id.b);
    if (!decode_body(record->value, &message))
        return damaged(record);
    *ret_due = message_due(message.expires);
    *ret_message = message;
    return true;
}

enum store_result message_locate(struct read_view *before, struct arena *arena,
                                 struct message *message)
{
    char key[ORDER_KEY_SIZE];
    struct record record;
    uint64_t place;
    struct bytes at = order_key(key, message);
    enum store_result result = read_view_get(before, RECORD_INNER, at, arena, &record);

    /* found at the position in its body; a forward record may also contain this position, if an
     * update wrote the body */
    if (!result) {
        record.key = at;
        return message_read_order(&record, message) ? STORE_OK : STORE_CORRUPT;
    }
    if (result != STORE_NOT_FOUND)
        return result;
    result = small_record_read(before, arena, forward_key(key, &message->id),
                               "the record of a message's position", &place, 1);
    if (result)
        return result;
    message->forwarded = true;
    message->visible = place;
    return STORE_OK;
}

void message_forward(struct changes *changes, struct arena *arena, const struct message *message)
{
    struct message moved = *message;
    const uint64_t place = message_position(message);
    char key[NOTE_KEY_SIZE];

    moved.forwarded = true;
    put_order(changes, arena, &moved);
    small_record_write(changes, arena, forward_key(key, &message->id), &place, 1);
}

/* ---- text of a pop receipt: base64 of u8 1 (version); place, be64; changes, be32 ---- */

#define RECEIPT_VERSION 1
#define RECEIPT_BYTES   13
#define TEXT_BYTES      20

struct bytes receipt_text(struct arena *arena, struct receipt receipt)
{
    char raw[RECEIPT_BYTES] = { RECEIPT_VERSION };

    be64_put(raw + 1, receipt.place);
    be32_put(raw + 9, receipt.changes);
    return base64_encode(arena, bytes_of(raw, sizeof raw));
}

bool receipt_parse(struct arena *arena, struct bytes text, struct receipt *ret_receipt)
{
    struct bytes raw;

    if (text.len != TEXT_BYTES)
        return false;
    raw = base64_decode(arena, text);
    if (raw.len != RECEIPT_BYTES || raw.ptr[0] != RECEIPT_VERSION)
        return false;
    ret_receipt->place = be64_get(raw.ptr + 1);
    ret_receipt->changes = be32_get(raw.ptr + 9);
    return true;
}
