/* Every cell of the lease matrix, which is kept as data: what was observed of the real service for
 * each action, id and state. semantics 3.2-3.4; rest: Lease-Blob, Lease-Container */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>

#include "concurrency/lease.h"

#define MATRIX "/tests/unit/concurrency/lease-matrix.json"

/* A tick within a second, so that nothing is exact by chance. */
#define NOW    (63705000000ull * TICKS_PER_SECOND + 7654321)
#define SECOND TICKS_PER_SECOND

static const struct guid A = { { 0xA } }, B = { { 0xB } }, C = { { 0xC } }, X = { { 0xD } };

/* ---- leases in each state ---- */

struct sample {
    const char *state; /* first word of the matrix's label */
    const char *kind;  /* second word, where the label has one */
    struct lease lease;
};

static const struct sample samples[] = {
    { "available", NULL, { .kind = 0 } },
    { "leased", "infinite", { { { 0xA } }, 1, LEASE_INFINITE, 0 } },
    { "leased", "fixed", { { { 0xA } }, 1, 60, NOW + 20 * SECOND } },
    { "breaking", NULL, { { { 0xA } }, 2, LEASE_INFINITE, NOW + 10 * SECOND } },
    { "breaking", NULL, { { { 0xA } }, 2, 60, NOW + 20 * SECOND } },
    { "broken", NULL, { { { 0xA } }, 2, LEASE_INFINITE, NOW } },
    { "broken", NULL, { { { 0xA } }, 2, 60, NOW - 30 * SECOND } },
    { "expired", NULL, { { { 0xA } }, 1, 15, NOW } },
    { "expired", NULL, { { { 0xA } }, 1, 60, NOW - 30 * SECOND } },
};
#define SAMPLES (sizeof samples / sizeof samples[0])

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Is the label about this lease? "leased" is about both kinds of it, "leased fixed" about one. */
static bool is_about(const char *label, const struct sample *sample)
{
    const char *rest = label + strlen(sample->state);

    if (!begins_with(label, sample->state))
        return false;
    return *rest == '\0' || *rest == '-' || (sample->kind && strcmp(rest + 1, sample->kind) == 0);
}

/* ---- reading the matrix ---- */

struct cell {
    const char *row;   /* action, or use */
    const char *ids;   /* label of the ids */
    const char *state; /* label of the state */
    const char *code;  /* NULL: it goes well */
    int status;        /* 0: "ok" */
    const char *then;  /* what the lease is afterwards, or NULL */
};

static json_t *matrix_load(void)
{
    json_error_t error;
    json_t *matrix = json_load_file(SOURCE_ROOT MATRIX, 0, &error);

    if (!matrix)
        fail_msg("%s: %s", SOURCE_ROOT MATRIX, error.text);
    return matrix;
}

typedef unsigned cell_fn(const struct cell *cell);

/* Runs `check` for each cell; it tells how many cases it tried. Every cell must have some. */
static unsigned each_cell(json_t *matrix, const char *part, cell_fn *check)
{
    const char *row, *ids, *state;
    json_t *rows, *columns, *values;
    unsigned cells = 0;

    json_object_foreach(json_object_get(matrix, part), row, rows)
    {
        json_object_foreach(rows, ids, columns)
        {
            json_object_foreach(columns, state, values)
            {
                const struct cell cell = {
                    row,
                    ids,
                    state,
                    json_string_value(json_array_get(values, 1)),
                    (int)json_integer_value(json_array_get(values, 0)),
                    json_string_value(json_array_get(values, 2)),
                };

                if (check(&cell) == 0)
                    fail_msg("%s, %s, %s: nothing was tried", row, ids, state);
                cells++;
            }
        }
    }
    return cells;
}

/* ---- lease actions ---- */

static bool in_state(const struct lease *lease, const char *name, const struct guid *id)
{
    return strcmp(lease_state_text(lease, NOW), name) == 0 && (!id || guid_equal(&lease->id, id));
}

/* "leased(A), clock reset", "available", "breaking for the remaining time", "unchanged". */
static bool is_then(const char *then, const struct lease *before, const struct lease *after)
{
    static const struct {
        const char *word, *state;
        const struct guid *id;
    } words[] = {
        { "available", "available", NULL }, { "leased(A)", "leased", &A },
        { "leased(B)", "leased", &B },      { "leased(X)", "leased", &X },
        { "breaking", "breaking", &A },     { "broken", "broken", &A },
        { "expired(A)", "expired", &A },
    };

    if (begins_with(then, "unchanged"))
        return memcmp(before, after, sizeof *before) == 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (begins_with(then, words[i].word))
            return in_state(after, words[i].state, words[i].id);
    }
    fail_msg("what is \"%s\"?", then);
    return false;
}

static void check_case(const struct cell *cell, const struct lease *before, const char *code,
                       const struct lease_request *request)
{
    struct lease after = *before;
    struct lease_result result = { 0 };
    enum error e = lease_perform(LEASE_OF_BLOB, &after, request, NOW, &result);
    bool is_right;

    if (code)
        is_right = begins_with(code, error_code(e)) && e && error_status(e) == cell->status &&
                   memcmp(before, &after, sizeof after) == 0;
    else
        is_right = !e && result.status == cell->status;
    if (!is_right || !is_then(cell->then, before, &after))
        fail_msg("%s, %s, %s (duration %d): %s %d, %s", cell->row, cell->ids, cell->state,
                 before->duration_s, error_code(e), result.status, lease_state_text(&after, NOW));
}

struct given {
    const char *ids; /* label of the matrix */
    const struct guid *id, *proposed;
    int32_t break_period_s;
    bool says_when; /* the cell's second code is meant: "...; CODE when it is" */
};

/* What the labels of ids stand for; "any" is tried with the id and with another one. */
static const struct given givens[] = {
    { "no-id", NULL, NULL, -1, false },
    { "A", &A, &A, -1, false },
    { "B", &B, &B, -1, false },
    { "A->B", &A, &B, -1, false },
    { "any->A (proposed equals the id in force)", &B, &A, -1, false },
    { "any->A (proposed equals the id in force)", &A, &A, -1, true },
    { "B->C", &B, &C, -1, false },
    { "no period", NULL, NULL, -1, false },
    { "period 0", NULL, NULL, 0, false },
    { "period N (1..60)", NULL, NULL, 1, false },
    { "period N (1..60)", NULL, NULL, 60, false },
};

static enum lease_action action_of(const char *row)
{
    static const char *const names[LEASE_ACTIONS] = { "acquire", "renew", "change", "release",
                                                      "break" };

    for (unsigned i = 0; i < LEASE_ACTIONS; i++) {
        if (strcmp(row, names[i]) == 0)
            return (enum lease_action)i;
    }
    fail_msg("what is \"%s\"?", row);
    return LEASE_ACTIONS;
}

/* A broken lease that is broken "for N" stays broken: the cell's text says so. */
static unsigned check_action(const struct cell *cell)
{
    bool is_modified = strstr(cell->state, "-then-modified");
    unsigned tried = 0;

    for (size_t i = 0; i < sizeof givens / sizeof givens[0]; i++) {
        const struct given *given = &givens[i];
        const char *second = cell->code && given->says_when ? strstr(cell->code, "; ") : NULL;
        const struct lease_request request = {
            action_of(cell->row), given->id, given->proposed, X, 30, given->break_period_s
        };

        for (size_t k = 0; k < SAMPLES && strcmp(given->ids, cell->ids) == 0; k++) {
            struct lease before = samples[k].lease;

            if (!is_about(cell->state, &samples[k]))
                continue;
            if (is_modified)
                lease_forget_if_ended(&before, NOW);
            check_case(cell, &before, second ? second + 2 : cell->code, &request);
            tried++;
        }
    }
    return tried;
}

/* Rule: a lease action in each state gets the status, the code and the next state of the matrix.
 * semantics 3.2 */
static void every_action(void **state)
{
    json_t *matrix = matrix_load();

    (void)state;
    assert_int_equal(each_cell(matrix, "leaseOperations", check_action), 67);
    json_decref(matrix);
}

/* ---- using what is leased ---- */

struct use {
    const char *row; /* how the matrix's label begins */
    enum error (*check)(enum lease_resource of, const struct lease *lease, const struct guid *given,
                        instant now);
    enum lease_resource of;
    const char *open; /* the code taken where the matrix says that it is open: decision: 3 */
};

static const struct use uses[] = {
    { "blob write", lease_check_write, LEASE_OF_BLOB, "LeaseIdMismatchWithBlobOperation" },
    { "blob read", lease_check_read, LEASE_OF_BLOB, "LeaseIdMismatchWithBlobOperation" },
    { "container delete", lease_check_write, LEASE_OF_CONTAINER,
      "LeaseIdMismatchWithContainerOperation" },
    { "container other", lease_check_read, LEASE_OF_CONTAINER,
      "LeaseIdMismatchWithContainerOperation" },
};

static void check_use_case(const struct cell *cell, const struct use *use,
                           const struct lease *before)
{
    const struct guid *id = strcmp(cell->ids, "A") == 0 ? &A : &B;
    bool has_id = strcmp(cell->ids, "no id") != 0;
    const char *code = cell->code && strstr(cell->code, "OPEN") ? use->open : cell->code;
    enum error e = use->check(use->of, before, has_id ? id : NULL, NOW);
    struct lease after = *before;

    if (strcmp(error_code(e), code ? code : "") != 0 || (e && error_status(e) != cell->status))
        fail_msg("%s, %s, %s: %s", cell->row, cell->ids, cell->state, error_code(e));
    lease_forget_if_ended(&after, NOW);
    if (cell->then && begins_with(cell->then, "lease forgotten"))
        assert_true(in_state(&after, "available", NULL));
}

static unsigned check_use(const struct cell *cell)
{
    unsigned tried = 0;

    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        for (size_t k = 0; k < SAMPLES && begins_with(cell->row, uses[i].row); k++) {
            if (!is_about(cell->state, &samples[k]))
                continue;
            check_use_case(cell, &uses[i], &samples[k].lease);
            tried++;
        }
    }
    return tried;
}

/* Rule: operations on what is leased get the answer of the matrix. semantics 3.3, 3.4 */
static void every_use(void **state)
{
    json_t *matrix = matrix_load();

    (void)state;
    assert_int_equal(each_cell(matrix, "useAttempts", check_use), 60);
    json_decref(matrix);
}

/* ---- what is visible ---- */

/* Rule: status, state and duration in headers and lists. semantics 3.2 "Visible" */
static void every_visible_state(void **state)
{
    json_t *matrix = matrix_load();
    json_t *visible = json_object_get(matrix, "visible");
    const char *label;
    json_t *values;

    (void)state;
    assert_int_equal(json_object_size(visible), 6);
    json_object_foreach(visible, label, values)
    {
        unsigned tried = 0;

        for (size_t k = 0; k < SAMPLES; k++) {
            const struct lease *lease = &samples[k].lease;
            const char *duration = json_string_value(json_array_get(values, 2));
            const char *got = lease_duration_text(lease, NOW);

            if (!is_about(label, &samples[k]))
                continue;
            assert_string_equal(lease_status_text(lease, NOW),
                                json_string_value(json_array_get(values, 0)));
            assert_string_equal(lease_state_text(lease, NOW),
                                json_string_value(json_array_get(values, 1)));
            assert_string_equal(got ? got : "", duration ? duration : "");
            tried++;
        }
        assert_true(tried > 0);
    }
    json_decref(matrix);
}

/* Rule: the copy here is the shared definition, where that is at hand. */
static void the_copy_is_the_shared_one(void **state)
{
    const char *shared = getenv("LAGRA_TEST_SHARED");
    char path[4096];
    json_t *ours, *theirs;

    (void)state;
    snprintf(path, sizeof path, "%s/spec/lease-matrix.json",
             shared ? shared : SOURCE_ROOT "/../shared");
    theirs = json_load_file(path, 0, NULL);
    if (!theirs) {
        print_message("%s is not there\n", path);
        skip();
    }
    ours = matrix_load();
    assert_true(json_equal(ours, theirs));
    json_decref(ours);
    json_decref(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_action),
        cmocka_unit_test(every_use),
        cmocka_unit_test(every_visible_state),
        cmocka_unit_test(the_copy_is_the_shared_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
