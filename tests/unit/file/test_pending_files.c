/* What becomes of a copy to a file that goes on behind its answer: its record, its steps, its end, whichever it is,
 * and that nothing of it is left. file/pending_file.h; rest: Copy-File, Abort-Copy-File; decision: 304 */
#include "pending_world.h"

#include "service/deciding.h"

static const struct guid another = { .b = { 4 } };

static const char *some_bytes(struct world *w, unsigned first, unsigned last)
{
    struct reply reply =
        ask(w->f, "GET /sha/f", textf(w->f, "x-ms-range: bytes=%u-%u", first, last), NULL);

    assert_ok(reply, 206);
    return textf(w->f, "%.*s", BYTES_ARG(reply.body));
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

/* Rule: a copy that ends without its bytes leaves an empty file, and nothing of what was copied. */
static void ends(void **state)
{
    struct world *w = *state;
    struct reply reply;

    assert_int_equal(steps(w, 0, HALF), OK);
    assert_int_equal(act(w, FAIL), OK);
    assert_status(w, "failed", "0");
    reply = head(w);
    assert_header(w->f, reply, "x-ms-copy-status-description", "why");
    assert_int_equal(act(w, FAIL), E_NoPendingCopyOperation);
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

/* Rule: where the file stays the same node, nothing is left of the copy before, though its task did not come. */
static void begun_again(void **state)
{
    struct world *w = *state;

    assert_int_equal(steps(w, 0, HALF), OK);
    w->id = another;
    assert_int_equal(act(w, BEGIN), OK);
    assert_int_equal(steps(w, 0, LENGTH), OK);
    assert_int_equal(act(w, COMPLETE), OK);
    assert_status(w, "success", "200000");
    assert_nothing_left(w, LENGTH);
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
    struct read_view *before = read_view_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);

    assert_int_equal(read_view_get(before, RECORD_INNER, pending_record_key, w->arena, &record),
                     STORE_OK);
    read_view_close(before);
    for (size_t cut = 0; cut < record.value.len; cut++) {
        struct changes *changes = changes_new(w->arena);
        struct commit_part part;
        uint64_t sequence;

        before = read_view_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);
        part = (struct commit_part){ before, changes };
        changes_put(changes, RECORD_INNER, pending_record_key, bytes_of(record.value.ptr, cut),
                    NULL, 0);
        assert_int_equal(
            store_commit(store_of(w->f), &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
            STORE_OK);
        read_view_close(before);
        assert_int_equal(read_record(w, &pending), STORE_CORRUPT);
    }
    assert_int_equal(act(w, FIND), E_InternalError);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pending_set_up, pending_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(begun),
        TEST(found),
        TEST(steps_in_order),
        TEST(changes_are_refused),
        TEST(completes),
        TEST(ends),
        TEST(deleted_meanwhile),
        TEST(replaced_meanwhile),
        TEST(begun_again),
        TEST(kept_by_a_snapshot),
        TEST(damaged_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
