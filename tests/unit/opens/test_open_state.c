/* The open state over its records: what SMB clients have open of a file, as decisions read, judge and commit it.
 * The rules themselves: tests/unit/concurrency/test_opens.c, test_byte_locks.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/codec.h"
#include "opens/open_state.h"
#include "service/deciding.h"
#include "tree/tree.h"

#define R    ACCESS_READ
#define W    ACCESS_WRITE
#define D    ACCESS_DELETE
#define RW   (ACCESS_READ | ACCESS_WRITE)
#define RWD  ACCESS_ALL
#define C_RH (CACHING_READ | CACHING_HANDLE)
#define C_RW (CACHING_READ | CACHING_WRITE)

#define NODE 7

/* One file, whose tree has no records: a partition. The decision that is under way. */
struct world {
    struct store *store;
    struct tree tree;
    struct guid space;
    struct arena *arena;
    struct arena_mark empty;
    struct problem problem;
    struct input input;
    struct decision d;
    struct open_state opens;
    bool is_leased, is_read_only;
};

static int set_up(void **state)
{
    struct world *w = xcalloc(1, sizeof *w);

    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    open_epoch_begin();
    w->store = store_open_memory();
    w->space = guid_new();
    w->arena = arena_new(64 << 20);
    w->empty = arena_mark(w->arena);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    deciding_end(&w->d);
    store_close(w->store);
    arena_free(w->arena);
    free(w);
    return 0;
}

/* Begins a decision; what waited before goes on if `again`. */
static struct open_state *begin_again(struct world *w, bool again)
{
    instant until = again ? w->d.waits_until : 0;

    deciding_end(&w->d);
    arena_rewind(w->arena, w->empty);
    w->d = (struct decision){ .arena = w->arena,
                              .store = w->store,
                              .access = STORE_MAY_BLOCK,
                              .problem = &w->problem,
                              .input = &w->input,
                              .waits_until = until };
    w->d.changes = changes_new(w->arena);
    decision_open(&w->d, (struct partition){ .space = w->space, .key = BYTES("file") }, NULL);
    decision_read_clock(&w->d);
    w->tree.d = &w->d;
    assert_int_equal(open_state_read(&w->opens, &w->tree, &w->d.parts[0], NODE), OK);
    w->opens.is_leased = w->is_leased;
    w->opens.is_read_only = w->is_read_only;
    return &w->opens;
}

static struct open_state *begin(struct world *w)
{
    return begin_again(w, false);
}

/* Ends it as the server does: what was changed is committed with OK and DECIDE_WAITS. */
static enum error end(struct world *w, enum error e)
{
    if ((e == OK || e == DECIDE_WAITS) && !deciding_is_empty(&w->d))
        assert_int_equal(deciding_commit(&w->d), OK);
    deciding_end(&w->d);
    return e;
}

/* An open with access to data or to delete meets what others cache. */
static enum error try_open(struct world *w, const struct open_state_open *asked,
                           uint64_t *ret_handle, uint8_t *ret_caching)
{
    struct open_state_open open = *asked;
    struct caching_given given = { .holds = 0 };
    struct handle handle = { .id = 0 };
    enum error e;

    open.meets = asked->access ? MEETS_ALL : asked->meets;
    e = open_state_open(begin(w), &open, &handle, &given);
    *ret_handle = handle.id;
    *ret_caching = given.holds;
    return end(w, e);
}

static uint64_t open_with(struct world *w, uint8_t access, uint8_t share)
{
    struct open_state_open asked = { .access = access, .share = share, .caching_key = guid_new() };
    uint64_t handle;
    uint8_t caching;

    assert_int_equal(try_open(w, &asked, &handle, &caching), OK);
    return handle;
}

/* An open of everything that shares everything and caches; its key. */
static struct guid open_caching(struct world *w, uint8_t caching, uint64_t *ret_handle)
{
    struct open_state_open asked = {
        .access = R, .share = RWD, .caching = caching, .caching_key = guid_new()
    };
    uint8_t given;

    assert_int_equal(try_open(w, &asked, ret_handle, &given), OK);
    assert_int_equal(given, caching);
    return asked.caching_key;
}

static enum error answer(struct world *w, const struct guid *key, uint8_t keeps)
{
    const struct break_acknowledgment answer = { .key = *key, .keeps = keeps };

    return end(w, open_state_acknowledge(begin(w), &answer));
}

static enum error close_handle(struct world *w, uint64_t handle, bool by_force, bool *ret_deletes)
{
    return end(w, open_state_close(begin(w), handle, by_force, ret_deletes));
}

static void closes(struct world *w, uint64_t handle)
{
    bool deletes;

    assert_int_equal(close_handle(w, handle, false, &deletes), OK);
    assert_false(deletes);
}

static enum error pass(struct world *w, enum rest_use use)
{
    enum error e = open_state_check_rest(begin(w), use);

    if (!e)
        open_state_write(&w->opens);
    return end(w, e);
}

/* What clients hold now, and what they were asked to go down to, of the only caching. */
static struct file_caching caching_now(struct world *w)
{
    struct file_caching caching;

    begin(w);
    assert_int_equal(w->opens.set.caching_count, 1);
    caching = w->opens.set.cachings[0].caching;
    end(w, OK);
    return caching;
}

static bool is_empty(struct world *w)
{
    struct read_view *before;
    struct record record;
    bool empty;

    begin(w);
    before = w->d.parts[0].before;
    empty = read_view_get(before, RECORD_INNER, bytes_from_string("g"), w->arena, &record) ==
                STORE_NOT_FOUND &&
            read_view_get(before, RECORD_INNER, bytes_from_string("k"), w->arena, &record) ==
                STORE_NOT_FOUND;
    end(w, OK);
    return empty;
}

/* How many entries of the index have a key like this. */
static size_t indexed(struct world *w, const char *prefix)
{
    struct index_iterator *iterator =
        index_iterator_open(w->store, w->space, bytes_from_string(prefix),
                            bytes_from_string(prefix), bytes_from_string(""), STORE_MAY_BLOCK);
    struct index_record record;
    size_t count = 0;

    while (index_iterator_next(iterator, &record) == STORE_OK) {
        struct handle handle;
        uint64_t node;

        assert_true(prefix[0] == 'p' ? pending_decode(record.key, &node)
                                     : handle_decode(record.key, record.value, &handle));
        assert_int_equal(prefix[0] == 'p' ? node : handle.node, NODE);
        count++;
    }
    index_iterator_close(iterator);
    return count;
}

/* ---- share modes ---- */

/* Rule: the documented table, through records. A letter for each kind of operation that fails while a
 * handle is open: Create, Get and List Ranges, Set and Put Range, Delete, Lease, Examine, lists (-), others
 * that only pass (P). semantics 8.2 */
static void share_modes(void **state)
{
    static const struct {
        uint8_t share;
        const char *failing;
    } rows[] = {
        { 0, "CGSDL" },   { R, "CSDL" },     { W, "CGDL" },    { D, "CGSDL" },
        { R | W, "CDL" }, { R | D, "CSDL" }, { W | D, "GDL" }, { R | W | D, "D" },
    };
    static const struct {
        char letter;
        enum rest_use use;
    } columns[] = { { 'C', REST_REPLACES }, { 'G', REST_READS },  { 'S', REST_WRITES },
                    { 'D', REST_DELETES },  { 'L', REST_LEASES }, { 'E', REST_EXAMINES },
                    { '-', REST_LISTS },    { 'P', REST_PASSES } };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t handle = open_with(w, R, rows[i].share);

        for (size_t j = 0; j < sizeof columns / sizeof columns[0]; j++)
            assert_int_equal(pass(w, columns[j].use),
                             strchr(rows[i].failing, columns[j].letter) ? E_SharingViolation : OK);
        closes(w, handle);
        for (size_t j = 0; j < sizeof columns / sizeof columns[0]; j++)
            assert_int_equal(pass(w, columns[j].use), OK);
    }
    assert_true(is_empty(w));
}

/* Rule: an open for attributes alone stands in the way of a delete, and of nothing else. */
static void attributes_alone(void **state)
{
    struct world *w = *state;
    uint64_t handle = open_with(w, 0, 0);

    assert_int_equal(pass(w, REST_REPLACES), OK);
    assert_int_equal(pass(w, REST_LEASES), OK);
    assert_int_equal(pass(w, REST_DELETES), E_SharingViolation);
    closes(w, handle);
    assert_int_equal(pass(w, REST_DELETES), OK);
}

/* Rule: a lease is not taken while a handle may write or delete, whatever it shares; while leased, no handle
 * may be opened to write or delete, alone or with others. semantics 8.2; decision: 331 */
static void leases(void **state)
{
    struct world *w = *state;

    for (uint8_t access = 0; access <= RWD; access++) {
        struct open_state_open asked = { .access = access,
                                         .share = RWD,
                                         .caching_key = guid_new() };
        uint64_t handle = open_with(w, access, RWD);
        uint8_t caching;

        assert_int_equal(pass(w, REST_LEASES), access & (W | D) ? E_SharingViolation : OK);
        closes(w, handle);
        w->is_leased = true;
        assert_int_equal(try_open(w, &asked, &handle, &caching),
                         access & (W | D) ? E_SharingViolation : OK);
        w->is_leased = false;
        if (!(access & (W | D)))
            closes(w, handle);
    }
}

/* Rule: two opens bear each other where each's access is within what the other shares. */
static void opens_against_opens(void **state)
{
    struct world *w = *state;
    struct open_state_open asked = { .access = W, .share = RW, .caching_key = guid_new() };
    uint64_t first = open_with(w, R, R), second;
    uint8_t caching;

    assert_int_equal(try_open(w, &asked, &second, &caching), E_SharingViolation);
    closes(w, first);
    assert_int_equal(try_open(w, &asked, &second, &caching), OK);
    assert_int_not_equal(first, second);
    asked.access = R;
    asked.share = R; /* but W is open */
    assert_int_equal(try_open(w, &asked, &first, &caching), E_SharingViolation);
    w->is_read_only = true;
    assert_int_equal(pass(w, REST_WRITES), E_ReadOnlyAttribute);
    assert_int_equal(pass(w, REST_READS), OK);
    asked.access = W;
    assert_int_equal(try_open(w, &asked, &first, &caching), E_ReadOnlyAttribute);
}

/* ---- delete pending ---- */

/* Rule: while a delete is pending everything but lists is refused; the last handle deletes.
 * semantics 8.3 */
static void delete_pending(void **state)
{
    struct world *w = *state;
    uint64_t reader = open_with(w, R, RWD), deleter = open_with(w, D, RWD);
    struct open_state_open asked = { .access = 0, .share = RWD };
    bool deletes;
    uint64_t handle;
    uint8_t caching;

    assert_int_equal(end(w, open_state_set_delete_pending(begin(w), reader, true)),
                     E_SharingViolation);
    assert_int_equal(end(w, open_state_set_delete_pending(begin(w), 1, true)), E_ResourceNotFound);
    w->is_read_only = true;
    assert_int_equal(end(w, open_state_set_delete_pending(begin(w), deleter, true)),
                     E_ReadOnlyAttribute);
    w->is_read_only = false;
    assert_int_equal(end(w, open_state_set_delete_pending(begin(w), deleter, true)), OK);
    assert_int_equal(indexed(w, "p"), 1);
    for (unsigned use = 0; use < REST_USES; use++)
        assert_int_equal(pass(w, (enum rest_use)use), use == REST_LISTS ? OK : E_DeletePending);
    assert_int_equal(try_open(w, &asked, &handle, &caching), E_DeletePending);

    /* The client takes it back. */
    assert_int_equal(end(w, open_state_set_delete_pending(begin(w), deleter, false)), OK);
    assert_int_equal(indexed(w, "p"), 0);
    assert_int_equal(pass(w, REST_READS), OK);

    assert_int_equal(end(w, open_state_set_delete_pending(begin(w), deleter, true)), OK);
    closes(w, deleter);
    assert_int_equal(pass(w, REST_READS), E_DeletePending);
    assert_int_equal(close_handle(w, reader, false, &deletes), OK);
    assert_true(deletes);
    assert_true(is_empty(w));
    assert_int_equal(indexed(w, "p") + indexed(w, "h"), 0);
}

/* Rule: a handle that deletes on close does so; forced to close it does not. semantics 8.3 */
static void delete_on_close(void **state)
{
    struct world *w = *state;
    struct open_state_open asked = {
        .access = D, .share = RWD, .deletes = true, .caching_key = guid_new()
    };
    uint64_t first, second;
    uint8_t caching;
    bool deletes;

    assert_int_equal(try_open(w, &asked, &first, &caching), OK);
    assert_int_equal(close_handle(w, first, true, &deletes), OK);
    assert_false(deletes);
    assert_int_equal(try_open(w, &asked, &first, &caching), OK);
    second = open_with(w, 0, RWD);
    closes(w, first);
    assert_int_equal(pass(w, REST_READS), E_DeletePending);
    assert_int_equal(close_handle(w, second, false, &deletes), OK);
    assert_true(deletes);
    assert_int_equal(close_handle(w, second, false, &deletes), E_ResourceNotFound);
}

/* ---- caching ---- */

/* Rule: what each kind of operation breaks, whether it waits for that, and that it goes on then: the
 * documented table, and what Create does as Put Range. semantics 8.4 */
static void breaks(void **state)
{
    static const struct {
        enum rest_use use;
        uint8_t holds;
        bool waits;
        uint8_t to;
    } cells[] = {
        { REST_READS, CACHING_ALL, true, C_RH },
        { REST_READS, C_RH, false, C_RH },
        { REST_READS, C_RW, true, CACHING_READ },
        { REST_EXAMINES, CACHING_ALL, true, C_RH },
        { REST_EXAMINES, C_RH, false, C_RH },
        { REST_EXAMINES, C_RW, true, CACHING_READ },
        { REST_LISTS, CACHING_ALL, false, CACHING_ALL },
        { REST_LISTS, C_RH, false, C_RH },
        { REST_LISTS, C_RW, false, C_RW },
        { REST_PASSES, CACHING_ALL, false, CACHING_ALL },
        { REST_WRITES, CACHING_ALL, true, 0 },
        { REST_WRITES, C_RH, false, 0 },
        { REST_WRITES, C_RW, true, 0 },
        { REST_REPLACES, CACHING_ALL, true, 0 },
        { REST_REPLACES, C_RH, false, 0 },
        { REST_REPLACES, C_RW, true, 0 },
        { REST_DELETES, CACHING_ALL, true, C_RW },
        { REST_DELETES, C_RH, true, CACHING_READ },
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        uint64_t handle;
        struct guid key = open_caching(w, cells[i].holds, &handle);

        assert_int_equal(pass(w, cells[i].use), cells[i].waits ? DECIDE_WAITS : OK);
        assert_int_equal(caching_now(w).holds, cells[i].holds);
        assert_int_equal(caching_now(w).breaks_to, cells[i].to);
        if (cells[i].waits) {
            /* It goes on waiting, and asks no second time. */
            assert_int_equal(open_state_check_rest(begin(w), cells[i].use), DECIDE_WAITS);
            assert_true(deciding_is_empty(&w->d));
            assert_int_equal(answer(w, &key, cells[i].to), OK);
            assert_int_equal(pass(w, cells[i].use),
                             cells[i].use == REST_DELETES ? E_SharingViolation : OK);
        }
        closes(w, handle);
        assert_int_equal(pass(w, cells[i].use), OK);
    }
}

/* Rule: a delete over RW, which caches no handle, waits for nothing: the handle is in its way. */
static void delete_against_rw(void **state)
{
    struct world *w = *state;
    uint64_t handle;

    open_caching(w, C_RW, &handle);
    assert_int_equal(pass(w, REST_DELETES), E_SharingViolation);
    assert_int_equal(caching_now(w).breaks_to, C_RW);
    closes(w, handle);
    assert_int_equal(pass(w, REST_DELETES), OK);
}

/* Rule: a client keeps no more than it was asked to, and answers wake those that wait. */
static void acknowledges(void **state)
{
    struct world *w = *state;
    uint64_t handle;
    struct guid key = open_caching(w, CACHING_ALL, &handle), other = guid_new();

    assert_int_equal(pass(w, REST_READS), DECIDE_WAITS);
    assert_int_equal(answer(w, &key, CACHING_ALL), E_InvalidInput);
    assert_int_equal(answer(w, &other, 0), E_ResourceNotFound);
    assert_int_equal(answer(w, &key, CACHING_READ), OK);
    assert_true(w->d.wakes);
    assert_int_equal(answer(w, &key, CACHING_READ), E_ResourceNotFound);
    assert_int_equal(caching_now(w).holds, CACHING_READ);
    assert_int_equal(caching_now(w).breaks_to, CACHING_READ);
    assert_int_equal(pass(w, REST_READS), OK);
}

/* Rule: it waits for 30 seconds at most, or for as long as its client gives it. semantics 8.4 */
static void waits_end(void **state)
{
    static const struct {
        uint32_t timeout_s, waits_s;
    } cases[] = { { 0, 30 }, { 5, 5 }, { 90, 30 } };
    struct world *w = *state;
    uint64_t handle;

    open_caching(w, CACHING_ALL, &handle);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        instant until;

        w->input.timeout_s = cases[i].timeout_s;
        assert_int_equal(open_state_check_rest(begin(w), REST_READS), DECIDE_WAITS);
        until = w->d.waits_until;
        assert_int_equal(until, w->d.now + cases[i].waits_s * TICKS_PER_SECOND);
        end(w, DECIDE_WAITS);
        assert_int_equal(open_state_check_rest(begin_again(w, true), REST_READS), DECIDE_WAITS);
        assert_int_equal(w->d.waits_until, until);
        clock_advance((cases[i].waits_s + 1) * TICKS_PER_SECOND);
        assert_int_equal(open_state_check_rest(begin_again(w, true), REST_READS),
                         E_ClientCacheFlushDelay);
    }
}

/* Rule: W is for one who is alone, and another open takes it; opens with one key share what they have. */
static void granting(void **state)
{
    struct world *w = *state;
    uint64_t first, second;
    struct guid key = open_caching(w, CACHING_ALL, &first);
    struct open_state_open same = {
        .access = RW, .share = RWD, .caching = CACHING_ALL, .caching_key = key
    };
    struct open_state_open other = same;
    uint8_t caching;

    assert_int_equal(try_open(w, &same, &second, &caching), OK);
    assert_int_equal(caching, CACHING_ALL);
    assert_int_equal(caching_now(w).holds, CACHING_ALL);
    other.caching_key = guid_new();
    assert_int_equal(try_open(w, &other, &second, &caching), DECIDE_WAITS);
    assert_int_equal(answer(w, &key, C_RH), OK);
    assert_int_equal(try_open(w, &other, &second, &caching), OK);
    assert_int_equal(caching, C_RH);
}

/* Rule: what is written by a handle is no longer cached by others. */
static void writes_break(void **state)
{
    struct world *w = *state;
    const struct byte_range range = { 0, 10 };
    uint64_t reader, writer;

    open_caching(w, CACHING_READ, &reader);
    writer = open_with(w, W, RWD);
    assert_int_equal(end(w, open_state_write_bytes(begin(w), reader, &range)), OK);
    assert_int_equal(caching_now(w).breaks_to, CACHING_READ);
    assert_int_equal(end(w, open_state_write_bytes(begin(w), writer, &range)), OK);
    assert_int_equal(caching_now(w).breaks_to, 0);
}

/* ---- locks ---- */

static enum error lock(struct world *w, uint64_t handle, uint64_t offset, uint64_t length,
                       bool is_exclusive)
{
    const struct byte_lock wanted = { { offset, length }, handle, is_exclusive };

    return end(w, open_state_lock(begin(w), handle, &wanted, 1));
}

static enum error unlock(struct world *w, uint64_t handle, uint64_t offset, uint64_t length)
{
    const struct byte_range range = { offset, length };

    struct open_state *opens = begin(w);
    enum error e = open_state_unlock(opens, handle, &range, 1);

    open_state_write(opens);
    return end(w, e);
}

static enum error reads(struct world *w, uint64_t offset, uint64_t length)
{
    return end(w, open_state_check_read(begin(w), offset, length));
}

static enum error writes(struct world *w)
{
    return end(w, open_state_check_write(begin(w)));
}

/* Rule: an exclusive lock keeps Get File from its range; any lock keeps Put Range from the file.
 * semantics 8.1, 8.2; decision: 337 */
static void locks_against_rest(void **state)
{
    struct world *w = *state;
    uint64_t handle = open_with(w, R, RWD);

    assert_int_equal(lock(w, handle, 100, 10, false), OK);
    assert_int_equal(reads(w, 0, 200), OK);
    assert_int_equal(writes(w), E_FileLockConflict);
    assert_int_equal(unlock(w, handle, 100, 9), E_ResourceNotFound);
    assert_int_equal(unlock(w, handle, 100, 10), OK);
    assert_int_equal(writes(w), OK);
    assert_int_equal(lock(w, handle, 100, 10, true), OK);
    assert_int_equal(reads(w, 0, 100), OK);
    assert_int_equal(reads(w, 110, 5), OK);
    assert_int_equal(reads(w, 0, 101), E_FileLockConflict);
    assert_int_equal(reads(w, 109, 1), E_FileLockConflict);
    assert_int_equal(writes(w), E_FileLockConflict);
    closes(w, handle); /* its locks go with it */
    assert_int_equal(reads(w, 100, 10), OK);
    assert_int_equal(writes(w), OK);
    assert_true(is_empty(w));
}

/* Rule: locks of handles against each other, and against what handles read and write. */
static void locks_of_handles(void **state)
{
    struct world *w = *state;
    const struct byte_range inside = { 5, 1 };
    uint64_t a = open_with(w, RW, RWD), b = open_with(w, RW, RWD);

    assert_int_equal(lock(w, a, 0, 10, true), OK);
    assert_int_equal(lock(w, b, 9, 1, false), E_FileLockConflict);
    assert_int_equal(lock(w, b, 10, 1, true), OK);
    assert_int_equal(lock(w, b, UINT64_MAX, 2, true), E_InvalidRange);
    assert_int_equal(lock(w, 1, 0, 1, true), E_ResourceNotFound);
    assert_int_equal(end(w, open_state_read_bytes(begin(w), a, &inside)), OK);
    assert_int_equal(end(w, open_state_read_bytes(begin(w), b, &inside)), E_FileLockConflict);
    assert_int_equal(end(w, open_state_write_bytes(begin(w), b, &inside)), E_FileLockConflict);
    assert_int_equal(end(w, open_state_write_bytes(begin(w), 1, &inside)), E_ResourceNotFound);
    closes(w, a);
    assert_int_equal(end(w, open_state_write_bytes(begin(w), b, &inside)), OK);
    begin(w);
    assert_int_equal(w->opens.set.lock_count, 1);
}

/* ---- epochs ---- */

/* Rule: what a process had open counts for nothing when it has ended, but for what persists; the next
 * one that writes leaves it out. */
static void epochs(void **state)
{
    struct world *w = *state;
    const struct durable_handle_state keeps = { .ticks = 60 * TICKS_PER_SECOND,
                                                .of_client = bytes_from_string("x") };
    struct open_state_open persistent = {
        .access = R, .share = R, .persists = true, .durable = &keeps, .caching_key = guid_new()
    };
    uint64_t lost = open_with(w, RW, 0), kept;
    uint8_t caching;

    assert_int_equal(lock(w, lost, 0, 10, true), OK);
    assert_int_equal(pass(w, REST_READS), E_SharingViolation);
    open_epoch_begin();
    assert_int_equal(reads(w, 0, 10), OK);
    assert_int_equal(open_state_check_rest(begin(w), REST_DELETES), OK);
    assert_true(deciding_is_empty(&w->d));
    assert_int_equal(indexed(w, "h"), 1);
    assert_int_equal(pass(w, REST_WRITES), OK); /* clears it away */
    assert_int_equal(indexed(w, "h"), 0);
    assert_true(is_empty(w));

    lost = open_with(w, D, RWD);
    assert_int_equal(end(w, open_state_set_delete_pending(begin(w), lost, true)), OK);
    assert_int_equal(indexed(w, "p"), 1);
    open_epoch_begin();
    closes(w, open_with(w, R, RWD));
    assert_int_equal(indexed(w, "p"), 0);

    lost = open_with(w, R, R);
    assert_int_equal(try_open(w, &persistent, &kept, &caching), OK);
    open_epoch_begin();
    assert_int_equal(pass(w, REST_WRITES), E_SharingViolation);
    closes(w, kept);
    assert_true(is_empty(w));
    assert_int_equal(indexed(w, "h"), 0);
}

/* Rule: the opens of a tree that was closed and reopened do not count, those that persist neither; the new ones do.
 * decision: 379 */
static void reopened(void **state)
{
    struct world *w = *state;
    const struct durable_handle_state keeps = { .ticks = 60 * TICKS_PER_SECOND,
                                                .of_client = bytes_from_string("x") };
    struct open_state_open persistent = {
        .access = R, .share = R, .persists = true, .durable = &keeps, .caching_key = guid_new()
    };
    uint64_t old = open_with(w, RW, R), kept;
    uint8_t caching;

    assert_int_equal(try_open(w, &persistent, &kept, &caching), E_SharingViolation);
    closes(w, old);
    old = open_with(w, R, R);
    assert_int_equal(try_open(w, &persistent, &kept, &caching), OK);
    assert_int_equal(pass(w, REST_WRITES), E_SharingViolation);
    begin(w);
    w->tree.state.reopened = w->d.now;
    assert_int_equal(end(w, open_state_close(begin(w), old, false, &(bool){ false })),
                     E_ResourceNotFound);
    assert_int_equal(pass(w, REST_WRITES), OK);
    assert_true(is_empty(w));
    assert_int_equal(indexed(w, "h"), 0);
    kept = open_with(w, R, R);
    assert_int_equal(pass(w, REST_WRITES), E_SharingViolation);
    closes(w, kept);
}

/* Rule: a delete that was pending is not, when the processes have ended that had it open. */
static void epoch_of_pending(void **state)
{
    struct world *w = *state;
    uint64_t handle = open_with(w, D, RWD);

    assert_int_equal(end(w, open_state_set_delete_pending(begin(w), handle, true)), OK);
    open_epoch_begin();
    assert_int_equal(pass(w, REST_READS), OK);
    assert_int_equal(open_state_check_rest(begin(w), REST_DELETES), OK);
    open_state_delete(&w->opens);
    end(w, OK);
    assert_true(is_empty(w));
    assert_int_equal(indexed(w, "h") + indexed(w, "p"), 0);
}

/* ---- bounds and damage ---- */

/* Rule: as many handles and locks as there may be fit, and one more is refused. decision: 336 */
static void bounds(void **state)
{
    struct world *w = *state;
    struct open_state_open asked = { .share = RWD, .caching = CACHING_READ };
    struct handle handle;
    uint8_t caching;
    size_t granted = 0;

    for (size_t i = 0; i < OPENS_MAX; i++) {
        asked.caching_key = guid_new();
        assert_int_equal(try_open(w, &asked, &handle.id, &caching), OK);
        granted += caching != 0;
    }
    assert_int_equal(granted, CACHINGS_MAX);
    for (size_t i = 0; i < BYTE_LOCKS_MAX; i++) {
        const struct byte_lock wanted = { { UINT64_MAX - i, 1 }, handle.id, true };

        assert_int_equal(end(w, open_state_lock(begin(w), handle.id, &wanted, 1)), OK);
    }
    assert_int_equal(lock(w, handle.id, 0, 1, true), E_ServerBusy);
    assert_int_equal(try_open(w, &asked, &handle.id, &caching), E_ServerBusy);
    begin(w);
    assert_int_equal(w->opens.set.open_count, OPENS_MAX);
    assert_int_equal(indexed(w, "h"), OPENS_MAX);
}

static struct bytes stored(struct world *w, const char *key)
{
    struct record record;

    begin(w);
    assert_int_equal(read_view_get(w->d.parts[0].before, RECORD_INNER, bytes_from_string(key),
                                   w->arena, &record),
                     STORE_OK);
    return record.value;
}

/* Each cut is refused; what another byte makes of it is refused or keeps the bounds. */
static void damage_of(struct world *w, struct bytes value, bool is_set)
{
    char *bad = arena_bytes(w->arena, value.len);
    struct open_set set;
    struct byte_lock *locks;
    size_t count;

    for (size_t cut = 0; cut < value.len; cut++)
        assert_false(is_set
                         ? open_set_decode(w->arena, bytes_of(value.ptr, cut), 0, 0, &set)
                         : byte_locks_decode(w->arena, bytes_of(value.ptr, cut), &locks, &count));
    for (size_t at = 0; at < value.len; at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            memcpy(bad, value.ptr, value.len);
            bad[at] = (char)byte;
            if (!is_set) {
                if (byte_locks_decode(w->arena, bytes_of(bad, value.len), &locks, &count))
                    assert_in_range(count, 1, BYTE_LOCKS_MAX);
                continue;
            }
            if (!open_set_decode(w->arena, bytes_of(bad, value.len), 0, 0, &set))
                continue;
            for (size_t i = 0; i < set.open_count; i++)
                assert_true(set.opens[i].open.caching == NO_CACHING ||
                            set.opens[i].open.caching < set.caching_count);
        }
}

#define BYTES_16 "\1\2\3\4\5\6\7\x8\x9\xA\xB\xC\xD\xE\xF\x10"

/* Rule: what version 1 has written is read, byte by byte as it lies there: the opens of an earlier process of which one
 * persists, with a break that its client has not answered. decision: 290 */
static void version_1(void **state)
{
    static const char bytes[] =
        "\1\1\2"                 /* version; a delete is pending; 2 locks */
        "\1" BYTES_16 "\7\3\3\5" /* a lease of RWH that is to be RH */
        "\2"                     /* opens */
        "\4\1\1\7\0\x18"         /* 4, of epoch 1: it counts no more */
        "\6\1\3\7\1\x1F\x64\x9"; /* 6: persists, deletes, is away, meets all */
    struct world *w = *state;
    struct open_set set;

    assert_true(open_set_decode(w->arena, bytes_of(bytes, sizeof bytes - 1), 0, 0, &set));
    assert_true(set.is_delete_pending);
    assert_int_equal(set.lock_count, 2);
    assert_int_equal(set.stale_count, 1);
    assert_int_equal(set.stale[0].id, 4);
    assert_int_equal(set.open_count, 1);
    assert_int_equal(set.opens[0].id, 6);
    assert_int_equal(set.opens[0].open.access, ACCESS_READ | ACCESS_WRITE);
    assert_int_equal(set.opens[0].open.share, RWD);
    assert_int_equal(set.opens[0].open.meets, MEETS_ALL);
    assert_true(set.opens[0].persists && set.opens[0].deletes);
    assert_int_equal(set.opens[0].timeout_ticks, 100);
    assert_int_equal(set.opens[0].disconnected_until, open_epoch() + 100);
    assert_int_equal(set.caching_count, 1);
    assert_int_equal(set.cachings[0].key.b[15], 16);
    assert_int_equal(set.cachings[0].caching.holds, C_RH);
    assert_int_equal(set.cachings[0].epoch, 5);
}

/* Rule: the same of a handle in the index. */
static void handle_of_version_1(void **state)
{
    static const char key[] = "h\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3";
    static const char bytes[] =
        "\1\4\1\3\5\4a:1\0\6\7\x8" /* version, epoch, .. address, no name, times */
        "\x9\xA\xB\xF\xC\3xy";     /* ticks, granted, flags, shown, the client's */
    struct handle handle;

    (void)state;
    assert_true(
        handle_decode(bytes_of(key, sizeof key - 1), bytes_of(bytes, sizeof bytes - 1), &handle));
    assert_int_equal(handle.node, 2);
    assert_int_equal(handle.id, 3);
    assert_int_equal(handle.epoch, 4);
    assert_true(handle.persists);
    assert_int_equal(handle.access, ACCESS_READ | ACCESS_WRITE);
    assert_int_equal(handle.session, 5);
    assert_true(bytes_is(handle.client_address, "a:1"));
    assert_null(handle.client_name.ptr);
    assert_int_equal(handle.opened, 6);
    assert_int_equal(handle.reconnected, 7);
    assert_int_equal(handle.disconnected_until, 8);
    assert_int_equal(handle.durable.ticks, 9);
    assert_int_equal(handle.durable.granted, 10);
    assert_true(handle.durable.times.keeps_accessed && handle.durable.times.keeps_written);
    assert_true(!handle.durable.times.keeps_changed && handle.durable.times.has_written);
    assert_int_equal(handle.durable.times.shown_written, 15);
    assert_int_equal(handle.durable.times.shown_until, 12);
    assert_true(bytes_is(handle.durable.of_client, "xy"));
}

static void assert_same_handle(const struct handle *handle, const struct handle *as)
{
    const struct handle_times *times = &handle->durable.times, *of = &as->durable.times;

    assert_int_equal(handle->node, as->node);
    assert_int_equal(handle->id, as->id);
    assert_int_equal(handle->epoch, as->epoch);
    assert_int_equal(handle->persists, as->persists);
    assert_int_equal(handle->access, as->access);
    assert_int_equal(handle->session, as->session);
    assert_true(bytes_equal(handle->client_address, as->client_address));
    assert_true(bytes_equal(handle->client_name, as->client_name));
    assert_int_equal(handle->opened, as->opened);
    assert_int_equal(handle->reconnected, as->reconnected);
    assert_int_equal(handle->disconnected_until, as->disconnected_until);
    assert_int_equal(handle->durable.ticks, as->durable.ticks);
    assert_int_equal(handle->durable.granted, as->durable.granted);
    assert_int_equal(times->keeps_accessed, of->keeps_accessed);
    assert_int_equal(times->keeps_written, of->keeps_written);
    assert_int_equal(times->keeps_changed, of->keeps_changed);
    assert_int_equal(times->has_written, of->has_written);
    assert_int_equal(times->shown_written, of->shown_written);
    assert_int_equal(times->shown_until, of->shown_until);
    assert_true(bytes_equal(handle->durable.of_client, as->durable.of_client));
}

/* Rule: each field of a handle in the index is read as it was written, and as no other one. */
static void each_of_a_handle(void **state)
{
    struct world *w = *state;

    for (unsigned flag = 0; flag < 5; flag++) {
        struct handle handle = { .node = NODE,
                                 .id = 1001,
                                 .epoch = 1002,
                                 .persists = flag == 4,
                                 .access = D,
                                 .session = 1003,
                                 .client_address = BYTES("203.0.113.7:1"),
                                 .client_name = BYTES("name"),
                                 .opened = 1004,
                                 .reconnected = 1005,
                                 .disconnected_until = 1006,
                                 .durable = { .ticks = 1007,
                                              .granted = 1008,
                                              .times = { flag == 0, flag == 1, flag == 2, 1009,
                                                         1010, flag == 3 },
                                              .of_client = BYTES("client") } };
        struct handle read;
        struct bytes value;

        begin(w);
        w->d.parts[0].changes = changes_new(w->arena);
        handle_put(w->d.parts[0].changes, w->arena, &handle);
        end(w, OK);
        begin(w);
        assert_int_equal(
            decision_index_get(&w->d, w->space, handle_key(w->arena, NODE, 1001), &value),
            STORE_OK);
        assert_true(handle_decode(handle_key(w->arena, NODE, 1001), value, &read));
        assert_same_handle(&read, &handle);
    }
}

/* Rule: the same of the set of opens. */
static void each_of_a_set(void **state)
{
    struct world *w = *state;
    struct caching_entry cachings[] = {
        { .key = guid_new(), .caching = { .holds = C_RH, .breaks_to = 0 }, .epoch = 2001 },
        { .key = guid_new(), .caching = { .holds = CACHING_READ, .is_oplock = true }, .epoch = 0 },
    };
    struct open_entry opens[] = {
        { .id = 11, .open = { .access = R, .share = W, .caching = 1, .meets = 1 } },
        { .id = 12, .open = { .access = W, .share = D, .caching = NO_CACHING, .meets = 2 } },
        { .id = 13, .open = { .access = D, .share = R, .caching = 0 }, .persists = true },
    };
    struct open_set set = { .opens = opens,
                            .open_count = 3,
                            .cachings = cachings,
                            .caching_count = 2,
                            .is_delete_pending = true,
                            .lock_count = 0 },
                    read;

    cachings[0].reported = CACHING_READ;
    cachings[1].reported = cachings[1].caching.breaks_to = CACHING_READ;
    for (size_t i = 0; i < 3; i++)
        opens[i].epoch = open_epoch();
    opens[0].deletes = true;
    opens[1].disconnected_until = w->d.now + 3001;
    opens[2].timeout_ticks = 3002;
    begin(w);
    w->d.parts[0].changes = changes_new(w->arena);
    open_set_write(w->d.parts[0].changes, w->arena, &set);
    end(w, OK);
    begin(w);
    read = w->opens.set;
    assert_true(read.is_delete_pending);
    assert_int_equal(read.open_count, 3);
    assert_int_equal(read.caching_count, 2);
    for (size_t i = 0; i < 3; i++) {
        const struct open_entry *open = &read.opens[i];

        assert_int_equal(open->id, opens[i].id);
        assert_int_equal(open->epoch, opens[i].epoch);
        assert_int_equal(open->open.access, opens[i].open.access);
        assert_int_equal(open->open.share, opens[i].open.share);
        assert_int_equal(open->open.caching, opens[i].open.caching);
        assert_int_equal(open->open.meets, opens[i].open.meets);
        assert_int_equal(open->persists, opens[i].persists);
        assert_int_equal(open->deletes, opens[i].deletes);
        assert_int_equal(open->timeout_ticks, opens[i].timeout_ticks);
        assert_int_equal(open->disconnected_until, opens[i].disconnected_until);
    }
    for (size_t i = 0; i < 2; i++) {
        const struct caching_entry *entry = &read.cachings[i];

        assert_memory_equal(&entry->key, &cachings[i].key, sizeof entry->key);
        assert_int_equal(entry->caching.holds, cachings[i].caching.holds);
        assert_int_equal(entry->caching.is_oplock, cachings[i].caching.is_oplock);
        assert_int_equal(entry->caching.breaks_to, cachings[i].caching.breaks_to);
        assert_int_equal(entry->reported, cachings[i].reported);
        assert_int_equal(entry->epoch, cachings[i].epoch);
    }
}

/* Rule: what makes no sense is damage, and no operation acts on it (promise 5). */
static void damage(void **state)
{
    struct world *w = *state;
    uint64_t handle, other;
    struct handle entry = { .node = NODE, .id = 3, .client_address = BYTES("a:1") };
    struct changes *changes;

    open_caching(w, C_RH, &handle);
    other = open_with(w, R, RWD);
    assert_int_equal(lock(w, other, 3, 4, true), OK);
    damage_of(w, stored(w, "g"), true);
    damage_of(w, stored(w, "k"), false);
    assert_false(
        handle_decode(handle_prefix(w->arena, &entry.node), bytes_from_string(""), &entry));
    assert_false(handle_decode(handle_key(w->arena, NODE, 3), bytes_from_string("\x01"), &entry));

    begin(w);
    changes = w->d.parts[0].changes = changes_new(w->arena);
    changes_put(changes, RECORD_INNER, bytes_from_string("g"), bytes_from_string("\x01?"), NULL, 0);
    end(w, OK);
    deciding_end(&w->d);
    decision_open(&w->d, (struct partition){ .space = w->space, .key = BYTES("file") }, NULL);
    assert_int_equal(open_state_read(&w->opens, &w->tree, &w->d.parts[0], NODE), E_InternalError);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(share_modes),
        TEST(attributes_alone),
        TEST(leases),
        TEST(opens_against_opens),
        TEST(delete_pending),
        TEST(delete_on_close),
        TEST(breaks),
        TEST(delete_against_rw),
        TEST(acknowledges),
        TEST(waits_end),
        TEST(granting),
        TEST(writes_break),
        TEST(locks_against_rest),
        TEST(locks_of_handles),
        TEST(epochs),
        TEST(reopened),
        TEST(epoch_of_pending),
        TEST(bounds),
        TEST(damage),
        TEST(version_1),
        TEST(handle_of_version_1),
        TEST(each_of_a_handle),
        TEST(each_of_a_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
