/* The machine of an SMB connection: whatever a client sends, it answers or cuts the connection, and nothing is left
 * of it at the end. The first byte of the input says who sends:
 *
 *   p  anybody: the frames as they are, each behind its length (two bytes, the high one first)
 *   a  somebody authenticated, on a share where a file "f" is open: of each frame the first byte is the command, the
 *      second one says whether it is related to the one before, the rest is its body; bytes FE FE FE FE FE FE FE FE
 *      there stand for the id of the open file */
#include <stdlib.h>

#include "base/endian.h"
#include "base/log.h"
#include "fuzz.h"
#include "../unit/smb/client.h"

#define FRAMES_MAX 64u

static struct bytes next_frame(struct bytes *rest)
{
    size_t size;
    struct bytes frame;

    if (rest->len < 2)
        return bytes_of(NULL, 0);
    size = be16_get(rest->ptr);
    *rest = bytes_from(*rest, 2);
    if (size > rest->len)
        size = rest->len;
    frame = bytes_of(rest->ptr, size);
    *rest = bytes_from(*rest, size);
    return frame;
}

static void send_as_anybody(struct client *client, struct bytes input)
{
    for (unsigned i = 0; i < FRAMES_MAX && input.len > 0 && !client_is_cut(client); i++) {
        struct bytes frame = next_frame(&input);

        if (frame.ptr)
            client_send_raw(client, frame);
    }
}

/* The body with the file's id in the place of its sign. */
static void put_body(struct wire_writer *w, struct bytes body, const struct open_file *file)
{
    static const char sign[] = "\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE";

    while (body.len > 0) {
        if (bytes_has_prefix(body, bytes_of(sign, 8))) {
            wire_put_u64(w, file->persistent);
            wire_put_u64(w, file->volatile_id);
            body = bytes_from(body, 8);
        } else {
            wire_put_u8(w, (uint8_t)body.ptr[0]);
            body = bytes_from(body, 1);
        }
    }
}

static void send_authenticated(struct client *client, struct bytes input)
{
    struct open_file file;
    struct sending s;
    bool has_some = false;

    client_speak(client, SMB_302);
    if (client_log_on(client, "one", TEST_KEY_1) || client_mount(client, "share"))
        abort();
    client_charge(client, 1, 1200);
    client_open(client, "f", &file);
    client_charge(client, 16, 600);
    for (unsigned i = 0; i < FRAMES_MAX && input.len > 0 && !client_is_cut(client); i++) {
        struct bytes frame = next_frame(&input);
        bool is_related = frame.len > 1 && frame.ptr[1] & 1;
        struct wire_writer w;

        if (frame.len < 2)
            continue;
        if (has_some && !is_related)
            client_send(client, &s);
        if (!has_some || !is_related)
            sending_begin(client, &s);
        has_some = true;
        w = sending_add(client, &s, (uint8_t)frame.ptr[0],
                        is_related && s.last_at > SMB_TRANSFORM_SIZE ? SMB_FLAG_RELATED : 0);
        put_body(&w, bytes_from(frame, 2), &file);
    }
    if (has_some && !client_is_cut(client))
        client_send(client, &s);
}

static bool refers(struct smb_referrer *referrer)
{
    (void)referrer;
    return true;
}

static enum smb_referred find(struct smb_referrer *referrer, struct bytes account,
                              struct bytes share, struct arena *arena, struct bytes *ret_host)
{
    (void)referrer;
    (void)account;
    (void)arena;
    *ret_host = bytes_from_string("host");
    return share.ptr[0] == 'a' ? SMB_REFERRED : SMB_NOT_REFERRED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct smb_referrer referrer = { .refers = refers, .find = find };
    struct bytes input = bytes_of(data, size);
    struct client *client;
    struct world *world;

    if (size < 1)
        return 0;
    log_open(LOG_ERROR, NULL);
    world = world_new_with(
        &(struct smb_options){ .allow_unencrypted = data[0] == 'a', .referrer = &referrer });
    client = client_new(world);
    if (data[0] == 'a')
        send_authenticated(client, bytes_from(input, 1));
    else
        send_as_anybody(client, bytes_from(input, 1));
    client_free(client);
    world_free(world);
    return 0;
}
