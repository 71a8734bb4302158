/* Security descriptors: the first byte says whether text or bytes follow. What is taken is written as
 * text and as bytes, and read as the same again. */
#include <stdlib.h>

#include "acl/security_descriptor.h"
#include "fuzz.h"

static struct bytes encode_again(struct arena *arena, struct bytes raw)
{
    struct security_descriptor descriptor;

    if (!security_descriptor_decode(arena, raw, &descriptor))
        abort();
    return security_descriptor_encode(arena, &descriptor);
}

static void check(struct arena *arena, const struct security_descriptor *descriptor)
{
    struct bytes raw = security_descriptor_encode(arena, descriptor);
    struct security_descriptor again, child;

    if (!raw.ptr)
        return;
    if (raw.len > SECURITY_DESCRIPTOR_MAX || !bytes_equal(encode_again(arena, raw), raw))
        abort();
    if (!sddl_read(arena, sddl_write(arena, descriptor), &again) ||
        !bytes_equal(security_descriptor_encode(arena, &again), raw))
        abort();
    for (int i = 0; i < 2; i++) {
        child = security_descriptor_inherit(arena, descriptor, i == 1, &descriptor_of_system);
        raw = security_descriptor_encode(arena, &child);
        if (raw.ptr && !bytes_equal(encode_again(arena, raw), raw))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 28);
    struct bytes rest = bytes_of(data + 1, size > 0 ? size - 1 : 0);
    struct security_descriptor descriptor;

    if (size > 0 && data[0] == 'b' ? security_descriptor_decode(arena, rest, &descriptor)
                                   : sddl_read(arena, rest, &descriptor))
        check(arena, &descriptor);
    arena_free(arena);
    return 0;
}
