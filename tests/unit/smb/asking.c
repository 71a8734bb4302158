#include "asking.h"

#include "base/endian.h"

struct client *asking_client(struct world *world)
{
    struct client *c = client_new(world);

    client_speak(c, SMB_311);
    assert_int_equal(client_log_on(c, "one", TEST_KEY_1), 0);
    client_seal(c, true);
    assert_int_equal(client_mount(c, "share"), 0);
    return c;
}

struct reply ask_info(struct client *client, const struct open_file *file, uint8_t type,
                      uint8_t class, uint32_t room, uint32_t parts)
{
    struct sending s;
    struct wire_writer w;

    client_charge(client, (uint16_t)(room > 65536 ? (room + 65535) / 65536 : 1), 64);
    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_QUERY_INFO, 0);
    wire_put_u16(&w, 41);
    wire_put_u8(&w, type);
    wire_put_u8(&w, class);
    wire_put_u32(&w, room);
    wire_put_zeros(&w, 2 + 2 + 4);
    wire_put_u32(&w, parts);
    wire_put_u32(&w, 0);
    put_file(&w, file);
    wire_put_u8(&w, 0);
    return client_ask(client, &s);
}

struct bytes buffer_of(const struct reply *reply)
{
    struct wire_reader r = reply_body(reply);
    uint16_t at;
    uint32_t size;
    struct bytes buffer;

    assert_int_equal(wire_u16(&r), 9);
    at = wire_u16(&r);
    size = wire_u32(&r);
    buffer = wire_buffer(&r, at, size, SMB_HEADER_SIZE + 8);
    assert_true(wire_ok(&r));
    return buffer;
}

struct bytes info_of(struct client *client, const struct open_file *file, uint8_t type,
                     uint8_t class)
{
    struct reply reply = ask_info(client, file, type, class, 4096, 0);

    assert_status(reply, STATUS_SUCCESS);
    return buffer_of(&reply);
}

struct reply set_info(struct client *client, const struct open_file *file, uint8_t type,
                      uint8_t class, uint32_t parts, struct bytes buffer)
{
    struct sending s;
    struct wire_writer w;

    client_charge(client, 1, 64);
    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_SET_INFO, 0);
    wire_put_u16(&w, 33);
    wire_put_u8(&w, type);
    wire_put_u8(&w, class);
    wire_put_u32(&w, (uint32_t)buffer.len);
    wire_put_u16(&w, SMB_HEADER_SIZE + 32);
    wire_put_u16(&w, 0);
    wire_put_u32(&w, parts);
    put_file(&w, file);
    wire_put(&w, buffer);
    if (buffer.len == 0)
        wire_put_u8(&w, 0);
    return client_ask(client, &s);
}

void put_query(struct wire_writer *w, const struct open_file *directory, uint8_t class,
               uint8_t flags, const char *pattern, uint32_t room)
{
    struct bytes text = bytes_from_string(pattern ? pattern : "");

    wire_put_u16(w, 33);
    wire_put_u8(w, class);
    wire_put_u8(w, flags);
    wire_put_u32(w, 0);
    put_file(w, directory);
    wire_put_u16(w, SMB_HEADER_SIZE + 32);
    wire_put_u16(w, (uint16_t)(bytes_utf16_units(text) * 2));
    wire_put_u32(w, room);
    wire_put_utf16(w, text);
    wire_put_u8(w, 0);
}

void put_control(struct wire_writer *w, const struct open_file *file, uint32_t code,
                 struct bytes input, uint32_t output_max)
{
    wire_put_u16(w, 57);
    wire_put_u16(w, 0);
    wire_put_u32(w, code);
    put_file(w, file);
    wire_put_u32(w, SMB_HEADER_SIZE + 56);
    wire_put_u32(w, (uint32_t)input.len);
    wire_put_zeros(w, 12);
    wire_put_u32(w, output_max);
    wire_put_u32(w, 1); /* SMB2_0_IOCTL_IS_FSCTL */
    wire_put_u32(w, 0);
    wire_put(w, input);
}

void put_notify(struct wire_writer *w, const struct open_file *directory, uint32_t room,
                uint32_t filter)
{
    wire_put_u16(w, 32);
    wire_put_u16(w, 0);
    wire_put_u32(w, room);
    put_file(w, directory);
    wire_put_u32(w, filter);
    wire_put_u32(w, 0);
}
