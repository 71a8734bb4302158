/* Bodies that are read from elsewhere: where the store has no room at the moment, the thread waits until
 * it is woken, and not one byte comes twice or is left out. The store's waits are played by wrapped
 * functions. request/gather.h */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/md5.h"
#include "request/gather.h"

enum store_result __real_stage_write(struct stage *stage, struct bytes data, struct waiter *waiter,
                                     size_t *ret_taken);
enum store_result __wrap_stage_write(struct stage *stage, struct bytes data, struct waiter *waiter,
                                     size_t *ret_taken);
enum store_result __real_stage_finish(struct stage *stage, struct waiter *waiter);
enum store_result __wrap_stage_finish(struct stage *stage, struct waiter *waiter);

#define TAKEN_AT_ONCE 10000u

static atomic_bool is_waited_for;
static pthread_t waking;
static unsigned waits;
static bool waited; /* the newest call was told to */

static void *wake_later(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&is_waited_for, false);
    waiter->wake(waiter);
    return NULL;
}

/* Every second call is told to wait. True: this one is. */
static bool have_it_wait(struct waiter *waiter)
{
    assert_non_null(waiter);
    assert_false(atomic_load(&is_waited_for)); /* it was woken before it asks again */
    if (waited)
        assert_int_equal(pthread_join(waking, NULL), 0);
    waited = !waited;
    if (!waited)
        return false;
    waits++;
    atomic_store(&is_waited_for, true);
    assert_int_equal(pthread_create(&waking, NULL, wake_later, waiter), 0);
    return true;
}

enum store_result __wrap_stage_write(struct stage *stage, struct bytes data, struct waiter *waiter,
                                     size_t *ret_taken)
{
    *ret_taken = 0;
    if (have_it_wait(waiter))
        return STORE_WAIT;
    if (data.len > TAKEN_AT_ONCE)
        data.len = TAKEN_AT_ONCE;
    return __real_stage_write(stage, data, waiter, ret_taken);
}

enum store_result __wrap_stage_finish(struct stage *stage, struct waiter *waiter)
{
    return have_it_wait(waiter) ? STORE_WAIT : __real_stage_finish(stage, waiter);
}

/* ---- a source of known bytes ---- */

#define LENGTH 1000000u

struct known_source {
    struct gather_source base; /* first */
    const char *bytes;
    size_t done;
};

static enum error read_known(struct gather_source *base, char *to, size_t max, size_t *ret_count)
{
    struct known_source *source = (struct known_source *)(void *)base;
    size_t count = LENGTH - source->done < 300001 ? LENGTH - source->done : 300001;

    if (count > max)
        count = max;
    memcpy(to, source->bytes + source->done, count);
    source->done += count;
    *ret_count = count;
    return OK;
}

static void expect_pieces(struct store *store, const struct body *body, const char *bytes)
{
    uint64_t at = 0;

    for (size_t i = 0; i < body->piece_count; i++) {
        char *found = malloc(body->pieces[i].length);

        assert_int_equal(
            piece_read(store, &body->pieces[i], 0, body->pieces[i].length, found, NULL), STORE_OK);
        assert_memory_equal(found, bytes + at, body->pieces[i].length);
        at += body->pieces[i].length;
        free(found);
    }
    assert_int_equal(at, LENGTH);
}

static void waits_until_there_is_room(void **state)
{
    struct fixture *f = *state;
    const uint64_t blocks[] = { 7, 0, 499993, 500000 };
    struct endpoint endpoint = { .store = store_open_memory() };
    struct problem problem = { .detail = NULL };
    struct decision d = { .arena = f->arena, .problem = &problem };
    struct call call = {
        .arena = f->arena, .inline_max = 100, .wants_md5 = true, .wants_crc64 = true
    };
    struct stage *stage = NULL;
    struct gathering g = { .endpoint = &endpoint, .call = &call, .decision = &d, .stage = &stage };
    struct known_source source = { .base = { .read = read_known,
                                             .length = LENGTH,
                                             .max = LENGTH,
                                             .blocks = blocks,
                                             .block_count = 4 } };
    char *bytes = malloc(LENGTH);
    const struct body *body = &call.input.body;
    uint8_t md5[16];

    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    source.bytes = bytes;
    assert_int_equal(gather_body(&g, &source.base), OK);
    assert_true(waits > LENGTH / TAKEN_AT_ONCE); /* and for the end */
    md5_of(bytes_of(bytes, LENGTH), md5);
    assert_memory_equal(body->md5, md5, sizeof md5);
    assert_int_equal(body->crc64, crc64(0, bytes, LENGTH));
    assert_int_equal(body->length, LENGTH);
    expect_pieces(endpoint.store, body, bytes);
    stage_close(stage);
    store_close(endpoint.store);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(waits_until_there_is_room, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
