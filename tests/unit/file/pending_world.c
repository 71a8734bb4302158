/* See pending_world.h. */
#include "pending_world.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/sleeper.h"
#include "opens/open_record.h"
#include "service/deciding.h"

#define ACCOUNT "devstoreaccount1"

const struct guid the_copy = { .b = { 1, 2, 3 } };

/* ---- decisions ---- */

static enum error begin(struct decision *d, struct world *w)
{
    const struct pending_source source = { .id = w->id,
                                           .url = BYTES("http://other/f"),
                                           .etag = BYTES("\"e\"") };
    struct file_state *state = arena_alloc(d->arena, sizeof *state);
    struct tree_path path;
    struct file file;

    d->state = &state->base;
    assert_int_equal(tree_open(&state->tree, d, w->space, TREE_CASE_IGNORED), TREE_OK);
    assert_int_equal(tree_path_parse(d->arena, TREE_CASE_IGNORED, bytes_from_string("f"), &path),
                     TREE_PATH_OK);
    assert_int_equal(tree_find_node(&state->tree, &path, TREE_TO_READ, &state->place, &state->part),
                     TREE_OK);
    assert_non_null(state->part);
    d->changes = tree_change(&state->tree, state->part);
    decision_read_clock(d);
    assert_int_equal(file_read(&state->tree, state->part->before, d->arena, &file), STORE_OK);
    file.http.has_md5 = true;
    file.http.md5_size = MD5_SIZE;
    memset(file.http.md5, 0x11, MD5_SIZE);
    file.copy = (struct copy_state){
        .status = COPY_PENDING, .id = w->id, .source = source.url, .total = LENGTH
    };
    assert_int_equal(pending_file_begin(d, state->part, &source, &file), OK);
    file_write(d, state->part, &file);
    w->partition.space = w->space;
    w->partition.key = bytes_of(arena_copy(w->arena, state->part->partition.key).ptr, 8);
    return OK;
}

/* Pieces of so many bytes. A store in memory waits for nothing. */
static struct body staged(struct decision *d, size_t length)
{
    struct sleeper sleeper;
    struct body body = { .length = length, .stage = stage_open(d->store, length) };
    char *bytes = arena_bytes(d->arena, length);
    size_t taken = 0;

    memset(bytes, 'x', length);
    sleeper_init(&sleeper);
    assert_int_equal(stage_write(body.stage, bytes_of(bytes, length), &sleeper.waiter, &taken),
                     STORE_OK);
    assert_int_equal(taken, length);
    assert_int_equal(stage_finish(body.stage, &sleeper.waiter), STORE_OK);
    sleeper_release(&sleeper);
    body.pieces = stage_pieces(body.stage, &body.piece_count);
    return body;
}

static enum error step(struct decision *d, struct world *w)
{
    uint64_t length = w->to - w->from;
    struct body body = staged(d, length);
    const struct content_range range = { .start = w->from, .end = w->to };
    const struct copied_bytes copied = { .ranges = &range, .range_count = 1 };
    const struct copied_step step = { w->from, w->to, LENGTH, &body, &copied };

    w->stage = body.stage;
    return pending_file_step(d, &w->found, &step);
}

static enum error decide(struct decision *d, struct world *w)
{
    switch (w->act) {
    case SHOW:
        pending_file_show(d, bytes_from_string("it waits"));
        return OK;
    case STEP:
        return step(d, w);
    case COMPLETE:
        return pending_file_complete(d, &w->found);
    case FAIL:
        return pending_file_fail(d, bytes_from_string("why"));
    case BEGIN:
    case FIND:
        break;
    }
    return OK;
}

static enum error attempt(struct decision *d, void *of)
{
    struct world *w = of;
    enum error e;

    if (w->act == BEGIN) {
        e = begin(d, w);
    } else {
        decision_open_subject(d, w->partition);
        decision_read_clock(d);
        e = pending_file_find(d, &w->id, &w->found);
    }
    if (!e)
        e = decide(d, w);
    if (!e && d->leaves_more)
        decision_defer_collection(d);
    return e;
}

static enum error run(struct world *w)
{
    struct input input = { .account = BYTES(ACCOUNT) };
    struct problem problem;
    struct decision d = { .service = &file_service,
                          .input = &input,
                          .arena = w->arena,
                          .store = store_of(w->f),
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(w->arena) };
    enum error e = deciding_attempt(&d, attempt, w);

    if (e == OK && !deciding_is_empty(&d))
        assert_int_equal(deciding_commit(&d), OK);
    deciding_end(&d);
    if (w->stage)
        stage_close(w->stage);
    w->stage = NULL;
    return e;
}

enum error act(struct world *w, enum act what)
{
    w->act = what;
    return run(w);
}

enum error steps(struct world *w, uint64_t from, uint64_t to)
{
    w->from = from;
    w->to = to;
    return act(w, STEP);
}

/* ---- the world ---- */

int pending_set_up(void **state)
{
    struct world *w = xcalloc(1, sizeof *w);
    void *fixture;
    struct share share;
    struct read_view *before;

    if (!log_open(LOG_ERROR, "/dev/null") || fixture_setup(&fixture) != 0)
        return -1;
    w->f = fixture;
    w->arena = arena_new((size_t)1 << 28);
    w->id = the_copy;
    fixture_serve(w->f, &file_service);
    open_epoch_begin();
    assert_ok(ask(w->f, "PUT /sha?restype=share", NULL, NULL), 201);
    before = read_view_open(
        store_of(w->f),
        (struct partition){ file_account_space(bytes_from_string(ACCOUNT)), BYTES("sha") },
        STORE_MAY_BLOCK);
    assert_int_equal(share_read(before, w->arena, share_itself, &share), STORE_OK);
    read_view_close(before);
    w->space = share.space;
    assert_ok(ask(w->f, "PUT /sha/f",
                  textf(w->f, "x-ms-type: file\nx-ms-content-length: %d", LENGTH), NULL),
              201);
    assert_int_equal(act(w, BEGIN), OK);
    *state = w;
    return 0;
}

int pending_tear_down(void **state)
{
    struct world *w = *state;
    void *fixture = w->f;

    fixture_serve(w->f, NULL);
    fixture_teardown(&fixture);
    arena_free(w->arena);
    free(w);
    return 0;
}

struct reply head(struct world *w)
{
    struct reply reply = ask(w->f, "HEAD /sha/f", NULL, NULL);

    assert_ok(reply, 200);
    return reply;
}

void assert_status(struct world *w, const char *status, const char *length)
{
    struct reply reply = head(w);

    assert_header(w->f, reply, "x-ms-copy-status", status);
    reply = ask(w->f, "GET /sha/f?comp=rangelist", NULL, NULL);
    assert_ok(reply, 200);
    assert_header(w->f, reply, "x-ms-content-length", length);
}

enum store_result read_record(struct world *w, struct pending_file *ret_pending)
{
    struct read_view *before = read_view_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);
    enum store_result result = pending_file_read(before, w->arena, ret_pending);

    read_view_close(before);
    return result;
}

void commits(struct world *w, struct changes *changes)
{
    struct read_view *before = read_view_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);
    struct commit_part part = { before, changes };
    uint64_t sequence;

    assert_int_equal(
        store_commit(store_of(w->f), &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence), STORE_OK);
    read_view_close(before);
}
