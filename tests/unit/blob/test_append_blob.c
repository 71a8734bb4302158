/* Append blobs: limits that take many requests, and what is left behind when they end. */
#include "fixture.h"

#include <stdlib.h>

#define AS_APPEND "x-ms-blob-type: AppendBlob"

/* More than lies inline. */
static struct bytes large(struct fixture *f)
{
    char *text = (char *)(uintptr_t)textf(f, "%0*d", 20000, 7);

    return bytes_of(text, 20000);
}

/* Rule: an append blob has at most 50,000 blocks; the next one is 409 BlockCountExceedsLimit and
 * changes nothing. rest: Append-Block "Remarks" */
static void blocks_end_at_50000(void **state)
{
    struct fixture *f = *state;
    struct reply last = { .status = 0 };

    assert_ok(ask(f, "PUT /box/b", AS_APPEND, NULL), 201);
    for (int i = 0; i < 50000; i++)
        last = ask(f, "PUT /box/b?comp=appendblock", NULL, "x");
    assert_ok(last, 201);
    assert_header(f, last, "x-ms-blob-committed-block-count", "50000");
    assert_header(f, last, "x-ms-blob-append-offset", "49999");
    assert_answer(ask(f, "PUT /box/b?comp=appendblock", NULL, "x"), 409, "BlockCountExceedsLimit");
    last = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, last, "x-ms-blob-committed-block-count", "50000");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
}

/* Rule: what only a snapshot had is given back when that is deleted after the base was overwritten,
 * and all of it with the last. rest: Snapshot-Blob, Delete-Blob */
static void what_nobody_holds_is_given_back(void **state)
{
    struct fixture *f = *state;
    const char *taken[3];

    assert_ok(ask(f, "PUT /box/b", AS_APPEND, NULL), 201);
    for (int i = 0; i < 3; i++) {
        struct reply answer;

        assert_ok(ask_bytes(f, "PUT /box/b?comp=appendblock", NULL, large(f)), 201);
        answer = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
        assert_ok(answer, 201);
        taken[i] = header_of(f, &answer, "x-ms-snapshot");
    }
    assert_ok(ask_bytes(f, "PUT /box/b?comp=appendblock", NULL, large(f)), 201);
    assert_int_equal(bytes_kept(f), 80000);
    assert_ok(ask(f, "PUT /box/b", AS_APPEND, NULL), 201);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 60000);
    assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", taken[2]), 202);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 40000);
    assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", taken[0]), 202);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 40000);
    assert_int_equal(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", taken[1]).body.len, 40000);
    assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", taken[1]), 202);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 0);
}

/* Rule: clearing, shrinking and deleting give pages back; a snapshot keeps its own. rest: Put-Page,
 * Set-Blob-Properties, Delete-Blob */
static void pages_are_given_back(void **state)
{
    struct fixture *f = *state;
    struct bytes pages = large(f);
    struct reply taken;

    pages.len = 40 * 512 - 512; /* 39 pages, not inline */
    assert_ok(ask(f, "PUT /box/b", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 1073741824",
                  NULL),
              201);
    assert_ok(ask_bytes(f, "PUT /box/b?comp=page",
                        "x-ms-page-write: update\nx-ms-range: bytes=536870912-536890879", pages),
              201);
    assert_int_equal(bytes_kept(f), pages.len);
    taken = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    assert_ok(taken, 201);
    assert_ok(ask(f, "PUT /box/b?comp=properties", "x-ms-blob-content-length: 512", NULL), 200);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), pages.len);
    assert_ok(
        askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", header_of(f, &taken, "x-ms-snapshot")),
        202);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 0);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_end_at_50000, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_nobody_holds_is_given_back, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(pages_are_given_back, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
