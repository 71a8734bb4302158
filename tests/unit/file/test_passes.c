/* Operations of REST beside what SMB clients have open: each row passes the gate as its column says. Handles
 * are made at the gate. semantics 8.2, 8.3 */
#include "fixture.h"

#include "file/file.h"
#include "file/gate.h"
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
    struct file_gate gate;
};

static void begin(struct fixture *f, struct at_gate *at)
{
    struct reply head = ask(f, "HEAD /sha/f", NULL, NULL);
    struct partition of = { account_space("file", bytes_from_string("devstoreaccount1")),
                            BYTES("sha") };
    struct snapshot *snapshot = snapshot_open(store_of(f), of, STORE_MAY_BLOCK);
    struct share share;
    uint64_t id;

    assert_ok(head, 200);
    assert_true(
        bytes_parse_u64(bytes_from_string(header_of(f, &head, "x-ms-file-id")), UINT64_MAX, &id));
    *at = (struct at_gate){ .arena = arena_new(1 << 20) };
    assert_int_equal(share_read(snapshot, at->arena, 0, &share), STORE_OK);
    snapshot_close(snapshot);
    at->d = (struct decision){
        .arena = at->arena, .store = store_of(f), .access = STORE_MAY_BLOCK, .problem = &at->problem
    };
    at->d.changes = changes_new(at->arena);
    decision_open(&at->d, tree_partition(at->arena, share.space, id), NULL);
    decision_read_clock(&at->d);
    assert_int_equal(gate_read(&at->gate, &at->d, &at->d.parts[0], id), OK);
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
    struct gate_open asked = { .access = access, .share = share, .caching_key = guid_new() };
    struct at_gate at;
    struct handle handle;
    uint8_t caching;

    begin(f, &at);
    assert_int_equal(gate_open(&at.gate, &asked, &handle, &caching), OK);
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
    assert_int_equal(gate_set_delete_pending(&at.gate, handle, true), OK);
    end(&at);
    for (size_t j = 0; j < REQUESTS; j++)
        assert_answer(ask(f, requests[j].target, requests[j].headers, requests[j].body), 409,
                      "SMBDeletePending");
    open_epoch_begin();
    assert_ok(ask(f, "GET /sha/f", NULL, NULL), 200);
}

/* Rule: locks against Get File and Put Range. decision: 337 */
static void locks(void **state)
{
    struct fixture *f = *state;
    const struct byte_range range = { 4, 2 };
    struct at_gate at;
    uint64_t handle;

    create(f);
    handle = open_file(f, R, R | W | D);
    begin(f, &at);
    assert_int_equal(gate_lock(&at.gate, handle, &range, true), OK);
    end(&at);
    assert_answer(ask(f, "GET /sha/f", NULL, NULL), 409, "FileLockConflict");
    assert_ok(ask(f, "GET /sha/f", "x-ms-range: bytes=0-3", NULL), 206);
    assert_answer(ask(f, "GET /sha/f", "x-ms-range: bytes=5-9", NULL), 409, "FileLockConflict");
    for (size_t j = 6; j < 8; j++)
        assert_answer(ask(f, requests[j].target, requests[j].headers, requests[j].body), 409,
                      "FileLockConflict");
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
    assert_int_equal(gate_close(&at.gate, handle, false, &deletes), OK);
    end(&at);
    assert_ok(ask(f, "GET /sha/f", NULL, NULL), 200);
}

/* Rule: no row of what is in a share is built without the column. */
static void no_row_forgets(void **state)
{
    (void)state;
    for (size_t i = 0; i < file_service.operation_count; i++) {
        const struct operation *row = &file_service.operations[i];

        if (row->functions && row->level != LEVEL_ANY && row->level >= LEVEL_ROOT)
            assert_in_range(row->passes, 1, REST_USES);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(share_modes),    TEST(delete_pending), TEST(locks),
        TEST(handles_follow), TEST(no_row_forgets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
