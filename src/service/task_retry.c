/* See task_retry.h. */
#include "service/task_retry.h"

#include <assert.h>

#include "base/codec.h"
#include "base/log.h"

#define PAYLOAD_VERSION 1
/* Number of doublings after which the delay exceeds its maximum */
#define DOUBLINGS_MAX   12u

bool task_try_read(const struct deferred_task *task, struct task_try *ret_try)
{
    struct task_try try = { .task = *task, .stored = *task };
    uint64_t failures, kind;
    struct decoder d;

    if (task->kind == TASK_RETRY) {
        decoder_init(&d, task->payload);
        if (decode_u8(&d) != PAYLOAD_VERSION)
            d.bad = true;
        failures = decode_u64(&d);
        kind = decode_u64(&d);
        try.task.payload = decode_bytes(&d);
        if (!decoder_ok(&d) || kind > UINT32_MAX || kind == TASK_RETRY) {
            log_line(LOG_ERROR, "a task that was put off is damaged");
            return false;
        }
        try.task.kind = (uint32_t)kind;
        try.failures = failures < UINT32_MAX ? (unsigned)failures : UINT32_MAX - 1;
    }
    assert(try.task.kind != TASK_RETRY && try.failures < UINT32_MAX);
    *ret_try = try;
    return true;
}

static unsigned wait_s(unsigned failures, enum error why)
{
    unsigned max = why == E_ServerBusy ? TASK_BUSY_MAX_S : TASK_RETRY_MAX_S;
    unsigned wait = 1u << (failures < DOUBLINGS_MAX ? failures : DOUBLINGS_MAX);

    return wait < max ? wait : max;
}

enum store_result task_put_off(struct store *store, const struct task_try *failed, enum error why,
                               instant now, struct arena *arena)
{
    unsigned wait = wait_s(failed->failures, why);
    enum store_result result;
    struct text payload;

    assert(wait > 0 && wait <= TASK_RETRY_MAX_S && why != OK);
    text_init(&payload, arena, 32 + failed->task.payload.len);
    encode_u8(&payload, PAYLOAD_VERSION);
    encode_u64(&payload, failed->failures + UINT64_C(1));
    encode_u64(&payload, failed->task.kind);
    encode_bytes(&payload, failed->task.payload);
    result = store_task_move(store, &failed->stored, now + wait * TICKS_PER_SECOND, TASK_RETRY,
                             text_bytes(&payload), arena);
    /* E_ServerBusy (a cell without an owner, or a shortage of memory) is logged where it is
     * detected, not for each task. */
    if (!result && why != E_ServerBusy && failed->failures + 1 >= TASK_FAILURES_LOUD)
        log_line(LOG_ERROR, "a deferred task of kind 0x%x has failed %u times (%s); again in %u s",
                 failed->task.kind, failed->failures + 1, error_code(why), wait);
    return result;
}
