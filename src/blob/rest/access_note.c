/* See access_note.h. */
#include "blob/rest/access_note.h"

#include "base/crc.h"
#include "base/endian.h"
#include "blob/access_time.h"
#include "service/driver.h"
#include "service/server.h"

#define ARENA_MAX ((size_t)4 << 20)

struct access_job {
    struct background_job base;
    struct store *store;
    struct guid space;
    size_t key_length;
    char key[];
};

static enum error attempt(struct decision *d, void *of)
{
    const struct access_job *job = of;

    return access_time_write(
        d, (struct partition){ .space = job->space, .key = bytes_of(job->key, job->key_length) });
}

static void run(struct background_job *base)
{
    struct access_job *job = (struct access_job *)(void *)base;
    struct arena *arena = arena_new_background(ARENA_MAX);

    (void)deciding_run_in(job->store, NULL, arena, attempt, job); /* the next read tries again */
    arena_free(arena);
}

/* Returns an id that is the same for all reads of the blob. */
static struct guid id_of(const struct partition *at)
{
    struct guid id = at->space;
    char sum[8];

    be64_put(sum, crc64(0, at->key.ptr, at->key.len));
    for (size_t i = 0; i < sizeof sum; i++)
        id.b[i] ^= (uint8_t)sum[i];
    return id;
}

void access_note(const struct call *call, const struct partition *at)
{
    const struct endpoint *endpoint = call->endpoint;
    struct access_job *job;

    if (!endpoint->background)
        return;
    job = xcalloc(1, sizeof *job + at->key.len);
    job->base = (struct background_job){
        .run = run,
        .id = id_of(at),
        .owner = { .account = pool_owner_number(0, call->account_name) },
    };
    job->store = endpoint->store;
    job->space = at->space;
    job->key_length = at->key.len;
    memcpy(job->key, at->key.ptr, at->key.len);
    (void)background_begin(endpoint->background, &job->base);
}
