/* See soft_delete.h. */
#include "properties/soft_delete.h"

#include <inttypes.h>

#include "base/endian.h"
#include "service/names.h"

#define INSTANT_OF_1601 UINT64_C(504911232000000000)
#define VERSION_DIGITS  16u

void dated_key_add(struct text *out, char letter, instant date)
{
    char be[8];

    be64_put(be, date);
    text_add_char(out, letter);
    text_add(out, bytes_of(be, sizeof be));
}

bool dated_key_take(struct bytes *key, char letter, instant *ret_date)
{
    *ret_date = 0;
    if (key->len < DATED_KEY_SIZE || key->ptr[0] != letter)
        return true;
    *ret_date = be64_get(key->ptr + 1);
    *key = bytes_from(*key, DATED_KEY_SIZE);
    return *ret_date > 0;
}

/* ---- versions ---- */

struct bytes deleted_version_text(struct arena *arena, instant deleted)
{
    return arena_printf(arena, "%016" PRIX64, deleted - INSTANT_OF_1601);
}

bool deleted_version_parse(struct bytes text, instant *ret_deleted)
{
    uint64_t since = 0;

    if (text.len != VERSION_DIGITS)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int digit = bytes_hex_digit(text.ptr[i]);

        if (digit < 0)
            return false;
        since = since << 4 | (unsigned)digit;
    }
    *ret_deleted = since + INSTANT_OF_1601;
    return since <= INSTANT_MAX - INSTANT_OF_1601;
}

/* ---- the policy ---- */

enum store_result service_properties_guard(struct decision *d, const char *service,
                                           struct service_properties *ret_properties)
{
    struct partition at = { account_space(service, d->input->account), BYTES("") };
    struct decision_part *part = decision_open(d, at, NULL);

    return service_properties_read(part->before, d->arena, ret_properties);
}
