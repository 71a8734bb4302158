/* Requests that come once more: channel sequences against a count of what is in work, lock sequences.
 * ms-smb2: 3.3.5.2.10, 3.3.5.14 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "smb_protocol/replay.h"

/* Every distance, from both ends of the circle. */
static void sequences(void **state)
{
    static const uint16_t starts[] = { 0, 1, 0x7FFF, 0x8000, 0xFFFF };

    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (uint32_t by = 0; by <= UINT16_MAX; by++)
            for (int modifies = 0; modifies < 2; modifies++) {
                struct channel_sequence open = { .sequence = starts[i] };
                uint16_t sequence = (uint16_t)(starts[i] + by);
                uint64_t change = 0;
                bool is_late = by > 0x7FFF;

                assert_int_equal(channel_sequence_begin(&open, sequence, modifies, false, &change),
                                 !(is_late && modifies));
                assert_int_equal(open.sequence, is_late ? starts[i] : sequence);
                assert_int_equal(open.now, !is_late);
                assert_int_equal(open.before, is_late && !modifies);
                if (open.now + open.before > 0)
                    channel_sequence_end(&open, change);
                assert_int_equal(open.now + open.before, 0);
            }
}

/* What is sent once more waits for nothing, and is refused while what came before a new channel is in work. */
static void repeated(void **state)
{
    struct channel_sequence open = { .sequence = 0 };
    uint64_t first, second, change;

    (void)state;
    assert_true(channel_sequence_begin(&open, 0, true, false, &first));
    assert_true(channel_sequence_begin(&open, 0, true, true, &second)); /* no channel was lost */
    assert_false(channel_sequence_begin(&open, 1, true, true, &change));
    assert_int_equal(open.sequence, 1);
    assert_int_equal(open.before, 2);
    assert_true(channel_sequence_begin(&open, 1, true, false, &change)); /* it repeats nothing */
    assert_true(channel_sequence_begin(&open, 1, false, true, &change));
    assert_false(channel_sequence_begin(&open, 0, true, true, &change));
    channel_sequence_end(&open, first);
    assert_false(channel_sequence_begin(&open, 1, true, true, &change));
    channel_sequence_end(&open, second);
    assert_true(channel_sequence_begin(&open, 1, true, true, &change));
    assert_int_equal(open.now, 3);
}

/* What lasts while the sequence goes round once counts as one of before when it ends. */
static void goes_round(void **state)
{
    struct channel_sequence open = { .sequence = 0 };
    uint64_t lasts, change;

    (void)state;
    assert_true(channel_sequence_begin(&open, 0, false, false, &lasts));
    for (unsigned sequence = 30000; sequence <= 90000; sequence += 30000) {
        uint16_t next = sequence == 90000 ? 0 : (uint16_t)sequence;

        assert_true(channel_sequence_begin(&open, next, false, false, &change));
        channel_sequence_end(&open, change);
    }
    assert_int_equal(open.sequence, 0);
    assert_int_equal(open.now, 0);
    assert_int_equal(open.before, 1);
    channel_sequence_end(&open, lasts);
    assert_int_equal(open.before, 0);
}

static void locks(void **state)
{
    uint8_t entries[LOCK_SEQUENCES];

    (void)state;
    memset(entries, LOCK_SEQUENCE_NONE, sizeof entries);
    for (uint32_t index = 0; index <= LOCK_SEQUENCES + 1; index++)
        for (uint32_t number = 0; number < 16; number++) {
            struct lock_sequence lock = lock_sequence_read(index << 4 | number);
            bool is_kept = index > 0 && index <= LOCK_SEQUENCES;

            assert_int_equal(lock.index, index);
            assert_int_equal(lock.number, number);
            assert_false(lock_sequence_is_repeated(entries, &lock));
            lock_sequence_done(entries, &lock);
            assert_int_equal(lock_sequence_is_repeated(entries, &lock), is_kept);
            lock.number ^= 1; /* another one: what was done is forgotten */
            assert_false(lock_sequence_is_repeated(entries, &lock));
            lock.number ^= 1;
            assert_false(lock_sequence_is_repeated(entries, &lock));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences),
        cmocka_unit_test(repeated),
        cmocka_unit_test(goes_round),
        cmocka_unit_test(locks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
