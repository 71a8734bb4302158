/* Frames of SMB before anybody knows who sends them: headers that are read are written as they
 * were, a signature or a seal is not right by chance, names come back as they were. */
#include <stdlib.h>

#include "base/endian.h"
#include "fuzz.h"
#include "smb_protocol/crypto.h"
#include "smb_protocol/dfs_referral.h"

static const uint8_t key[SEALING_KEY_MAX] = { 1, 2, 3 };

static struct bytes written(const struct wire_writer *w)
{
    return bytes_of(w->out->ptr + w->start, wire_place(w));
}

static void check_header(struct arena *arena, struct bytes frame)
{
    struct smb_header header;
    struct wire_reader r;
    struct wire_writer w;
    struct text out;

    wire_reader_init(&r, frame);
    if (!smb_header_read(&r, &header))
        return;
    text_init(&out, arena, SMB_HEADER_SIZE);
    wire_writer_init(&w, &out);
    smb_header_write(&w, &header);
    if (!bytes_has_prefix(frame, written(&w)))
        abort();
    for (enum smb_signing a = SIGNING_HMAC_SHA256; a <= SIGNING_AES_GMAC; a++) {
        struct signer *signer = signer_new(a, key);
        struct bytes copy = arena_copy(arena, frame);

        signer_verify(signer, frame);
        signer_sign(signer, (uint8_t *)copy.ptr, copy.len);
        if (!signer_verify(signer, copy))
            abort();
        signer_free(signer);
    }
}

static void check_sealed(struct arena *arena, struct bytes frame)
{
    struct smb_transform transform;

    if (!smb_transform_read(frame, &transform))
        return;
    if (transform.size != frame.len - SMB_TRANSFORM_SIZE)
        abort();
    for (enum smb_cipher c = CIPHER_AES_128_CCM; c <= CIPHER_AES_256_GCM; c++) {
        struct sealer *sealer = sealer_new(c, key);
        struct bytes copy = arena_copy(arena, frame);

        sealer_open(sealer, (uint8_t *)copy.ptr, copy.len);
        if (transform.size > 0 && (!sealer_seal(sealer, 7, (uint8_t *)copy.ptr, copy.len) ||
                                   !sealer_open(sealer, (uint8_t *)copy.ptr, copy.len)))
            abort();
        sealer_free(sealer);
    }
}

static void check_name(struct arena *arena, struct bytes utf16)
{
    struct wire_writer w;
    struct text out;
    struct bytes utf8;

    if (!wire_utf8(arena, utf16, &utf8))
        return;
    text_init(&out, arena, utf16.len);
    wire_writer_init(&w, &out);
    wire_put_utf16(&w, utf8);
    if (!bytes_is_utf8(utf8) || !bytes_equal(written(&w), utf16) ||
        bytes_utf16_units(utf8) * 2 != utf16.len)
        abort();
}

/* A request for a referral that is read has a response whose strings lie within it, each with its end. */
static void check_referral(struct arena *arena, struct bytes input, bool is_extended)
{
    struct dfs_referral_request request;
    struct bytes response;

    if (dfs_referral_read(arena, input, is_extended, &request))
        return;
    response = dfs_referral_write(arena, &request, bytes_from_string("host"));
    if (!bytes_is_utf8(request.path) || request.share.len == 0 ||
        le16_get(response.ptr) != bytes_utf16_units(request.path) * 2)
        abort();
    for (size_t at = 20; at < 26; at += 2) {
        size_t end = 8u + le16_get(response.ptr + at);

        while (end + 2 <= response.len && le16_get(response.ptr + end) != 0)
            end += 2;
        if (end + 2 > response.len)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 24);
    struct bytes frame = bytes_of(data, size);

    switch (smb_frame_kind(frame)) {
    case SMB_FRAME_PLAIN:
        check_header(arena, frame);
        break;
    case SMB_FRAME_SEALED:
        check_sealed(arena, frame);
        break;
    case SMB_FRAME_UNKNOWN:
    case SMB_FRAME_SMB1:
    case SMB_FRAME_COMPRESSED:
        check_name(arena, frame);
        check_referral(arena, frame, false);
        check_referral(arena, frame, true);
        break;
    }
    arena_free(arena);
    return 0;
}
