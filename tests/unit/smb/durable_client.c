/* See durable_client.h. */
#include "durable_client.h"

#include "base/endian.h"

static struct bytes context(struct client *c, const char name[5], struct bytes data)
{
    struct text text;
    struct wire_writer w;

    text_init(&text, client_arena(c), 64);
    wire_writer_init(&w, &text);
    wire_put_u32(&w, 0);
    wire_put_u16(&w, 16);
    wire_put_u16(&w, 4);
    wire_put_u16(&w, 0);
    wire_put_u16(&w, 24);
    wire_put_u32(&w, (uint32_t)data.len);
    wire_put(&w, bytes_from_string(name));
    wire_put_u32(&w, 0);
    wire_put(&w, data);
    return text_bytes(&text);
}

uint32_t durable_open(struct client *c, uint32_t timeout_ms, uint32_t flags, uint8_t level,
                      struct open_file *ret_file)
{
    char data[32] = { 0 };
    struct creating creating = { .level = level };

    le32_put(data, timeout_ms);
    le32_put(data + 4, flags);
    data[16] = 1;
    creating.contexts = context(c, "DH2Q", bytes_of(data, sizeof data));
    return client_create(c, "x", &creating, ret_file);
}

uint32_t durable_return(struct client *c, const struct open_file *file, uint32_t flags,
                        struct open_file *ret_file)
{
    char data[36] = { 0 };
    struct creating creating = { .level = 0 };

    le64_put(data, file->persistent);
    le64_put(data + 8, file->volatile_id);
    data[16] = 1;
    le32_put(data + 32, flags);
    creating.contexts = context(c, "DH2C", bytes_of(data, sizeof data));
    return client_create(c, "", &creating, ret_file);
}

uint32_t durable_replay(struct client *c, uint32_t flags, uint8_t level, uint64_t *ret_persistent)
{
    char data[32] = { 0 };
    struct creating creating = { .level = level };
    struct sending s;
    struct wire_writer w;
    struct reply reply;

    le32_put(data + 4, flags);
    data[16] = 1;
    creating.contexts = context(c, "DH2Q", bytes_of(data, sizeof data));
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CREATE, SMB_FLAG_REPLAY);
    put_create(&w, "x", &creating);
    reply = client_ask(c, &s);
    *ret_persistent =
        reply.header.status == 0 ? le64_get(reply.bytes.ptr + SMB_HEADER_SIZE + 64) : 0;
    if (reply.header.status == 0 && level == BATCH)
        assert_non_null(memmem(reply.bytes.ptr, reply.bytes.len, "DH2Q", 4));
    return reply.header.status;
}
