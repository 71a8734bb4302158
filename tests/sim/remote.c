/* See remote.h. It always answers a request's own reading; later ones may be cut, or answered with
 * nonsense that a server may have got over by the next time, while there are faults. */
#include "remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "scheduler.h"
#include "world.h"

#define SECOND_NS UINT64_C(1000000000)
#define LONG      1000000u /* bytes that come in many pieces */

struct fetch {
    int status;
    uint64_t seed;
    uint32_t length, filled, at;
    uint32_t cut_at; /* UINT32_MAX: it is not */
    struct {
        const char *name;
        char value[60];
    } headers[6];
    size_t header_count;
};

struct fetcher *remote_new(void)
{
    static char one;

    return (struct fetcher *)(void *)&one;
}

struct bytes remote_url(const struct remote *remote, struct arena *arena)
{
    return arena_printf(arena, "http://elsewhere/%u/%u/%" PRIu64 "/%u/%u", remote->kind,
                        (unsigned)remote->fate, remote->seed, remote->length, remote->filled);
}

static void add(struct fetch *fetch, const char *name, const char *format, uint64_t number)
{
    fetch->headers[fetch->header_count].name = name;
    (void)snprintf(fetch->headers[fetch->header_count].value, sizeof fetch->headers[0].value,
                   format, number);
    fetch->header_count++;
}

/* A header that no blob may have, metadata that has no name, pages of another length, or a refusal.
 * Each ends a copy. decisions: 240, 241 */
static void lie(struct fetch *fetch, unsigned kind)
{
    switch (world_random(STREAM_SYSTEM) % (kind == KIND_PAGES ? 4 : 3)) {
    case 0:
        add(fetch, "cache-control", "a\x01%" PRIu64, 1);
        return;
    case 1:
        add(fetch, "x-ms-meta-0", "%" PRIu64, 1);
        return;
    case 2:
        fetch->status = 416;
        return;
    default:
        fetch->length = fetch->length > 0 ? fetch->length - 1 : 1000;
        return;
    }
}

/* No answer that there is, or one to another question: told as 500, after which a pending copy is
 * tried again. */
static int odd_status(uint64_t random)
{
    static const int statuses[] = { 0, 99, 101, 201, 600, 700, 999 };

    return statuses[random % (sizeof statuses / sizeof statuses[0])];
}

/* Half of what it has is sent from where it is asked for. */
static void go_on_at(struct fetch *fetch, const struct fetch_asked *asked)
{
    unsigned from = 0;
    size_t i = 0;

    while (i < asked->header_count && !bytes_is_nocase(asked->headers[i].name, "range"))
        i++;
    if (i == asked->header_count || fetch->status != 200 || fetch->seed % 2 > 0 ||
        sscanf(asked->headers[i].value.ptr, "bytes=%u-", &from) != 1 || from >= fetch->length)
        return;
    fetch->status = 206;
    fetch->at = from;
    fetch->headers[fetch->header_count].name = "content-range";
    (void)snprintf(fetch->headers[fetch->header_count++].value, sizeof fetch->headers[0].value,
                   "bytes %u-%u/%u", from, fetch->length - 1, fetch->length);
}

enum fetch_result fetch_open(struct fetcher *fetcher, const struct fetch_asked *asked,
                             struct fetch **ret_fetch)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);
    bool later = request_slot() < 0;
    unsigned kind, fate;
    char url[100];

    (void)fetcher;
    (void)snprintf(url, sizeof url, "%.*s", BYTES_ARG(asked->url));
    if (sscanf(url, "http://elsewhere/%u/%u/%" SCNu64 "/%u/%u", &kind, &fate, &fetch->seed,
               &fetch->length, &fetch->filled) != 5)
        world_fail("what is read is %s", url);
    *ret_fetch = fetch;
    sched_sleep(world_random(STREAM_SYSTEM) % (2 * SECOND_NS));
    fetch->cut_at = UINT32_MAX;
    if (later && (world->plan.faults & FAULT_ERRORS) && !faults_have_stopped() &&
        world_once_in(STREAM_FAULTS, 3))
        fetch->cut_at = world_draw(STREAM_FAULTS, fetch->length + 1);
    if (fetch->cut_at == 0)
        return FETCH_FAILED;
    fetch->status = later && fate == FATE_IS_GONE ? 404 : 200;
    if (fetch->cut_at != UINT32_MAX && world_once_in(STREAM_FAULTS, 3))
        fetch->status = odd_status(world_random(STREAM_FAULTS));
    if (fate == FATE_LIES_AT_ONCE)
        fetch->status = odd_status(world_random(STREAM_SYSTEM));
    else if (later && fate == FATE_LIES)
        lie(fetch, kind);
    go_on_at(fetch, asked);
    add(fetch, "content-length", "%" PRIu64, fetch->length - fetch->at);
    add(fetch, "etag", "\"%" PRIu64 "\"", later && fate == FATE_CHANGES ? 2 : 1);
    add(fetch, "content-type", "text/plain", 0);
    if (kind == KIND_PAGES)
        add(fetch, "x-ms-blob-type", "PageBlob", 0);
    return FETCH_OK;
}

int fetch_status(const struct fetch *fetch)
{
    return fetch->status;
}

struct bytes fetch_header(const struct fetch *fetch, const char *name)
{
    for (size_t i = 0; i < fetch->header_count; i++) {
        if (strcmp(fetch->headers[i].name, name) == 0)
            return bytes_from_string(fetch->headers[i].value);
    }
    return (struct bytes){ NULL, 0 };
}

size_t fetch_header_count(const struct fetch *fetch)
{
    return fetch->header_count;
}

struct fetch_header fetch_header_at(const struct fetch *fetch, size_t i)
{
    return (struct fetch_header){ bytes_from_string(fetch->headers[i].name),
                                  bytes_from_string(fetch->headers[i].value) };
}

enum fetch_result fetch_read(struct fetch *fetch, char *to, size_t max, size_t *ret_count)
{
    uint32_t end = fetch->cut_at < fetch->length ? fetch->cut_at : fetch->length;
    size_t count = end > fetch->at ? end - fetch->at : 0, filled;
    unsigned rests_once_in = fetch->length > LONG ? 1000 : 4;

    *ret_count = 0;
    count = count < max ? count : max;
    sched_sleep(world_once_in(STREAM_SYSTEM, rests_once_in)
                    ? world_random(STREAM_SYSTEM) % (3 * SECOND_NS)
                    : 100000);
    if (count == 0 && fetch->at < fetch->length)
        return FETCH_FAILED;
    filled = fetch->at < fetch->filled ? fetch->filled - fetch->at : 0;
    filled = filled < count ? filled : count;
    pattern_fill(fetch->seed, fetch->at, (unsigned char *)to, filled);
    memset(to + filled, 0, count - filled);
    fetch->at += (uint32_t)count;
    *ret_count = count;
    return FETCH_OK;
}

const char *fetch_problem(const struct fetch *fetch)
{
    (void)fetch;
    return "it was cut";
}

void fetch_close(struct fetch *fetch)
{
    free(fetch);
}
