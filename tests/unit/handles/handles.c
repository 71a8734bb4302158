#include "handles.h"

#include <stdlib.h>

#include "../store/chosen.h"
#include "base/log.h"
#include "base/sleeper.h"
#include "opens/open_record.h"

#define ARENA_MAX ((size_t)1 << 30)
#define READ_MAX  ((size_t)1 << 20)

/* A program runs one test at a time. */
static struct {
    struct tree_connect tree_connect;
    struct arena *arena;
    char folder[CHOSEN_FOLDER_SIZE];
    instant decided_at;
} world;

const struct tree_connect *the_mount(void)
{
    return &world.tree_connect;
}

struct arena *handles_arena(void)
{
    return world.arena;
}

instant decided_at(void)
{
    return world.decided_at;
}

int handles_setup(void **state)
{
    struct tree_connect_find find = { .account = BYTES("devstoreaccount1"), .share = BYTES("sha") };
    struct store *store;

    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    world.arena = arena_new(ARENA_MAX);
    store = chosen_store_open(getenv("LAGRA_TEST_STORE"), world.folder);
    if (fixture_setup_on(state, store) != 0)
        return -1;
    fixture_serve(*state, &file_service);
    open_epoch_begin();
    assert_ok(ask(*state, "PUT /sha?restype=share", NULL, NULL), 201);
    assert_int_equal(run(*state, tree_connect_find_attempt, &find), OK);
    world.tree_connect = (struct tree_connect){ find.account, find.share, find.space, NULL };
    return 0;
}

int handles_teardown(void **state)
{
    fixture_serve(*state, NULL);
    fixture_teardown(state);
    chosen_store_remove(world.folder);
    arena_free(world.arena);
    return 0;
}

/* Runs `between`, unless it is NULL, between the attempt and its commit. *ret_committed: what the commit returned. */
static enum error run_split(struct fixture *f, attempt_fn *attempt, void *of, instant *waits_until,
                            const struct between *between, enum error *ret_committed)
{
    struct input input = { .account = BYTES("devstoreaccount1"),
                           .identity = { .kind = IDENTITY_ACCOUNT_KEY } };
    struct problem problem;
    struct decision d = { .service = &file_service,
                          .input = &input,
                          .arena = world.arena,
                          .store = store_of(f),
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(world.arena),
                          .waits_until = *waits_until };
    enum error e = deciding_attempt(&d, attempt, of);

    *ret_committed = OK;
    if (between)
        between->run(f, between->of);
    if ((e == OK || e == DECIDE_WAITS) && !deciding_is_empty(&d))
        *ret_committed = deciding_commit(&d);
    *waits_until = d.waits_until;
    world.decided_at = d.now;
    deciding_end(&d);
    return e;
}

enum error run_again(struct fixture *f, attempt_fn *attempt, void *of, instant *waits_until)
{
    enum error committed, e = run_split(f, attempt, of, waits_until, NULL, &committed);

    assert_int_equal(committed, OK);
    return e;
}

enum error run_around(struct fixture *f, attempt_fn *attempt, void *of,
                      const struct between *between)
{
    instant waits_until = 0;
    enum error committed;

    assert_int_equal(run_split(f, attempt, of, &waits_until, between, &committed), OK);
    return committed;
}

enum error run(struct fixture *f, attempt_fn *attempt, void *of)
{
    instant waits_until = 0;

    return run_again(f, attempt, of, &waits_until);
}

const struct bytes *names_of(const char *path, size_t *ret_count)
{
    struct bytes rest = bytes_from_string(path), *names;
    size_t count = 0;

    names = arena_array(world.arena, rest.len + 1, sizeof names[0]);
    if (rest.len > 0)
        while (rest.ptr)
            bytes_cut(rest, '\\', &names[count++], &rest);
    *ret_count = count;
    return names;
}

struct handle_open asked(const char *path, uint32_t desired, enum open_disposition disposition)
{
    struct handle_open open = { .tree_connect = &world.tree_connect,
                                .disposition = disposition,
                                .desired = desired,
                                .share = ACCESS_ALL,
                                .caching_key = guid_new(),
                                .session = 1,
                                .client_address = BYTES("203.0.113.7:53412"),
                                .client_name = BYTES("client") };

    open.names = names_of(path, &open.name_count);
    return open;
}

struct held_handle opened(struct fixture *f, const char *path, uint32_t desired,
                          enum open_disposition disposition)
{
    struct handle_open open = asked(path, desired, disposition);

    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    return open.handle;
}

struct held_handle opened_directory(struct fixture *f, const char *path, uint32_t desired)
{
    struct handle_open open = asked(path, desired, OPEN_OR_NEW);

    open.kind = OPEN_DIRECTORY;
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    return open.handle;
}

bool closed(struct fixture *f, const struct held_handle *handle)
{
    struct handle_close close = { .tree_connect = &world.tree_connect, .handle = handle };

    assert_int_equal(run(f, handle_close_attempt, &close), OK);
    return close.deleted;
}

/* Waits on this thread. */
static void stage(struct write_staging *staging, struct body *ret_body)
{
    struct sleeper sleeper;
    enum store_result result;

    sleeper_init(&sleeper);
    while ((result = write_staging_go_on(staging, sleeper_arm(&sleeper), ret_body)) == STORE_WAIT)
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    assert_int_equal(result, STORE_OK);
}

enum error writes(struct fixture *f, struct held_handle *handle, uint64_t offset, const char *text)
{
    struct handle_write write = { .tree_connect = &world.tree_connect,
                                  .handle = handle,
                                  .offset = offset };
    struct write_staging staging;
    struct body body;
    enum error e;

    write_staging_begin(store_of(f), bytes_from_string(text), &staging);
    stage(&staging, &body);
    write.body = &body;
    e = run(f, handle_write_attempt, &write);
    write_staging_end(&staging);
    if (!e)
        handle->times = write.times;
    return e;
}

/* An attempt whose decision goes on to be read from. */
static enum error read_attempt(struct decision *d, struct handle_read *read, char *to)
{
    struct handle_reading reading;
    enum error e = deciding_attempt(d, handle_read_attempt, read);

    if (e)
        return e;
    handle_reading_begin(d, read, to, &reading);
    e = handle_reading_go_on(&reading, NULL);
    handle_reading_end(&reading);
    return e;
}

const char *reads(struct fixture *f, const struct held_handle *handle, uint64_t offset,
                  uint64_t length, enum error *ret_error)
{
    struct handle_read read = {
        .tree_connect = &world.tree_connect, .handle = handle, .offset = offset, .length = length
    };
    struct input input = { .account = BYTES("devstoreaccount1") };
    char *to = arena_bytes(world.arena, READ_MAX + 1);
    struct problem problem;
    struct decision d = { .service = &file_service,
                          .input = &input,
                          .arena = world.arena,
                          .store = store_of(f),
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(world.arena) };

    assert_true(length <= READ_MAX);
    *ret_error = read_attempt(&d, &read, to);
    deciding_end(&d);
    to[*ret_error ? 0 : read.readable] = '\0';
    return *ret_error ? NULL : to;
}

struct handle_info shown(struct fixture *f, const struct held_handle *handle)
{
    struct handle_query query = { .tree_connect = &world.tree_connect, .handle = handle };

    assert_int_equal(run(f, handle_query_attempt, &query), OK);
    return query.info;
}

enum error sets_pending(struct fixture *f, const struct held_handle *handle, bool deletes)
{
    struct handle_set_disposition set = { &world.tree_connect, handle, deletes };

    return run(f, handle_set_disposition_attempt, &set);
}
