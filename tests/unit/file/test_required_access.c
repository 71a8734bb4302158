/* Operations of REST beside what SMB clients have open: each row passes the open state as its column says. Handles
 * are made at the open state. semantics 8.2, 8.3 */
#include "fixture.h"

#include "file/file.h"
#include "opens/open_state.h"
#include "service/deciding.h"
#include "service/names.h"

#define R ACCESS_READ
#define W ACCESS_WRITE
#define D ACCESS_DELETE

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &file_service);
    assert_ok(ask(*state, "PUT /sha?restype=share", NULL, NULL), 201);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

/* A decision about the file "f" of the share alone. */
struct at_gate {
    struct arena *arena;
    struct problem problem;
    struct decision d;
    struct tree tree;
    struct open_state opens;
};

static void begin(struct fixture *f, struct at_gate *at)
{
    struct reply head = ask(f, "HEAD /sha/f", NULL, NULL);
    struct partition of = { account_space("file", bytes_from_string("devstoreaccount1")),
                            BYTES("sha") };
    struct read_view *snapshot = read_view_open(store_of(f), of, STORE_MAY_BLOCK);
    struct share share;
    uint64_t id;

    assert_ok(head, 200);
    assert_true(
        bytes_parse_u64(bytes_from_string(header_of(f, &head, "x-ms-file-id")), UINT64_MAX, &id));
    *at = (struct at_gate){ .arena = arena_new(1 << 20) };
    assert_int_equal(share_read(snapshot, at->arena, share_itself, &share), STORE_OK);
    read_view_close(snapshot);
    at->d = (struct decision){
        .arena = at->arena, .store = store_of(f), .access = STORE_MAY_BLOCK, .problem = &at->problem
    };
    at->d.changes = changes_new(at->arena);
    decision_open(&at->d, tree_partition(at->arena, share.space, id), NULL);
    decision_read_clock(&at->d);
    at->tree.d = &at->d;
    assert_int_equal(open_state_read(&at->opens, &at->tree, &at->d.parts[0], id), OK);
}

static void end(struct at_gate *at)
{
    if (!deciding_is_empty(&at->d))
        assert_int_equal(deciding_commit(&at->d), OK);
    deciding_end(&at->d);
    arena_free(at->arena);
}

static uint64_t open_file(struct fixture *f, uint8_t access, uint8_t share)
{
    struct open_state_open asked = { .access = access,
                                     .share = share,
                                     .meets = MEETS_ALL,
                                     .caching_key = guid_new(),
                                     .client_name = BYTES("client") };
    struct caching_given given;
    struct at_gate at;
    struct handle handle;

    begin(f, &at);
    assert_int_equal(open_state_open(&at.opens, &asked, &handle, &given), OK);
    end(&at);
    return handle.id;
}

static const struct {
    char letter; /* of the documented table; - : never refused by sharing */
    const char *target, *headers, *body;
} requests[] = {
    { 'G', "GET /sha/f", NULL, NULL },
    { 'G', "GET /sha/f?comp=rangelist", NULL, NULL },
    { '-', "HEAD /sha/f", NULL, NULL },
    { '-', "GET /sha/f?comp=metadata", NULL, NULL },
    { 'S', "PUT /sha/f?comp=metadata", "x-ms-meta-a: b", NULL },
    { 'S', "PUT /sha/f?comp=properties", "x-ms-content-length: 10", NULL },
    { 'S', "PUT /sha/f?comp=range", "x-ms-write: update\nx-ms-range: bytes=0-0", "x" },
    { 'S', "PUT /sha/f?comp=range", "x-ms-write: clear\nx-ms-range: bytes=0-0", NULL },
    { 'L', "PUT /sha/f?comp=lease", "x-ms-lease-action: acquire\nx-ms-lease-duration: -1", NULL },
    { '-', "PUT /sha/f?comp=lease", "x-ms-lease-action: break", NULL },
    { 'C', "PUT /sha/f", "x-ms-type: file\nx-ms-content-length: 10", NULL },
    { 'D', "DELETE /sha/f", NULL, NULL },
};
#define REQUESTS (sizeof requests / sizeof requests[0])

static void create(struct fixture *f)
{
    assert_ok(ask(f, "PUT /sha/f", "x-ms-type: file\nx-ms-content-length: 10", NULL), 201);
}

/* Rule: the documented table of share modes, by the rows. semantics 8.2 */
static void share_modes(void **state)
{
    static const struct {
        uint8_t share;
        const char *failing;
    } rows[] = {
        { 0, "CGSDL" },   { R, "CSDL" },     { W, "CGDL" },    { D, "CGSDL" },
        { R | W, "CDL" }, { R | D, "CSDL" }, { W | D, "GDL" }, { R | W | D, "D" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t j = 0; j < REQUESTS; j++) {
            bool fails = strchr(rows[i].failing, requests[j].letter) != NULL;
            struct reply answer;

            create(f);
            open_file(f, R, rows[i].share);
            answer = ask(f, requests[j].target, requests[j].headers, requests[j].body);
            assert_int_equal(strcmp(answer.code, "SharingViolation") == 0, fails);
            open_epoch_begin(); /* as if its process had ended */
            (void)ask(f, "PUT /sha/f?comp=lease", "x-ms-lease-action: break", NULL);
            assert_ok(ask(f, "DELETE /sha/f", NULL, NULL), 202);
        }
    }
}

/* Rule: while a delete is pending, every operation on the file is refused. semantics 8.3 */
static void delete_pending(void **state)
{
    struct fixture *f = *state;
    struct at_gate at;
    uint64_t handle;

    create(f);
    handle = open_file(f, D, R | W | D);
    begin(f, &at);
    assert_int_equal(open_state_set_delete_pending(&at.opens, handle, true), OK);
    end(&at);
    for (size_t j = 0; j < REQUESTS; j++)
        assert_answer(ask(f, requests[j].target, requests[j].headers, requests[j].body), 409,
                      "DeletePending");
    open_epoch_begin();
    assert_ok(ask(f, "GET /sha/f", NULL, NULL), 200);
}

/* Rule: locks against Get File, and all that writes bytes. decision: 337, 490 */
static void locks(void **state)
{
    struct fixture *f = *state;
    struct byte_lock wanted = { .range = { 4, 2 }, .is_exclusive = true };
    struct at_gate at;
    uint64_t handle;

    create(f);
    handle = open_file(f, R, R | W | D);
    begin(f, &at);
    wanted.owner = handle;
    assert_int_equal(open_state_lock(&at.opens, handle, &wanted, 1), OK);
    end(&at);
    assert_answer(ask(f, "GET /sha/f", NULL, NULL), 409, "FileLockConflict");
    assert_ok(ask(f, "GET /sha/f", "x-ms-range: bytes=0-3", NULL), 206);
    assert_answer(ask(f, "GET /sha/f", "x-ms-range: bytes=5-9", NULL), 409, "FileLockConflict");
    for (size_t j = 6; j < 8; j++)
        assert_answer(ask(f, requests[j].target, requests[j].headers, requests[j].body), 409,
                      "FileLockConflict");
    assert_answer(ask(f, "PUT /sha/f", "x-ms-type: file\nx-ms-content-length: 10", NULL), 409,
                  "FileLockConflict");
    assert_answer(ask(f, "PUT /sha/f?comp=properties", "x-ms-content-length: 9", NULL), 409,
                  "FileLockConflict");
    assert_ok(ask(f, "PUT /sha/f?comp=properties", "x-ms-content-length: 10", NULL), 200);
    assert_ok(ask(f, "PUT /sha/f?comp=metadata", "x-ms-meta-a: b", NULL), 200);
}

/* Rule: a file that Create File writes over keeps its handles. decision: 338 */
static void handles_follow(void **state)
{
    struct fixture *f = *state;
    struct at_gate at;
    uint64_t handle;
    bool deletes;

    create(f);
    handle = open_file(f, R, W | D);
    create(f);
    assert_answer(ask(f, "GET /sha/f", NULL, NULL), 409, "SharingViolation");
    begin(f, &at);
    assert_int_equal(open_state_close(&at.opens, handle, false, &deletes), OK);
    end(&at);
    assert_ok(ask(f, "GET /sha/f", NULL, NULL), 200);
}

/* Rule: no row of what is in a share is built without the column, but those that refuse whatever is asked. */
static void no_row_forgets(void **state)
{
    (void)state;
    for (size_t i = 0; i < file_service.operation_count; i++) {
        const struct operation *row = &file_service.operations[i];

        if (row->functions && row->ok[0] != 0 && row->level != LEVEL_ANY &&
            row->level >= LEVEL_ROOT)
            assert_in_range(row->passes, 1, REST_USES);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- List Handles, Force Close Handles ---- */

static void body_has(const struct reply *answer, const char *text)
{
    assert_non_null(memmem(answer->body.ptr, answer->body.len, text, strlen(text)));
}

static void closed(struct fixture *f, const char *target, const char *headers, const char *count)
{
    struct reply answer = ask(f, target, headers, NULL);

    assert_ok(answer, 200);
    assert_string_equal(header_of(f, &answer, "x-ms-number-of-handles-closed"), count);
    assert_string_equal(header_of(f, &answer, "x-ms-number-of-handles-failed"), "0");
}

/* The element is in lists of handles of versions since that one, and in none before. */
static void follows_version(struct fixture *f, const char *element, const char *before,
                            const char *since)
{
    struct reply page =
        ask(f, "GET /sha/f?comp=listhandles", textf(f, "x-ms-version: %s", before), NULL);

    assert_ok(page, 200);
    assert_null(memmem(page.body.ptr, page.body.len, element, strlen(element)));
    page = ask(f, "GET /sha/f?comp=listhandles", textf(f, "x-ms-version: %s", since), NULL);
    body_has(&page, element);
}

static const char close_one[] = "x-ms-handle-id: %llu";
static const char close_all[] = "x-ms-handle-id: *";
static const char close_below[] = "x-ms-handle-id: *\nx-ms-recursive: true";
static const char below[] = "x-ms-recursive: true";

/* Rule: what is open of a file is listed of it and, if asked, of the directories above it, page by page; what
 * a process that has ended had open is not. semantics 8.1; decision: 340 */
static void lists_handles(void **state)
{
    struct fixture *f = *state;
    struct reply page;
    const char *at;

    create(f);
    open_file(f, R, R | W | D);
    open_file(f, R | W, R | W | D);
    page = ask(f, "GET /sha/f?comp=listhandles", NULL, NULL);
    assert_ok(page, 200);
    body_has(&page, "<Path>f</Path><FileId>");
    body_has(&page, "<ParentId>0</ParentId>");
    body_has(&page, "<AccessRightList><AccessRight>Read</AccessRight></AccessRightList></Handle>");
    body_has(&page, "<AccessRight>Read</AccessRight><AccessRight>Write</AccessRight>");
    body_has(&page, "</Entries><NextMarker />");
    body_has(&page, "<ClientName>client</ClientName>");
    follows_version(f, "AccessRightList", "2023-01-02", "2023-01-03");
    follows_version(f, "ClientName", "2024-02-03", "2024-02-04");
    page = ask(f, "GET /sha?comp=listhandles", NULL, NULL);
    body_has(&page, "<Entries />");
    page = ask(f, "GET /sha?comp=listhandles&maxresults=1", below, NULL);
    assert_ok(page, 200);
    body_has(&page, "<AccessRight>Read</AccessRight></AccessRightList>");
    at = memmem(page.body.ptr, page.body.len, "<NextMarker>", 12);
    assert_non_null(at);
    page = askf(f, below, NULL, "GET /sha?comp=listhandles&marker=%.*s", 32, at + 12);
    assert_ok(page, 200);
    body_has(&page, "<AccessRight>Read</AccessRight><AccessRight>Write</AccessRight>");
    assert_null(memmem(page.body.ptr, page.body.len, "<AccessRight>Read</AccessRight></", 33));
    body_has(&page, "<NextMarker />");
    assert_answer(ask(f, "GET /sha/f?comp=listhandles", below, NULL), 400, "InvalidHeaderValue");
    assert_ok(ask(f, "PUT /sha/e?restype=directory", NULL, NULL), 201);
    page = ask(f, "GET /sha/e?comp=listhandles", below, NULL);
    body_has(&page, "<Entries />");
    open_epoch_begin();
    page = ask(f, "GET /sha?comp=listhandles", below, NULL);
    body_has(&page, "<Entries />");
}

/* Rule: one handle, those of a file, those below a directory; what is not open is closed 0 times. A file
 * whose delete is pending can be listed, and goes with its last handle. decision: 341 */
static void closes_handles(void **state)
{
    struct fixture *f = *state;
    struct at_gate at;
    struct reply page;
    uint64_t first;

    create(f);
    closed(f, "PUT /sha/f?comp=forceclosehandles", close_all, "0");
    first = open_file(f, R, R | W | D);
    open_file(f, R, R | W | D);
    open_file(f, R, R | W | D);
    closed(f, "PUT /sha/f?comp=forceclosehandles", "x-ms-handle-id: 1", "0");
    closed(f, "PUT /sha?comp=forceclosehandles", close_all, "0");
    closed(f, "PUT /sha/f?comp=forceclosehandles", textf(f, close_one, (unsigned long long)first),
           "1");
    closed(f, "PUT /sha?comp=forceclosehandles", close_below, "2");
    assert_answer(ask(f, "PUT /sha/f?comp=forceclosehandles", close_below, NULL), 400,
                  "InvalidHeaderValue");
    page = ask(f, "GET /sha/f?comp=listhandles", NULL, NULL);
    body_has(&page, "<Entries />");

    first = open_file(f, D, R | W | D);
    begin(f, &at);
    assert_int_equal(open_state_set_delete_pending(&at.opens, first, true), OK);
    end(&at);
    page = ask(f, "GET /sha/f?comp=listhandles", NULL, NULL);
    body_has(&page, "<AccessRight>Delete</AccessRight>");
    closed(f, "PUT /sha?comp=forceclosehandles", close_below, "1");
    assert_answer(ask(f, "HEAD /sha/f", NULL, NULL), 404, "ResourceNotFound");
    create(f);
    assert_ok(ask(f, "DELETE /sha/f", NULL, NULL), 202);
}

/* Rule: caching that a rename has taken away does not come back if the file is both source and destination and its
 * record has stale opens. */
static void renamed_onto_itself(void **state)
{
    const struct durable_handle_state kept = { .ticks = HANDLE_TIMEOUT_TICKS_MAX,
                                               .of_client = BYTES("client") };
    const struct open_state_open asked = { .access = R,
                                           .share = R | W | D,
                                           .caching = CACHING_READ | CACHING_HANDLE,
                                           .caching_key = guid_new(),
                                           .persists = true,
                                           .durable = &kept };
    struct fixture *f = *state;
    struct caching_given given;
    struct handle handle;
    struct at_gate at;

    create(f);
    begin(f, &at);
    assert_int_equal(open_state_open(&at.opens, &asked, &handle, &given), OK);
    end(&at);
    open_file(f, R, R | W | D);
    open_epoch_begin(); /* one is away, the other is stale */
    assert_ok(ask(f, "PUT /sha/f?comp=rename",
                  "x-ms-file-rename-source: http://localhost/devstoreaccount1/sha/f\n"
                  "x-ms-file-rename-replace-if-exists: true",
                  NULL),
              200);
    begin(f, &at);
    assert_int_equal(at.opens.set.open_count, 1);
    assert_int_equal(at.opens.set.stale_count, 0);
    assert_int_equal(at.opens.set.cachings[0].caching.holds, CACHING_READ);
    end(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(share_modes),    TEST(delete_pending), TEST(locks),          TEST(handles_follow),
        TEST(no_row_forgets), TEST(lists_handles),  TEST(closes_handles), TEST(renamed_onto_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
