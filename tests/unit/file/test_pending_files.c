/* What becomes of a copy to a file that goes on behind its answer: its record, its steps, its end, whichever it is,
 * and that nothing of it is left. file/pending_file.h; rest: Copy-File, Abort-Copy-File; decision: 304 */
#include "fixture.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/sleeper.h"
#include "file/open_record.h"
#include "file/pending_file.h"
#include "service/deciding.h"

#define ACCOUNT "devstoreaccount1"
#define LENGTH  200000 /* more than lies in a record */
#define HALF    100000

static const struct guid the_copy = { .b = { 1, 2, 3 } }, another = { .b = { 4 } };

/* One decision of a job, of the file "f" of the share "sha". */
struct world {
    struct fixture *f;
    struct guid space;
    struct arena *arena;
    struct partition partition;
    enum { BEGIN, FIND, SHOW, STEP, COMPLETE, END } act;
    struct guid id;
    uint64_t from, to;   /* STEP */
    struct stage *stage; /* of its bytes */
    enum copy_status status;
    struct pending_file found;
};

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
    tree_change(&state->tree, state->part);
    decision_read_clock(d);
    assert_int_equal(file_read(&state->tree, state->part->before, d->arena, &file), STORE_OK);
    file.http.has_md5 = true;
    file.http.md5_size = MD5_SIZE;
    memset(file.http.md5, 0x11, MD5_SIZE);
    file.copy = (struct copy_state){
        .status = COPY_PENDING, .id = w->id, .source = source.url, .total = LENGTH
    };
    pending_file_begin(d, state->part, &source, &file);
    file_write(d, state->part, &file);
    w->partition.space = w->space;
    w->partition.key = bytes_of(arena_copy(w->arena, state->part->partition.key).ptr, 8);
    return OK;
}

/* Pieces of so many bytes. A store in memory waits for nothing. */
static struct body staged(struct decision *d, struct world *w, size_t length)
{
    struct sleeper sleeper;
    struct body body = { .length = length, .stage = stage_open(d->store, w->partition, length) };
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
    struct body body = staged(d, w, length);
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
    case END:
        return pending_file_end(d, w->status, bytes_from_string("why"));
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

    if (w->act == BEGIN)
        return begin(d, w);
    decision_open_subject(d, w->partition);
    decision_read_clock(d);
    e = pending_file_find(d, &w->id, &w->found);
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

static enum error act(struct world *w, int what)
{
    w->act = what;
    return run(w);
}

static enum error steps(struct world *w, uint64_t from, uint64_t to)
{
    w->from = from;
    w->to = to;
    return act(w, STEP);
}

/* ---- the world ---- */

static int set_up(void **state)
{
    struct world *w = xcalloc(1, sizeof *w);
    void *fixture;
    struct share share;
    struct snapshot *before;

    if (!log_open(LOG_ERROR, "/dev/null") || fixture_setup(&fixture) != 0)
        return -1;
    w->f = fixture;
    w->arena = arena_new((size_t)1 << 28);
    w->id = the_copy;
    fixture_serve(w->f, &file_service);
    open_epoch_begin();
    assert_ok(ask(w->f, "PUT /sha?restype=share", NULL, NULL), 201);
    before = snapshot_open(
        store_of(w->f),
        (struct partition){ file_account_space(bytes_from_string(ACCOUNT)), BYTES("sha") },
        STORE_MAY_BLOCK);
    assert_int_equal(share_read(before, w->arena, share_itself, &share), STORE_OK);
    snapshot_close(before);
    w->space = share.space;
    assert_ok(ask(w->f, "PUT /sha/f",
                  textf(w->f, "x-ms-type: file\nx-ms-content-length: %d", LENGTH), NULL),
              201);
    assert_int_equal(act(w, BEGIN), OK);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    void *fixture = w->f;

    fixture_serve(w->f, NULL);
    fixture_teardown(&fixture);
    arena_free(w->arena);
    free(w);
    return 0;
}

static struct reply head(struct world *w)
{
    struct reply reply = ask(w->f, "HEAD /sha/f", NULL, NULL);

    assert_ok(reply, 200);
    return reply;
}

static void assert_status(struct world *w, const char *status, const char *length)
{
    struct reply reply = head(w);

    assert_header(w->f, reply, "x-ms-copy-status", status);
    reply = ask(w->f, "GET /sha/f?comp=rangelist", NULL, NULL);
    assert_ok(reply, 200);
    assert_header(w->f, reply, "x-ms-content-length", length);
}

static const char *some_bytes(struct world *w, unsigned first, unsigned last)
{
    struct reply reply =
        ask(w->f, "GET /sha/f", textf(w->f, "x-ms-range: bytes=%u-%u", first, last), NULL);

    assert_ok(reply, 206);
    return textf(w->f, "%.*s", BYTES_ARG(reply.body));
}

static enum store_result read_record(struct world *w, struct pending_file *ret_pending)
{
    struct snapshot *before = snapshot_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);
    enum store_result result = pending_file_read(before, w->arena, ret_pending);

    snapshot_close(before);
    return result;
}

static void assert_nothing_left(struct world *w, uint64_t bytes)
{
    fixture_run_due(w->f);
    assert_int_equal(read_record(w, &w->found), STORE_NOT_FOUND);
    assert_int_equal(bytes_kept(w->f), bytes);
}

/* ---- while it is pending ---- */

/* Rule: the file has its length and no MD5 until it has its bytes; the record has both, and the source. */
static void begun(void **state)
{
    struct world *w = *state;
    struct pending_file pending;
    struct reply reply;

    assert_status(w, "pending", "200000");
    reply = head(w);
    assert_no_header(w->f, reply, "Content-MD5");
    assert_int_equal(read_record(w, &pending), STORE_OK);
    assert_true(guid_equal(&pending.source.id, &the_copy));
    assert_true(bytes_is(pending.source.url, "http://other/f"));
    assert_true(bytes_is(pending.source.etag, "\"e\""));
    assert_true(pending.source.begun > 0 && pending.target.http.has_md5);
    assert_int_equal(pending.target.content.length, LENGTH);
}

/* Rule: a job finds the copy of its id alone, and none in a file that is gone. */
static void found(void **state)
{
    struct world *w = *state;

    assert_int_equal(act(w, FIND), OK);
    w->id = another;
    assert_int_equal(act(w, FIND), E_NoPendingCopyOperation);
    w->id = the_copy;
    assert_ok(ask(w->f, "DELETE /sha/f", NULL, NULL), 202);
    assert_int_equal(act(w, FIND), E_NoPendingCopyOperation);
}

/* Rule: what was copied is not seen; parts come in order, each once. */
static void steps_in_order(void **state)
{
    struct world *w = *state;
    struct reply reply;

    assert_int_equal(steps(w, HALF, LENGTH), E_ServerBusy);
    assert_int_equal(steps(w, 0, HALF), OK);
    assert_int_equal(steps(w, 0, HALF), E_ServerBusy);
    reply = head(w);
    assert_header(w->f, reply, "x-ms-copy-progress", "100000/200000");
    assert_memory_equal(some_bytes(w, 0, 0), "", 1);
    assert_int_equal(act(w, SHOW), OK);
    reply = head(w);
    assert_header(w->f, reply, "x-ms-copy-status-description", "it waits");
    assert_int_equal(steps(w, HALF, LENGTH), OK);
    reply = head(w);
    assert_no_header(w->f, reply, "x-ms-copy-status-description");
    assert_header(w->f, reply, "x-ms-copy-status", "pending");
}

/* Rule: bytes and length stay as they are until then. decision: 304 */
static void changes_are_refused(void **state)
{
    struct world *w = *state;

    assert_answer(
        ask(w->f, "PUT /sha/f?comp=range", "x-ms-write: update\nx-ms-range: bytes=0-0", "a"), 409,
        "PendingCopyOperation");
    assert_answer(ask(w->f, "PUT /sha/f?comp=properties", "x-ms-content-length: 5", NULL), 409,
                  "PendingCopyOperation");
    assert_ok(ask(w->f, "PUT /sha/f?comp=metadata", "x-ms-meta-a: b", NULL), 200);
    assert_int_equal(act(w, FIND), OK);
}

/* ---- its ends ---- */

/* Rule: it is complete with all its bytes, which become the file's with their MD5, at once. */
static void completes(void **state)
{
    struct world *w = *state;
    struct reply reply, before = head(w);

    assert_int_equal(act(w, COMPLETE), E_ServerBusy);
    assert_int_equal(steps(w, 0, HALF), OK);
    assert_int_equal(act(w, FIND), OK);
    assert_int_equal(act(w, COMPLETE), E_ServerBusy);
    assert_int_equal(steps(w, HALF, LENGTH), OK);
    assert_int_equal(act(w, COMPLETE), OK);
    assert_status(w, "success", "200000");
    assert_string_equal(some_bytes(w, HALF - 2, HALF + 1), "xxxx");
    reply = head(w);
    assert_header(w->f, reply, "Content-MD5", "EREREREREREREREREREREQ==");
    assert_string_not_equal(header_of(w->f, &reply, "ETag"), header_of(w->f, &before, "ETag"));
    assert_int_equal(act(w, COMPLETE), E_NoPendingCopyOperation);
    assert_nothing_left(w, LENGTH);
}

static void commits(struct world *w, struct changes *changes)
{
    struct snapshot *before = snapshot_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);
    struct commit_part part = { before, changes };
    uint64_t sequence;

    assert_int_equal(
        store_commit(store_of(w->f), &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence), STORE_OK);
    snapshot_close(before);
}

/* Rule: an SMB client that shares nothing, or has locked any bytes, holds up the last commit alone.
 * semantics 8.2; decision: 490 */
static void waits_for_handles(void **state)
{
    struct world *w = *state;
    struct changes *changes = changes_new(w->arena);
    struct open_entry open = { .id = clock_now(),
                               .epoch = open_epoch(),
                               .open = { .access = ACCESS_READ, .caching = NO_CACHING } };
    struct open_set set = { .opens = &open, .open_count = 1 };
    const struct byte_lock lock = { .range = { 1000, 1 }, .owner = open.id };

    open_set_write(changes, w->arena, &set);
    commits(w, changes);
    assert_int_equal(steps(w, 0, LENGTH), OK);
    assert_int_equal(act(w, COMPLETE), E_SharingViolation);
    assert_int_equal(act(w, FIND), OK);
    open.open.share = ACCESS_ALL;
    set.lock_count = 1;
    changes = changes_new(w->arena);
    open_set_write(changes, w->arena, &set);
    byte_locks_write(changes, w->arena, &lock, 1);
    commits(w, changes);
    assert_int_equal(act(w, COMPLETE), E_FileLockConflict);
    assert_int_equal(act(w, FIND), OK);
    open_epoch_begin(); /* its process has ended */
    assert_int_equal(act(w, COMPLETE), OK);
    assert_status(w, "success", "200000");
}

/* Rule: a copy that ends without its bytes leaves an empty file, and nothing of what was copied. */
static void ends(void **state)
{
    struct world *w = *state;
    struct reply reply;

    assert_int_equal(steps(w, 0, HALF), OK);
    w->status = COPY_FAILED;
    assert_int_equal(act(w, END), OK);
    assert_status(w, "failed", "0");
    reply = head(w);
    assert_header(w->f, reply, "x-ms-copy-status-description", "why");
    assert_int_equal(act(w, END), E_NoPendingCopyOperation);
    assert_nothing_left(w, 0);
}

static void deleted_meanwhile(void **state)
{
    struct world *w = *state;

    assert_int_equal(steps(w, 0, HALF), OK);
    assert_ok(ask(w->f, "DELETE /sha/f", NULL, NULL), 202);
    assert_int_equal(steps(w, HALF, LENGTH), E_NoPendingCopyOperation);
    assert_nothing_left(w, 0);
}

static void replaced_meanwhile(void **state)
{
    struct world *w = *state;
    struct reply reply;

    assert_int_equal(steps(w, 0, HALF), OK);
    assert_ok(ask(w->f, "PUT /sha/f", "x-ms-type: file\nx-ms-content-length: 3", NULL), 201);
    assert_int_equal(steps(w, HALF, LENGTH), E_NoPendingCopyOperation);
    assert_nothing_left(w, 0);
    reply = head(w);
    assert_no_header(w->f, reply, "x-ms-copy-status");
}

/* Rule: a snapshot of the share keeps the file as it was then, without what was copied. decision: 304 */
static void kept_by_a_snapshot(void **state)
{
    struct world *w = *state;
    struct reply taken, reply;
    const char *date;

    assert_int_equal(steps(w, 0, HALF), OK);
    taken = ask(w->f, "PUT /sha?restype=share&comp=snapshot", NULL, NULL);
    assert_ok(taken, 201);
    date = header_of(w->f, &taken, "x-ms-snapshot");
    assert_int_equal(steps(w, HALF, LENGTH), OK);
    assert_int_equal(act(w, COMPLETE), OK);
    reply = askf(w->f, NULL, NULL, "HEAD /sha/f?sharesnapshot=%s", date);
    assert_ok(reply, 200);
    assert_header(w->f, reply, "x-ms-copy-status", "pending");
    reply = askf(w->f, "x-ms-range: bytes=0-0", NULL, "GET /sha/f?sharesnapshot=%s", date);
    assert_ok(reply, 206);
    assert_memory_equal(reply.body.ptr, "", 1);
    assert_nothing_left(w, LENGTH);
}

/* ---- damage ---- */

/* Rule: a record that makes no sense is damage, wherever it is cut. */
static void damaged_record(void **state)
{
    struct world *w = *state;
    struct record record;
    struct pending_file pending;
    struct snapshot *before = snapshot_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);

    assert_int_equal(snapshot_get(before, RECORD_INNER, pending_record_key, w->arena, &record),
                     STORE_OK);
    snapshot_close(before);
    for (size_t cut = 0; cut < record.value.len; cut++) {
        struct changes *changes = changes_new(w->arena);
        struct commit_part part;
        uint64_t sequence;

        before = snapshot_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);
        part = (struct commit_part){ before, changes };
        changes_put(changes, RECORD_INNER, pending_record_key, bytes_of(record.value.ptr, cut),
                    NULL, 0);
        assert_int_equal(
            store_commit(store_of(w->f), &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
            STORE_OK);
        snapshot_close(before);
        assert_int_equal(read_record(w, &pending), STORE_CORRUPT);
    }
    assert_int_equal(act(w, FIND), E_InternalError);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(begun),
        TEST(found),
        TEST(steps_in_order),
        TEST(changes_are_refused),
        TEST(completes),
        TEST(waits_for_handles),
        TEST(ends),
        TEST(deleted_meanwhile),
        TEST(replaced_meanwhile),
        TEST(kept_by_a_snapshot),
        TEST(damaged_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
