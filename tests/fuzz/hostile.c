/* See hostile.h. Heads are read as src/fetch reads them; of the bodies it does what libcurl does:
 * Content-Length ends them, and one that is shorter fails. */
#include "hostile.h"

#include <stdlib.h>
#include <string.h>

#include "fetch/head.h"

#define ARENA_MAX ((size_t)1 << 20)
/* What one read gives at most. */
#define READ_MAX  300u

static struct bytes answers;
static struct background_job *begun;

struct fetch {
    struct fetch_head head;
    struct bytes body;
    uint64_t left; /* as announced */
};

/* ---- in the place of src/fetch ---- */

struct fetcher *hostile_fetcher(struct bytes texts)
{
    answers = texts;
    return (struct fetcher *)(void *)&answers;
}

static struct bytes next_answer(void)
{
    static const char between[] = "\n%%\n";
    const char *end =
        answers.len > 0 ? memmem(answers.ptr, answers.len, between, strlen(between)) : NULL;
    struct bytes answer = bytes_of(answers.ptr, end ? (size_t)(end - answers.ptr) : answers.len);

    answers = bytes_from(answers, end ? answer.len + strlen(between) : answers.len);
    return answer;
}

/* What libcurl counts, of a body that is not in chunks. */
static uint64_t announced(const struct fetch *fetch)
{
    struct bytes text = fetch_head_find(&fetch->head, "content-length");
    uint64_t length;

    if (fetch_head_find(&fetch->head, "transfer-encoding").ptr ||
        !bytes_parse_u64(text, INT64_MAX, &length))
        return fetch->body.len;
    return length;
}

enum fetch_result fetch_open(struct fetcher *fetcher, const struct fetch_asked *asked,
                             struct fetch **ret_fetch)
{
    struct fetch *fetch = xcalloc(1, sizeof *fetch);
    struct bytes line;

    (void)fetcher;
    (void)asked;
    *ret_fetch = fetch;
    fetch->head.arena = arena_new(ARENA_MAX);
    fetch->body = next_answer();
    while (!fetch->head.is_complete) {
        bytes_cut(fetch->body, '\n', &line, &fetch->body);
        if (!fetch->body.ptr || !fetch_head_line(&fetch->head, line))
            return FETCH_FAILED;
    }
    fetch->left = announced(fetch);
    return FETCH_OK;
}

int fetch_status(const struct fetch *fetch)
{
    return fetch->head.status;
}

struct bytes fetch_header(const struct fetch *fetch, const char *name)
{
    return fetch_head_find(&fetch->head, name);
}

size_t fetch_header_count(const struct fetch *fetch)
{
    return fetch->head.header_count;
}

struct fetch_header fetch_header_at(const struct fetch *fetch, size_t i)
{
    return fetch->head.headers[i];
}

enum fetch_result fetch_read(struct fetch *fetch, char *to, size_t max, size_t *ret_count)
{
    size_t count = max < READ_MAX ? max : READ_MAX;

    if (count > fetch->left)
        count = (size_t)fetch->left;
    if (count > fetch->body.len)
        count = fetch->body.len;
    *ret_count = count;
    if (count == 0)
        return fetch->left > 0 ? FETCH_FAILED : FETCH_OK;
    memcpy(to, fetch->body.ptr, count);
    fetch->body = bytes_from(fetch->body, count);
    fetch->left -= count;
    return FETCH_OK;
}

const char *fetch_problem(const struct fetch *fetch)
{
    (void)fetch;
    return "the fuzzer chose it";
}

void fetch_close(struct fetch *fetch)
{
    arena_free(fetch->head.arena);
    free(fetch);
}

/* ---- in the place of src/service/background.c ---- */

struct background *hostile_background(void)
{
    return (struct background *)(void *)&begun;
}

bool background_is_stopping(struct background *background)
{
    (void)background;
    return false;
}

enum background_begun background_begin(struct background *background, struct background_job *job)
{
    for (const struct background_job *other = begun; other; other = other->next) {
        if (guid_equal(&other->id, &job->id)) {
            free(job);
            return BACKGROUND_UNDER_WAY;
        }
    }
    job->background = background;
    job->next = begun;
    begun = job;
    return BACKGROUND_BEGUN;
}

void hostile_run_jobs(void)
{
    while (begun) {
        struct background_job *job = begun;

        job->run(job);
        begun = job->next;
        free(job);
    }
}
