/* Put Block, Put Block List, Get Block List. */
#include "blob/uncommitted.h"

#include "fixture.h"

#include <stdlib.h>

#define PUT_HEADERS "x-ms-blob-type: BlockBlob"

/* Base64 of "0", "1", ... "9"; in a URL with %3D. */
static const char *const ids[] = { "MA==", "MQ==", "Mg==", "Mw==", "NA==" };

static struct reply stage_block(struct fixture *f, unsigned n, const char *content)
{
    return askf(f, NULL, content, "PUT /box/b?comp=block&blockid=%.2s%%3D%%3D", ids[n]);
}

/* entries: "L0 C1 U2": Latest, Committed, Uncommitted and which id. */
static struct reply commit(struct fixture *f, const char *entries, const char *headers)
{
    const char *list = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";

    for (const char *at = entries; *at; at += at[2] ? 3 : 2) {
        const char *name = at[0] == 'L' ? "Latest" : at[0] == 'C' ? "Committed" : "Uncommitted";

        list = textf(f, "%s<%s>%s</%s>", list, name, ids[at[1] - '0'], name);
    }
    return ask(f, "PUT /box/b?comp=blocklist", headers, textf(f, "%s</BlockList>", list));
}

static void assert_list(struct fixture *f, const char *type, const char *want)
{
    struct reply got =
        askf(f, NULL, NULL, "GET /box/b?comp=blocklist%s%s", *type ? "&blocklisttype=" : "", type);
    const char *all;

    assert_ok(got, 200);
    all = textf(
        f, "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>%s</BlockList>", want);
    assert_body(got, all);
}

static void assert_content(struct fixture *f, const char *want)
{
    struct reply got = ask(f, "GET /box/b", NULL, NULL);

    assert_ok(got, 200);
    assert_body(got, want);
}

#define BLOCK(id, size) "<Block><Name>" id "</Name><Size>" size "</Size></Block>"

/* Rule: staged blocks are seen by Get Block List alone, committed ones make the blob, in the order
 * of the list. rest: Put-Block, Put-Block-List, Get-Block-List; recorded bodies */
static void blocks_are_staged_and_committed(void **state)
{
    struct fixture *f = *state;
    struct reply put, list;

    put = stage_block(f, 0, "zero");
    assert_ok(put, 201);
    assert_no_header(f, put, "ETag");
    assert_no_header(f, put, "Last-Modified");
    assert_no_header(f, put, "Content-MD5");
    assert_non_null(header_of(f, &put, "x-ms-content-crc64"));
    assert_header(f, put, "x-ms-request-server-encrypted", "true");
    assert_ok(stage_block(f, 1, "one"), 201);
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "BlobNotFound");
    list = ask(f, "GET /box/b?comp=blocklist&blocklisttype=all", NULL, NULL);
    assert_no_header(f, list, "ETag");
    assert_header(f, list, "Content-Type", "application/xml");
    assert_list(f, "all",
                "<CommittedBlocks /><UncommittedBlocks>" BLOCK("MA==", "4")
                    BLOCK("MQ==", "3") "</UncommittedBlocks>");

    put = commit(f, "L1 U0 L1",
                 "x-ms-blob-content-type: text/x\nContent-Type: text/y\nx-ms-meta-m: 1");
    assert_ok(put, 201);
    assert_content(f, "onezeroone");
    list = ask(f, "GET /box/b?comp=blocklist", NULL, NULL);
    assert_string_equal(header_of(f, &list, "ETag"), header_of(f, &put, "ETag"));
    assert_header(f, list, "x-ms-blob-content-length", "10");
    assert_list(f, "",
                "<CommittedBlocks>" BLOCK("MQ==", "3") BLOCK("MA==", "4")
                    BLOCK("MQ==", "3") "</CommittedBlocks>");
    assert_list(f, "uncommitted", "<UncommittedBlocks />");
    list = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, list, "Content-Type", "text/x");
    assert_header(f, list, "x-ms-meta-m", "1");
    assert_no_header(f, list, "Content-MD5");
}

/* Rule: each kind of element has its source; what is not named is dropped; nothing changes when a
 * block is missing. rest: Put-Block-List; recorded 400 InvalidBlockList */
static void sources_are_kept_apart(void **state)
{
    struct fixture *f = *state;

    for (unsigned n = 0; n < 3; n++)
        assert_ok(stage_block(f, n, textf(f, "old%u", n)), 201);
    assert_answer(commit(f, "C0", NULL), 400, "InvalidBlockList");
    assert_ok(commit(f, "L0 L1 L2", NULL), 201);
    assert_ok(stage_block(f, 0, "new0"), 201);
    assert_ok(stage_block(f, 3, "new3"), 201);
    assert_content(f, "old0old1old2");
    assert_answer(commit(f, "C3", NULL), 400, "InvalidBlockList");
    assert_answer(commit(f, "U1", NULL), 400, "InvalidBlockList");
    assert_answer(commit(f, "L4", NULL), 400, "InvalidBlockList");
    assert_answer(commit(f, "L0 C0", NULL), 400, "InvalidBlockList");
    assert_ok(commit(f, "C0 L3 C2", NULL), 201);
    assert_content(f, "old0new3old2");
    assert_answer(commit(f, "U0", NULL), 400, "InvalidBlockList");
    assert_ok(stage_block(f, 0, "NEW0"), 201);
    assert_ok(commit(f, "L0 L2", NULL), 201);
    assert_content(f, "NEW0old2");
    assert_ok(commit(f, "", NULL), 201);
    assert_content(f, "");
}

/* Rule: the last block staged under an id wins; Put Blob and Delete Blob drop what is staged.
 * semantics 5 */
static void staged_blocks_are_replaced_and_dropped(void **state)
{
    struct fixture *f = *state;

    assert_ok(stage_block(f, 0, "first"), 201);
    assert_ok(stage_block(f, 0, "second"), 201);
    assert_ok(commit(f, "L0", NULL), 201);
    assert_content(f, "second");
    assert_ok(stage_block(f, 1, "staged"), 201);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "whole"), 201);
    assert_list(f, "all", "<CommittedBlocks /><UncommittedBlocks />");
    assert_ok(stage_block(f, 1, "staged"), 201);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_answer(commit(f, "L1", NULL), 400, "InvalidBlockList");
    assert_ok(stage_block(f, 2, "staged"), 201);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_answer(ask(f, "GET /box/b?comp=blocklist", NULL, NULL), 404, "BlobNotFound");
}

/* Rule: staging changes neither the blob nor its ETag. semantics 0.5 */
static void staging_leaves_the_etag(void **state)
{
    struct fixture *f = *state;
    struct reply before, after;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "whole"), 201);
    before = ask(f, "HEAD /box/b", NULL, NULL);
    assert_ok(stage_block(f, 0, "staged"), 201);
    after = ask(f, "HEAD /box/b", NULL, NULL);
    assert_string_equal(header_of(f, &before, "ETag"), header_of(f, &after, "ETag"));
    assert_content(f, "whole");
}

/* Rule: an id is base64 of 1 to 64 bytes, of one length for all staged blocks.
 * rest: Put-Block "blockid" */
static void ids_are_checked(void **state)
{
    char digits[90];
    struct fixture *f = *state;

    assert_answer(ask(f, "PUT /box/b?comp=block", NULL, "x"), 400, "MissingRequiredQueryParameter");
    assert_answer(ask(f, "PUT /box/b?comp=block&blockid=", NULL, "x"), 400,
                  "MissingRequiredQueryParameter");
    assert_answer(ask(f, "PUT /box/b?comp=block&blockid=abc", NULL, "x"), 400,
                  "InvalidQueryParameterValue");
    memset(digits, 'A', 88);
    digits[88] = 0; /* 66 bytes */
    assert_answer(askf(f, NULL, "x", "PUT /box/b?comp=block&blockid=%s", digits), 400,
                  "OutOfRangeInput");
    digits[84] = 0; /* 63 */
    assert_ok(askf(f, NULL, "x", "PUT /box/b?comp=block&blockid=%s", digits), 201);
    assert_answer(stage_block(f, 0, "x"), 400, "InvalidBlobOrBlock");
    assert_answer(ask(f, "PUT /box/e?comp=block&blockid=MA%3D%3D", NULL, ""), 400,
                  "InvalidHeaderValue");
}

/* Rule: the list is XML of the form the reference gives, and of nothing else.
 * rest: Put-Block-List */
static void lists_are_checked(void **state)
{
    static const struct {
        const char *body, *code;
    } rows[] = {
        { "", "InvalidXmlDocument" },
        { "<BlockList>", "InvalidXmlDocument" },
        { "<Blocks/>", "InvalidXmlDocument" },
        { "<BlockList><Newest>MA==</Newest></BlockList>", "InvalidXmlDocument" },
        { "<BlockList><Latest><x/>MA==</Latest></BlockList>", "InvalidXmlDocument" },
        { "<BlockList><Latest>not base64</Latest></BlockList>", "InvalidBlockId" },
        { "<BlockList><Latest></Latest></BlockList>", "InvalidBlockId" },
        { "<!DOCTYPE x><BlockList/>", "InvalidXmlDocument" },
    };
    struct fixture *f = *state;

    assert_ok(stage_block(f, 0, "zero"), 201);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_answer(ask(f, "PUT /box/b?comp=blocklist", NULL, rows[i].body), 400, rows[i].code);
    assert_ok(ask(f, "PUT /box/b?comp=blocklist", NULL,
                  "<BlockList>\n  <Latest> MA== </Latest>\n</BlockList>"),
              201);
    assert_answer(ask(f, "GET /box/b?comp=blocklist&blocklisttype=some", NULL, NULL), 400,
                  "InvalidQueryParameterValue");
    assert_answer(commit(f, "L0", "If-None-Match: *"), 409, "BlobAlreadyExists");
}

/* Rule: 50,000 blocks make a blob, one more is too many. semantics 10.1 */
static void list_length_is_limited(void **state)
{
    enum { MAX = 50000 };
    static const char entry[] = "<Latest>MA==</Latest>";
    struct fixture *f = *state;
    size_t each = sizeof entry - 1;
    char *list = malloc(64 + (MAX + 1) * each), *at = list;
    struct reply got;

    assert_ok(stage_block(f, 0, "0"), 201);
    at = stpcpy(at, "<BlockList>");
    for (unsigned i = 0; i < MAX; i++)
        at = stpcpy(at, entry);
    stpcpy(stpcpy(at, entry), "</BlockList>");
    assert_answer(ask(f, "PUT /box/b?comp=blocklist", NULL, list), 400, "BlockListTooLong");
    stpcpy(at, "</BlockList>");
    assert_ok(ask(f, "PUT /box/b?comp=blocklist", NULL, list), 201);
    free(list);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_int_equal(got.response->body_length, MAX);
    got = ask(f, "GET /box/b", "Range: bytes=49998-", NULL);
    assert_body(got, "00");
}

/* Lets the total say that as many blocks are staged as there may be, where there is one. */
static void pretend_all_are_staged(struct fixture *f, struct arena *arena)
{
    struct read_view *snapshot = open_blob(f);
    struct uncommitted total = { .count = UNCOMMITTED_BLOCKS_MAX, .id_length = 1 };
    struct body body = { .length = 1, .inline_bytes = BYTES("x") };
    struct changes *changes = changes_new(arena);
    uint64_t sequence;

    assert_int_equal(uncommitted_put(snapshot, changes, arena, &total, clock_now(),
                                     bytes_from_string(ids[0]), &body, bytes_of(NULL, 0)),
                     STORE_OK);
    assert_int_equal(store_commit(store_of(f), &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
}

/* Rule: 100,000 staged blocks are the most; one of them may still be replaced. rest: Put-Block */
static void staged_count_is_limited(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new(1 << 20);

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "whole"), 201);
    assert_ok(stage_block(f, 0, "first"), 201);
    pretend_all_are_staged(f, arena);
    assert_answer(stage_block(f, 1, "new"), 409, "BlockCountExceedsLimit");
    assert_ok(stage_block(f, 0, "again"), 201);
    arena_free(arena);
}

/* Rule: what one block may hold grew with the versions. semantics 10.1 */
static void block_size_is_limited_by_version(void **state)
{
    const size_t size = (4 << 20) + 1;
    const char *target = "PUT /box/b?comp=block&blockid=MA%3D%3D";
    struct fixture *f = *state;
    char *content = calloc(1, size);
    struct reply got;

    got = ask_bytes(f, target, "x-ms-version: 2015-12-11", bytes_of(content, size));
    assert_answer(got, 413, "RequestBodyTooLarge");
    assert_non_null(memmem(got.body.ptr, got.body.len, "<MaxLimit>4194304</MaxLimit>", 28));
    assert_ok(ask_bytes(f, target, "x-ms-version: 2015-12-11", bytes_of(content, size - 1)), 201);
    assert_ok(ask_bytes(f, target, "x-ms-version: 2016-05-31", bytes_of(content, size)), 201);
    free(content);
}

/* Rule: blocks are over a week after the last Put Block: unseen at once, gone with the next change.
 * rest: Put-Block "Remarks"; decision: 14 */
static void blocks_end_after_a_week(void **state)
{
    const uint64_t week = 7ull * 24 * 3600 * TICKS_PER_SECOND;
    struct fixture *f = *state;
    char *large = calloc(1, 100000);

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "whole"), 201);
    assert_ok(ask_bytes(f, "PUT /box/b?comp=block&blockid=MA%3D%3D", NULL, bytes_of(large, 100000)),
              201);
    assert_ok(ask_bytes(f, "PUT /box/u?comp=block&blockid=MA%3D%3D", NULL, bytes_of(large, 100000)),
              201);
    free(large);
    assert_int_equal(bytes_kept(f), 200000);
    clock_advance(week + TICKS_PER_SECOND);
    assert_list(f, "all", "<CommittedBlocks /><UncommittedBlocks />");
    assert_answer(ask(f, "GET /box/u?comp=blocklist", NULL, NULL), 404, "BlobNotFound");
    assert_answer(commit(f, "L0", NULL), 400, "InvalidBlockList");
    /* An id of another length, and the same one: neither meets the old block. */
    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=AAAA", NULL, "x"), 201);
    assert_ok(ask(f, "PUT /box/u?comp=block&blockid=MA%3D%3D", NULL, "x"), 201);
    assert_list(f, "uncommitted", "<UncommittedBlocks>" BLOCK("AAAA", "1") "</UncommittedBlocks>");
    assert_int_equal(bytes_kept(f), 0);
}

static void assert_no_tasks(struct fixture *f)
{
    struct arena *arena = arena_new(1 << 20);
    struct deferred_task item;
    instant due;

    fixture_run_due(f);
    assert_int_equal(store_task_next(store_of(f), clock_now(), NULL, arena, &item, &due),
                     STORE_NOT_FOUND);
    assert_int_equal(due, INSTANT_MAX);
    arena_free(arena);
}

/* Rule: what is to be done in a week is forgotten with the blocks that it is about: when their list is
 * committed, the blob is overwritten or deleted. decision: 247 */
static void item_goes_with_its_set(void **state)
{
    struct fixture *f = *state;

    assert_ok(stage_block(f, 0, "one"), 201);
    assert_ok(stage_block(f, 1, "two"), 201);
    assert_ok(commit(f, "L0", NULL), 201);
    assert_no_tasks(f);
    assert_ok(stage_block(f, 0, "one"), 201);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "whole"), 201);
    assert_no_tasks(f);
    assert_ok(stage_block(f, 0, "one"), 201);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_no_tasks(f);
}

/* Rule: expired blocks are deleted when nobody touches the blob any more; a set that was added to
 * since is put off, and one that was committed is left alone. rest: Put-Block "Remarks" */
static void expired_blocks_are_deleted(void **state)
{
    const uint64_t day = 24ull * 3600 * TICKS_PER_SECOND;
    struct fixture *f = *state;
    char *large = calloc(1, 100000);
    struct bytes block = bytes_of(large, 100000);
    struct read_view *snapshot;
    struct blob blob;
    struct arena *arena = arena_new(1 << 20);

    assert_ok(ask(f, "PUT /box/w", PUT_HEADERS, "whole"), 201);
    assert_ok(ask_bytes(f, "PUT /box/w?comp=block&blockid=MA%3D%3D", NULL, block), 201);
    assert_ok(ask_bytes(f, "PUT /box/b?comp=block&blockid=MA%3D%3D", NULL, block), 201);
    assert_ok(ask_bytes(f, "PUT /box/u?comp=block&blockid=MA%3D%3D", NULL, block), 201);
    assert_ok(commit(f, "L0", NULL), 201);
    clock_advance(4 * day);
    assert_ok(ask_bytes(f, "PUT /box/u?comp=block&blockid=MQ%3D%3D", NULL, block), 201);
    clock_advance(4 * day);
    assert_int_equal(bytes_kept(f), 400000);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 300000);
    assert_body(ask(f, "GET /box/w", NULL, NULL), "whole");
    clock_advance(4 * day);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 100000);
    /* What was nothing but blocks has no record any more; what was committed stays. */
    assert_answer(ask(f, "DELETE /box/u", NULL, NULL), 404, "BlobNotFound");
    snapshot = open_blob(f);
    assert_int_equal(blob_read(snapshot, arena, blob_base, &blob), STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
    free(large);
}

/* Rule: the bytes of blocks go when nobody holds them any more, and not before. content.h */
static void pieces_are_shared_and_given_back(void **state)
{
    struct fixture *f = *state;
    char *large = calloc(1, 100000);
    struct bytes block = bytes_of(large, 100000);
    struct reply taken;

    assert_ok(ask_bytes(f, "PUT /box/b?comp=block&blockid=MA%3D%3D", NULL, block), 201);
    assert_ok(ask_bytes(f, "PUT /box/b?comp=block&blockid=MQ%3D%3D", NULL, block), 201);
    assert_ok(commit(f, "L0 L1 L0", NULL), 201);
    assert_int_equal(bytes_kept(f), 200000);
    taken = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    assert_ok(taken, 201);
    assert_ok(commit(f, "C1", NULL), 201);
    assert_int_equal(bytes_kept(f), 200000);
    assert_ok(
        askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", header_of(f, &taken, "x-ms-snapshot")),
        202);
    assert_int_equal(bytes_kept(f), 100000);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_int_equal(bytes_kept(f), 0);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_are_staged_and_committed, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(sources_are_kept_apart, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(staged_blocks_are_replaced_and_dropped, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(staging_leaves_the_etag, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(ids_are_checked, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(lists_are_checked, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(list_length_is_limited, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(staged_count_is_limited, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(block_size_is_limited_by_version, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(blocks_end_after_a_week, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(item_goes_with_its_set, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(expired_blocks_are_deleted, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(pieces_are_shared_and_given_back, fixture_setup,
                                        fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
