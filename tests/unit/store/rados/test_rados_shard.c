/* Group commit into one shard: what is acknowledged was applied once, what is refused was not, whatever
 * the cluster answers. store/rados/shard.h, on the RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../rados/fake.h"
#include "store/rados/row_key.h"
#include "store/rados/shard.h"

#define OBJECT "shard"
#define SELF   1u /* incarnation */

struct fixture {
    struct fake *fake;
    struct port *port;
    struct shard *shard;
    struct arena *arena;
    uint32_t incarnation;
    uint64_t attempts;
};

/* A commit, and what is needed to see what became of it. */
struct tried {
    struct waiter waiter; /* first */
    struct shard_commit commit;
    struct shard_change change;
    bool is_over;
    struct tried *next;
};

static void ignore(struct port_op *op)
{
    port_op_free(op);
}

static void run(struct fixture *f)
{
    while (fake_step(f->fake))
        ;
}

static void open_shard(struct fixture *f)
{
    assert_int_equal(shard_new(f->port, OBJECT, bytes_from_string("no bounds"), &f->shard),
                     STORE_CORRUPT);
    assert_int_equal(
        shard_new(f->port, OBJECT, fake_row(f->fake, OBJECT, row_key_bounds()), &f->shard),
        STORE_OK);
}

static struct fixture *fixture_new(uint64_t seed)
{
    struct fixture *f = calloc(1, sizeof *f);
    const struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 1 };

    f->incarnation = SELF;
    f->fake = fake_new((struct fake_options){ .seed = seed });
    f->port = fake_client(f->fake);
    f->arena = arena_new(64u << 20);
    shard_create(f->port, OBJECT, &bounds, ignore, NULL);
    run(f);
    open_shard(f);
    return f;
}

static int set_up(void **state)
{
    *state = fixture_new(1);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    run(f);
    shard_free(f->shard);
    arena_free(f->arena);
    fake_free(f->fake);
    free(f);
    return 0;
}

static void wake(struct waiter *waiter)
{
    struct tried *tried = (struct tried *)(void *)waiter;

    assert_false(tried->is_over);
    tried->is_over = true;
}

static struct bytes record_key(struct fixture *f, const char *partition)
{
    return row_key_record(f->arena, RECORD_LISTED, bytes_from_string(partition),
                          bytes_from_string("r"));
}

static struct bytes row_of(struct fixture *f, const char *partition)
{
    return fake_row(f->fake, OBJECT, record_key(f, partition));
}

static struct partition_header header_of(struct fixture *f, const char *partition)
{
    struct partition_header header;
    struct bytes key = row_key_header(f->arena, bytes_from_string(partition));

    assert_int_equal(partition_header_read(fake_row(f->fake, OBJECT, key), &header), STORE_OK);
    return header;
}

/* A commit of one record, on the state that the partition has now. */
static struct tried *prepare(struct fixture *f, const char *partition, const char *value)
{
    struct tried *tried = arena_alloc(f->arena, sizeof *tried);
    struct bytes name = arena_copy(f->arena, bytes_from_string(partition));

    tried->waiter.wake = wake;
    tried->change = (struct shard_change){
        .key = record_key(f, partition),
        .value = arena_copy(f->arena, bytes_from_string(value)),
    };
    tried->commit = (struct shard_commit){
        .partition_key = name,
        .seen = header_of(f, partition),
        .now = 1000,
        .attempt = { f->incarnation, ++f->attempts },
        .changes = &tried->change,
        .waiter = &tried->waiter,
    };
    return tried;
}

static enum store_result end(struct fixture *f, struct tried *tried)
{
    run(f);
    assert_true(tried->is_over);
    return tried->commit.result;
}

static enum store_result commit(struct fixture *f, const char *partition, const char *value)
{
    struct tried *tried = prepare(f, partition, value);

    shard_commit(f->shard, &tried->commit);
    return end(f, tried);
}

static void set_row(struct fixture *f, struct bytes key, struct bytes value)
{
    struct port_op *op = port_op_new(ignore, NULL);

    port_set(op, key, value);
    port_send(f->port, OBJECT, op);
    run(f);
}

static void one_commit(void **state)
{
    struct fixture *f = *state;
    struct tried *removal;

    assert_int_equal(commit(f, "p", "first"), STORE_OK);
    assert_true(bytes_is(row_of(f, "p"), "first"));
    assert_int_equal(header_of(f, "p").version, 1000);
    assert_int_equal(commit(f, "p", "second"), STORE_OK);
    assert_int_equal(header_of(f, "p").version, 1001);
    removal = prepare(f, "p", "");
    removal->change.is_removal = true;
    shard_commit(f->shard, &removal->commit);
    assert_int_equal(end(f, removal), STORE_OK);
    assert_null(row_of(f, "p").ptr);
    assert_int_equal(fake_row_count(f->fake, OBJECT), 2); /* bounds, header */
}

/* What arrives while an op is in flight goes together in the next. */
static void groups(void **state)
{
    struct fixture *f = *state;
    uint64_t before = fake_applied(f->fake);
    struct tried *tried[60];
    char name[8];

    for (unsigned i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "p%u", i);
        tried[i] = prepare(f, name, name);
        shard_commit(f->shard, &tried[i]->commit);
    }
    for (unsigned i = 0; i < 60; i++)
        assert_int_equal(end(f, tried[i]), STORE_OK);
    assert_int_equal(fake_applied(f->fake) - before, 2);
}

/* A group is bounded, by commits and by bytes; a commit that is larger alone goes alone. */
static void bounded_groups(void **state)
{
    struct fixture *f = *state;
    uint64_t before = fake_applied(f->fake);
    size_t large = SHARD_GROUP_BYTES / 2;
    char *value = calloc(1, 3 * large + 1), name[8];
    struct tried *tried[4];

    memset(value, 'v', 3 * large);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "p%u", i);
        value[large] = i == 3 ? 'v' : '\0';
        tried[i] = prepare(f, name, value);
    }
    for (unsigned i = 0; i < 4; i++)
        shard_commit(f->shard, &tried[i]->commit);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(end(f, tried[i]), STORE_OK);
    assert_int_equal(fake_applied(f->fake) - before, 4);
    free(value);
}

/* shard invariant (2) */
static void same_partition(void **state)
{
    struct fixture *f = *state;
    struct tried *other = prepare(f, "other", "v"), *first = prepare(f, "p", "first"),
                 *second = prepare(f, "p", "second"), *last = prepare(f, "q", "v");

    shard_commit(f->shard, &other->commit); /* the two wait behind it */
    shard_commit(f->shard, &first->commit);
    shard_commit(f->shard, &second->commit);
    shard_commit(f->shard, &last->commit);
    assert_int_equal(end(f, first), STORE_OK);
    assert_int_equal(end(f, second), STORE_CONFLICT);
    assert_int_equal(end(f, other), STORE_OK);
    assert_int_equal(end(f, last), STORE_OK);
    assert_true(bytes_is(row_of(f, "p"), "first"));
}

/* Many commits of one partition wait, on one state: one of them succeeds, the others end without an op (shard
 * invariant 5), and others' go on. */
static void hot_partition(void **state)
{
    struct fixture *f = *state;
    struct tried *hot[600], *other = prepare(f, "other", "v");
    uint64_t before = fake_applied(f->fake);
    unsigned succeeded = 0;

    for (unsigned i = 0; i < 600; i++) {
        hot[i] = prepare(f, "hot", "v");
        shard_commit(f->shard, &hot[i]->commit);
    }
    shard_commit(f->shard, &other->commit);
    assert_int_equal(end(f, other), STORE_OK);
    for (unsigned i = 0; i < 600; i++) {
        assert_true(hot[i]->is_over);
        succeeded += hot[i]->commit.result == STORE_OK;
        assert_true(hot[i]->commit.result == STORE_OK || hot[i]->commit.result == STORE_CONFLICT);
    }
    assert_int_equal(succeeded, 1);
    assert_int_equal(fake_applied(f->fake) - before, 2);
    assert_int_equal(commit(f, "hot", "w"), STORE_OK);
}

/* On the state that another one will leave, which has a link. */
static struct tried *prepare_behind(struct fixture *f, const struct tried *base, const char *value)
{
    struct tried *tried = arena_alloc(f->arena, sizeof *tried);

    *tried = *base;
    tried->is_over = false;
    tried->next = NULL;
    tried->change.value = arena_copy(f->arena, bytes_from_string(value));
    tried->commit.seen =
        partition_header_after(&base->commit.seen, base->commit.now, base->commit.attempt);
    tried->commit.attempt = (struct attempt){ f->incarnation, ++f->attempts };
    tried->commit.changes = &tried->change;
    tried->commit.waiter = &tried->waiter;
    tried->commit.rests_on = shard_link_hold(base->commit.link);
    tried->commit.link = shard_link_new();
    return tried;
}

static struct tried *prepare_linked(struct fixture *f, const char *partition, const char *value)
{
    struct tried *tried = prepare(f, partition, value);

    tried->commit.link = shard_link_new();
    return tried;
}

static void drop_links(struct tried *tried)
{
    shard_link_release(tried->commit.link);
    shard_link_release(tried->commit.rests_on);
    tried->commit.link = tried->commit.rests_on = NULL;
}

enum { CHAIN = 5 };

static void start_chain(struct fixture *f, struct tried *chain[CHAIN])
{
    static const char *const values[CHAIN] = { "0", "1", "2", "3", "4" };

    chain[0] = prepare_linked(f, "p", values[0]);
    for (unsigned i = 1; i < CHAIN; i++)
        chain[i] = prepare_behind(f, chain[i - 1], values[i]);
}

static void end_chain(struct fixture *f, struct tried *chain[CHAIN], enum store_result result)
{
    for (unsigned i = 0; i < CHAIN; i++)
        assert_int_equal(end(f, chain[i]), result);
    for (unsigned i = 0; i < CHAIN; i++)
        drop_links(chain[i]);
}

/* Commits of one partition, each on what the one before will leave, go together: as one change. Also those that come
 * before what they rest on. */
static void chain_in_one_op(void **state)
{
    struct fixture *f = *state;
    struct tried *other = prepare(f, "other", "v"), *chain[CHAIN];
    uint64_t before = fake_applied(f->fake);
    struct partition_header header;

    start_chain(f, chain);
    shard_commit(f->shard, &other->commit); /* the others wait behind it */
    for (unsigned i = 0; i < CHAIN; i++)
        shard_commit(f->shard, &chain[i]->commit);
    end_chain(f, chain, STORE_OK);
    assert_int_equal(fake_applied(f->fake) - before, 2);
    assert_true(bytes_is(row_of(f, "p"), "4"));
    header = header_of(f, "p");
    assert_true(attempt_equal(header.attempts[0], chain[CHAIN - 1]->commit.attempt));
    start_chain(f, chain);
    for (unsigned i = CHAIN; i > 0; i--)
        shard_commit(f->shard, &chain[i - 1]->commit);
    end_chain(f, chain, STORE_OK);
    assert_int_equal(end(f, other), STORE_OK);
}

/* An op with a chain was applied, and its answer lost: all of the chain is known to have been applied. */
static void chain_applied_twice(void **state)
{
    struct fixture *f = *state;
    struct tried *other = prepare(f, "other", "v"), *chain[CHAIN];

    start_chain(f, chain);
    shard_commit(f->shard, &other->commit);
    for (unsigned i = 0; i < CHAIN; i++)
        shard_commit(f->shard, &chain[i]->commit);
    fake_set_faults(f->fake, 1, 0);
    end_chain(f, chain, STORE_OK);
    fake_set_faults(f->fake, 0, 0);
    assert_true(bytes_is(row_of(f, "p"), "4"));
}

/* What rests on a commit that is refused is not sent, whether it waits, is in the same op, or comes later. shard
 * invariant 7 */
static void lost_base(void **state)
{
    struct fixture *f = *state;
    struct tried *chain[CHAIN], *late;
    uint64_t before;

    start_chain(f, chain);
    late = prepare_behind(f, chain[CHAIN - 1], "late");
    assert_int_equal(commit(f, "p", "first"), STORE_OK);
    shard_commit(f->shard, &chain[0]->commit); /* in flight; the second waits, the others with it */
    for (unsigned i = 1; i < CHAIN; i++)
        shard_commit(f->shard, &chain[i]->commit);
    for (unsigned i = 0; i < CHAIN; i++)
        assert_int_equal(end(f, chain[i]), STORE_CONFLICT);
    before = fake_applied(f->fake);
    shard_commit(f->shard, &late->commit);
    assert_int_equal(end(f, late), STORE_CONFLICT);
    assert_int_equal(fake_applied(f->fake) - before, 1); /* it looks, and sends nothing */
    assert_true(bytes_is(row_of(f, "p"), "first"));
    assert_int_equal(commit(f, "p", "again"), STORE_OK);
    drop_links(late);
    for (unsigned i = 0; i < CHAIN; i++)
        drop_links(chain[i]);
}

/* One that meets a conflict does not take the others of its group with it. */
static void conflict_in_group(void **state)
{
    struct fixture *f = *state;
    struct tried *old = prepare(f, "p", "old"), *first = prepare(f, "q", "v"), *second;

    assert_int_equal(commit(f, "p", "new"), STORE_OK);
    second = prepare(f, "r", "v");
    shard_commit(f->shard, &first->commit);
    shard_commit(f->shard, &old->commit);
    shard_commit(f->shard, &second->commit);
    assert_int_equal(end(f, old), STORE_CONFLICT);
    assert_int_equal(first->commit.result, STORE_OK);
    assert_int_equal(second->commit.result, STORE_OK);
    assert_true(bytes_is(row_of(f, "p"), "new"));
    assert_true(bytes_is(row_of(f, "r"), "v"));
}

static void dropped_space(void **state)
{
    struct fixture *f = *state;
    struct port_op *op = port_op_new(ignore, NULL);
    struct tried *tried = prepare(f, "p", "v");

    port_delete_object(op);
    port_send(f->port, OBJECT, op);
    run(f);
    shard_commit(f->shard, &tried->commit);
    assert_int_equal(end(f, tried), STORE_NOT_FOUND);
    assert_int_equal(fake_row_count(f->fake, OBJECT), 0);
}

/* A commit that is to go on in another shard. */
static struct shard_commit commit_elsewhere(struct fixture *f, const char *partition)
{
    struct tried *tried = prepare(f, partition, "v");

    shard_commit(f->shard, &tried->commit);
    assert_int_equal(end(f, tried), STORE_BUSY);
    assert_true(tried->commit.is_elsewhere);
    assert_null(row_of(f, partition).ptr);
    return tried->commit;
}

/* The bounds changed behind its back: it reads them, and goes on as they say. */
static void changed_bounds(void **state)
{
    struct fixture *f = *state;
    struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 2, .hi = BYTES("m") };
    struct shard_commit elsewhere;

    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    assert_int_equal(commit(f, "a", "v"), STORE_OK);
    assert_false(commit_elsewhere(f, "z").was_sent_before);
    /* What is being moved is not written to; that it was not is seen in the header. */
    bounds.is_moving = true;
    bounds.move_to = 1;
    bounds.move_from = (struct bytes)BYTES("d");
    bounds.epoch++;
    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    assert_false(commit_elsewhere(f, "d").was_sent_before);
    assert_int_equal(commit(f, "c", "v"), STORE_OK);
    /* Learned by a refusal: it was sent. */
    bounds = (struct shard_bounds){ .state = SHARD_LIVE, .epoch = 4, .hi = BYTES("b") };
    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    elsewhere = commit_elsewhere(f, "bb");
    assert_true(elsewhere.was_sent_before);
    assert_true(attempt_equal(elsewhere.sent_as, elsewhere.attempt));
    /* And the other way round: what it knows is old. */
    bounds.hi = (struct bytes){ NULL, 0 };
    bounds.epoch++;
    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    assert_int_equal(commit(f, "bb", "v"), STORE_OK);
    bounds = (struct shard_bounds){ .state = SHARD_SEALED, .epoch = 5 };
    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    assert_int_equal(commit(f, "a", "w"), STORE_NOT_FOUND);
    assert_true(bytes_is(row_of(f, "a"), "v"));
    set_row(f, row_key_bounds(), bytes_from_string("damaged"));
    assert_int_equal(commit(f, "a", "w"), STORE_UNKNOWN);
    assert_true(bytes_is(row_of(f, "a"), "v"));
}

/* A commit that was sent to another shard before, and may have been applied there: the header that went along says so, as
 * long as no later attempt of the same front end has overwritten it. */
static void sent_before(void **state)
{
    struct fixture *f = *state;
    struct tried *applied = prepare(f, "a", "v"), *not_applied = prepare(f, "b", "v"),
                 *overwritten = prepare(f, "c", "v");

    shard_commit(f->shard, &applied->commit);
    assert_int_equal(end(f, applied), STORE_OK);
    applied->is_over = false;
    applied->commit.was_sent_before = true;
    applied->commit.sent_as = applied->commit.attempt;
    shard_commit(f->shard, &applied->commit);
    assert_int_equal(end(f, applied), STORE_OK);
    assert_int_equal(header_of(f, "a").version, applied->commit.now);
    not_applied->commit.was_sent_before = true;
    not_applied->commit.sent_as = not_applied->commit.attempt;
    shard_commit(f->shard, &not_applied->commit);
    assert_int_equal(end(f, not_applied), STORE_OK);
    assert_true(bytes_is(row_of(f, "b"), "v"));
    assert_int_equal(commit(f, "c", "w"), STORE_OK);
    overwritten->commit.was_sent_before = true;
    overwritten->commit.sent_as = overwritten->commit.attempt;
    shard_commit(f->shard, &overwritten->commit);
    assert_int_equal(end(f, overwritten), STORE_UNKNOWN);
    assert_true(bytes_is(row_of(f, "c"), "w"));
}

/* A front end that is taken for dead commits nothing that names its pieces; below the floor nothing. */
static void fences(void **state)
{
    struct fixture *f = *state;
    struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 2, .incarnation_floor = SELF + 1 };
    struct tried *tried = prepare(f, "p", "v"), *plain = prepare(f, "q", "v"),
                 *first = prepare(f, "r", "v");

    set_row(f, row_key_fence(f->arena, SELF + 1), bytes_from_string("1"));
    assert_int_equal(commit(f, "o", "v"), STORE_OK);
    set_row(f, row_key_fence(f->arena, SELF), bytes_from_string("1"));
    tried->commit.has_pieces = true;
    shard_commit(f->shard, &first->commit);
    shard_commit(f->shard, &tried->commit);
    shard_commit(f->shard, &plain->commit);
    assert_int_equal(end(f, tried), STORE_IO);
    assert_int_equal(plain->commit.result, STORE_OK);
    assert_null(row_of(f, "p").ptr);
    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    assert_int_equal(commit(f, "q", "w"), STORE_IO);
    assert_true(bytes_is(row_of(f, "q"), "v"));
}

static void full_pool(void **state)
{
    struct fixture *f = *state;
    struct tried *removal;

    assert_int_equal(commit(f, "p", "v"), STORE_OK);
    fake_set_full(f->fake, true);
    assert_int_equal(commit(f, "p", "longer"), STORE_FULL);
    assert_int_equal(commit(f, "q", "v"), STORE_FULL);
    removal = prepare(f, "p", "");
    removal->change.is_removal = true;
    shard_commit(f->shard, &removal->commit);
    assert_int_equal(end(f, removal), STORE_OK);
    assert_null(row_of(f, "p").ptr);
}

/* A header that cannot be read: the commit was sent, so nothing is claimed. */
static void damaged_header(void **state)
{
    struct fixture *f = *state;
    struct tried *tried;

    assert_int_equal(commit(f, "p", "v"), STORE_OK);
    tried = prepare(f, "p", "w");
    set_row(f, row_key_header(f->arena, bytes_from_string("p")), bytes_from_string("damaged"));
    shard_commit(f->shard, &tried->commit);
    assert_int_equal(end(f, tried), STORE_UNKNOWN);
    assert_true(bytes_is(row_of(f, "p"), "v"));
}

/* Others commit so often while an op is resent that the header has forgotten it: it may have been applied,
 * so it is no conflict. decision: 396 */
static void forgotten_attempt(void **state)
{
    unsigned unknown_applied = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fixture *f = fixture_new(seed);
        struct partition_header header = { .version = 0 };
        struct tried *tried = prepare(f, "p", "v");
        struct port_op *others = port_op_new(ignore, NULL);
        bool was_applied = false;

        for (unsigned i = 0; i < HEADER_ATTEMPTS; i++)
            header = partition_header_after(&header, 2000,
                                            (struct attempt){ SELF + 1 + (uint32_t)i, 1 });
        port_set(others, row_key_header(f->arena, bytes_from_string("p")),
                 partition_header_write(f->arena, &header));
        fake_set_faults(f->fake, 1, 0);
        shard_commit(f->shard, &tried->commit);
        fake_set_faults(f->fake, 0, 0);
        port_send(fake_client(f->fake), OBJECT, others);
        while (fake_step(f->fake))
            was_applied = was_applied || row_of(f, "p").ptr;
        assert_true(tried->commit.result == STORE_OK || tried->commit.result == STORE_UNKNOWN);
        unknown_applied += was_applied && tried->commit.result == STORE_UNKNOWN;
        tear_down((void **)&f);
    }
    assert_true(unknown_applied > 0);
}

/* ---- by lot: several front ends count up in the same partitions ---- */

enum { FRONT_ENDS = 3, PARTITIONS = 3, ROUNDS = 60, SEEDS = 300 };

struct front_end {
    struct fixture f;
    struct tried *open;                  /* not over yet */
    struct tried *newest[PARTITIONS];    /* that was begun */
    struct shard_link *kept[PARTITIONS]; /* of that */
    bool is_dead;
};

struct counts {
    unsigned ok, unknown, conflict;
};

static struct shard *killed[SEEDS + 1];
static const char *const names[PARTITIONS] = { "a", "b", "c" };

static unsigned value_of(struct fixture *f, unsigned partition)
{
    struct bytes row = row_of(f, names[partition]);

    return row.ptr ? (unsigned)strtoul(row.ptr, NULL, 10) : 0;
}

static unsigned partition_of(const struct tried *tried)
{
    return (unsigned)(tried->commit.partition_key.ptr[0] - 'a');
}

/* Now and then on the state that its own newest one will leave, or should have left. */
static struct tried *prepare_next(struct front_end *end, struct fake *fake, unsigned partition,
                                  char value[32])
{
    const struct tried *newest = end->newest[partition];

    if (newest && fake_random(fake, 3) > 0) {
        snprintf(value, 32, "%lu", strtoul(newest->change.value.ptr, NULL, 10) + 1);
        return prepare_behind(&end->f, newest, value);
    }
    snprintf(value, 32, "%u", value_of(&end->f, partition) + 1);
    return prepare_linked(&end->f, names[partition], value);
}

static void begin_increment(struct front_end *end, struct fake *fake)
{
    unsigned partition = fake_random(fake, PARTITIONS);
    char value[32] = "";
    struct tried *tried = prepare_next(end, fake, partition, value);

    shard_link_release(end->kept[partition]);
    end->kept[partition] = shard_link_hold(tried->commit.link);
    end->newest[partition] = tried;
    /* NUL-terminated, for strtoul(). */
    tried->change.value = arena_copy(end->f.arena, bytes_of(value, sizeof value));
    tried->next = end->open;
    end->open = tried;
    shard_commit(end->f.shard, &tried->commit);
}

static void take_results(struct front_end *end, struct counts counts[PARTITIONS])
{
    struct tried **at = &end->open;

    while (*at) {
        struct tried *tried = *at;
        struct counts *c = &counts[partition_of(tried)];

        if (!tried->is_over && !end->is_dead) {
            at = &tried->next;
            continue;
        }
        *at = tried->next;
        shard_link_release(tried->commit.link);
        shard_link_release(tried->commit.rests_on);
        if (!tried->is_over || tried->commit.result == STORE_UNKNOWN)
            c->unknown++;
        else if (tried->commit.result == STORE_OK)
            c->ok++;
        else
            c->conflict++;
        assert_true(!tried->is_over || tried->commit.result == STORE_OK ||
                    tried->commit.result == STORE_CONFLICT ||
                    tried->commit.result == STORE_UNKNOWN);
    }
}

static void start(struct front_end *end, struct fake *fake, uint32_t incarnation)
{
    *end = (struct front_end){
        .f = { .fake = fake, .port = fake_client(fake), .incarnation = incarnation }
    };
    end->f.arena = arena_new(64u << 20);
    open_shard(&end->f);
}

static void by_lot(uint64_t seed, struct counts *sum)
{
    struct fixture *base = fixture_new(seed);
    struct front_end ends[FRONT_ENDS];
    struct counts counts[PARTITIONS] = { { 0, 0, 0 } };

    fake_set_faults(base->fake, 6, 3);
    for (uint32_t i = 0; i < FRONT_ENDS; i++)
        start(&ends[i], base->fake, i + 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct front_end *end = &ends[fake_random(base->fake, FRONT_ENDS)];

        if (!end->is_dead)
            begin_increment(end, base->fake);
        for (uint32_t steps = fake_random(base->fake, 12); steps > 0; steps--)
            fake_step(base->fake);
        if (round == ROUNDS / 2 && seed % 2) {
            ends[0].is_dead = true;
            fake_client_kill(base->fake, ends[0].f.port);
        }
        for (unsigned i = 0; i < FRONT_ENDS; i++)
            take_results(&ends[i], counts);
    }
    run(base);
    for (unsigned i = 0; i < FRONT_ENDS; i++) {
        take_results(&ends[i], counts);
        assert_null(ends[i].open);
    }
    for (unsigned i = 0; i < PARTITIONS; i++) {
        unsigned value = value_of(base, i);

        if (value < counts[i].ok || value > counts[i].ok + counts[i].unknown)
            fail_msg("seed %llu: %s is %u after %u acknowledged, %u unknown",
                     (unsigned long long)seed, names[i], value, counts[i].ok, counts[i].unknown);
        sum->ok += counts[i].ok;
        sum->unknown += counts[i].unknown;
        sum->conflict += counts[i].conflict;
    }
    for (unsigned i = 0; i < FRONT_ENDS; i++) {
        for (unsigned k = 0; k < PARTITIONS; k++)
            shard_link_release(ends[i].kept[k]);
        if (!ends[i].is_dead)
            shard_free(ends[i].f.shard);
        else
            killed[seed] = ends[i].f.shard; /* with its process, if it were one */
        arena_free(ends[i].f.arena);
    }
    tear_down((void **)&base);
}

/* Acknowledged once is applied once; a conflict never; so a counter says how many there were. */
static void increments_by_lot(void **state)
{
    struct counts sum = { 0, 0, 0 };

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        by_lot(seed, &sum);
    assert_true(sum.ok > SEEDS * ROUNDS / 4 && sum.conflict > SEEDS && sum.unknown > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounded_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(same_partition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hot_partition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chain_in_one_op, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chain_applied_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_base, set_up, tear_down),
        cmocka_unit_test_setup_teardown(conflict_in_group, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dropped_space, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sent_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_pool, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_header, set_up, tear_down),
        cmocka_unit_test(forgotten_attempt),
        cmocka_unit_test(increments_by_lot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
