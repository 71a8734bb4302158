/* Every field that is kept of an open for its client to reconnect survives, next to others with any value. durable.c */
#include "smb_session/durable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../record_fields.h"
#include "smb_protocol/replay.h"

static const struct field fields[] = {
    VALUE(durable_state, kind),        VALUE(durable_state, create),
    VALUE(durable_state, client),      VALUE(durable_state, is_lease),
    VALUE(durable_state, lease_key),   VALUE(durable_state, has_caching),
    VALUE(durable_state, caching_key), VALUE(durable_state, timeout_ms),
    VALUE(durable_state, mode),        VALUE(durable_state, position),
    VALUE(durable_state, allocated),   TEXT(durable_state, locks),
};

static void trip(struct arena *arena, const void *from, void *to)
{
    assert_true(durable_decode(durable_encode(arena, from), to));
}

static void kept(void **state)
{
    static const struct record_form form = RECORD_FORM(durable_state, fields, trip);
    static const char locks[2][LOCK_SEQUENCES] = { { 1, 2, 3 }, { 4, 5, 6 } };
    const struct durable_state samples[] = {
        { .kind = DURABLE_2,
          .create = { { 1 } },
          .client = { { 2 } },
          .lease_key = { { 3 } },
          .caching_key = { { 4 } },
          .timeout_ms = 5,
          .mode = 6,
          .position = 7,
          .allocated = 8,
          .locks = bytes_of(locks[0], LOCK_SEQUENCES) },
        { .kind = DURABLE_PERSISTENT,
          .create = { { 11 } },
          .client = { { 12 } },
          .is_lease = true,
          .lease_key = { { 13 } },
          .has_caching = true,
          .caching_key = { { 14 } },
          .timeout_ms = 15,
          .mode = 16,
          .position = 17,
          .allocated = 18,
          .locks = bytes_of(locks[1], LOCK_SEQUENCES) },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(kept) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
