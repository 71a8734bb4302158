#include "fixture.h"

#include <ftw.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "../store/late.h"
#include "base/log.h"
#include "service/deciding.h"

static const struct bytes tag_key = BYTES("tag");

/* ---- the store ---- */

static void open_store(struct fixture *f)
{
    const char *wanted = getenv("LAGRA_TREE_STORE"), *parent = getenv("TMPDIR"), *problem;
    struct store_options options = { .location = f->folder, .sync = false };

    if (!wanted) {
        f->store = store_open_memory();
    } else if (strcmp(wanted, "late") == 0) {
        f->is_remote = true;
        f->store = store_open_late(store_open_memory(),
                                   (struct late_options){ .lost_reads = 5, .fetches = 10 });
    } else {
        (void)snprintf(f->folder, sizeof f->folder, "%s/lagra-tree-XXXXXX",
                       parent ? parent : "/tmp");
        assert_non_null(mkdtemp(f->folder));
        assert_int_equal(store_open_embedded(&options, &f->store, &problem), STORE_OK);
    }
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static void close_store(struct fixture *f)
{
    store_close(f->store);
    if (f->folder[0])
        nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    f->folder[0] = '\0';
}

int fixture_set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);

    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    open_store(f);
    fixture_new_tree(f, TREE_CASE_EXACT);
    *state = f;
    return 0;
}

int fixture_tear_down(void **state)
{
    close_store(*state);
    free(*state);
    return 0;
}

void fixture_new_tree(struct fixture *f, enum tree_case rule)
{
    f->space = guid_new();
    f->rule = rule;
}

void fixture_new_store(struct fixture *f)
{
    close_store(f);
    open_store(f);
}

/* ---- operations ---- */

struct decision fixture_decision(struct fixture *f, struct arena *arena, struct problem *problem)
{
    return (struct decision){ .arena = arena,
                              .store = f->store,
                              .access = STORE_MAY_BLOCK,
                              .problem = problem,
                              .attempt = arena_mark(arena) };
}

static void put_tag(struct tree *tree, struct decision_part *part, char tag)
{
    changes_put(tree_change(tree, part), RECORD_INNER, tag_key, bytes_of(&tag, 1), NULL, 0);
}

static enum tree_result read_tag(struct tree *tree, const struct tree_place *place, char *saw)
{
    struct decision_part *part;
    struct record record;
    enum tree_result opened;
    enum store_result result;

    if (!place->exists)
        return TREE_NOT_FOUND;
    opened = tree_open_node(tree, place, &part);
    if (opened)
        return opened;
    saw[0] = '.';
    if (tree_place_is_root(place))
        return TREE_OK;
    result = snapshot_get(part->before, RECORD_INNER, tag_key, tree->d->arena, &record);
    if (result) {
        tree->failed = result;
        return TREE_FAILED;
    }
    saw[0] = record.value.ptr[0];
    return TREE_OK;
}

static enum tree_result list(struct tree *tree, const struct tree_place *place, char *saw)
{
    struct tree_page page;
    enum tree_result result;
    size_t used = 0;

    if (!place->exists)
        return TREE_NOT_FOUND;
    result = tree_list(tree, place, bytes_of("", 0), bytes_of("", 0), 100, &page);
    for (size_t i = 0; i < page.count && !result && used < SAW_SIZE; i++)
        used += (size_t)snprintf(saw + used, SAW_SIZE - used, "%.*s%s ",
                                 BYTES_ARG(page.entries[i].name.given),
                                 page.entries[i].kind == TREE_DIRECTORY ? "/" : "");
    return result;
}

/* What its service deletes of a node. */
static void delete_tag(struct decision_part *part)
{
    if (part)
        changes_delete(part->changes, RECORD_INNER, tag_key);
}

static enum tree_result rename_place(struct tree *tree, const struct op *op,
                                     const struct tree_place *from)
{
    struct tree_renamed renamed;
    struct tree_place to;
    struct tree_path path;
    enum tree_result result;

    assert_int_equal(tree_path_parse(tree->d->arena, tree->rule, bytes_from_string(op->to), &path),
                     0);
    result = tree_find(tree, &path, TREE_TO_CHANGE, &to);
    if (!result)
        result =
            tree_rename(tree, from, &to,
                        op->kind == OP_RENAME ? TREE_OVER_NOTHING : TREE_OVER_OTHERS, &renamed);
    if (!result)
        delete_tag(renamed.replaced);
    return result;
}

static enum tree_result change(struct tree *tree, const struct op *op, struct tree_place *place)
{
    struct decision_part *part = NULL, *old = NULL;
    enum tree_result result = TREE_OK;

    if (op->kind == OP_RENAME || op->kind == OP_RENAME_OVER)
        return rename_place(tree, op, place);
    if (op->kind == OP_DELETE)
        result = tree_delete(tree, place, &old);
    else if (op->kind == OP_REPLACE)
        result = tree_replace(tree, place, &old, &part);
    else
        result =
            tree_create(tree, place, op->kind == OP_MAKE_FILE ? TREE_FILE : TREE_DIRECTORY, &part);
    if (result)
        return result;
    delete_tag(old);
    if (part)
        put_tag(tree, part, op->tag);
    return TREE_OK;
}

struct attempt {
    struct fixture *f;
    const struct op *op;
    struct outcome outcome;
    bool decided; /* what is left is its commit */
};

struct fetched {
    struct waiter waiter; /* first */
    sem_t woken;
};

static void wake(struct waiter *waiter)
{
    sem_post(&((struct fetched *)(void *)waiter)->woken);
}

/* One attempt of an operation: `of` is a struct attempt. */
static enum error attempt_op(struct decision *d, void *of)
{
    struct attempt *attempt = of;
    const struct op *op = attempt->op;
    bool reads = op->kind == OP_FIND || op->kind == OP_LIST;
    struct outcome outcome = { .saw = "" };
    struct tree tree;
    struct tree_path path;
    struct tree_place place;

    assert_int_equal(
        tree_path_parse(d->arena, attempt->f->rule, bytes_from_string(op->path), &path), 0);
    outcome.result = tree_open(&tree, d, attempt->f->space, attempt->f->rule);
    decision_read_clock(d);
    if (!outcome.result)
        outcome.result = tree_find(&tree, &path, reads ? TREE_TO_READ : TREE_TO_CHANGE, &place);
    if (!outcome.result)
        outcome.result = op->kind == OP_FIND   ? read_tag(&tree, &place, outcome.saw)
                         : op->kind == OP_LIST ? list(&tree, &place, outcome.saw)
                                               : change(&tree, op, &place);
    if (outcome.result == TREE_FAILED)
        return decision_fail_store(d, tree.failed);
    assert_true(outcome.result == TREE_OK || deciding_is_empty(d));
    attempt->outcome = outcome;
    return OK;
}

/* As a worker does it, on a store on other machines: what is not there is fetched, and the same step is
 * taken again. service/exchange.c */
static enum error run_fetching(struct decision *d, struct attempt *attempt)
{
    struct fetch_set *set = fetch_set_open(d->store);
    struct fetched fetched = { .waiter = { .wake = wake } };
    enum error e = DECIDE_AGAIN;

    sem_init(&fetched.woken, 0, 0);
    d->access = (struct store_access){ .fetches = set };
    while (e == DECIDE_AGAIN || e == DECIDE_BLOCKING) {
        if (e == DECIDE_BLOCKING) {
            if (!fetch_set_wait(set, &fetched.waiter))
                d->access = STORE_MAY_BLOCK;
            else
                while (sem_wait(&fetched.woken))
                    ;
        }
        if (e == DECIDE_AGAIN || !attempt->decided) {
            e = deciding_attempt(d, attempt_op, attempt);
            attempt->decided = e == OK;
        }
        if (attempt->decided && !deciding_is_empty(d))
            e = deciding_commit(d);
        else if (attempt->decided)
            e = OK;
    }
    deciding_end(d);
    fetch_set_close(set);
    sem_destroy(&fetched.woken);
    return e;
}

struct outcome fixture_run(struct fixture *f, const struct op *op)
{
    struct arena *arena = arena_new(1u << 24);
    struct problem problem = { .detail = NULL };
    struct decision d = fixture_decision(f, arena, &problem);
    struct attempt attempt = { .f = f, .op = op };
    enum error e = f->is_remote ? run_fetching(&d, &attempt)
                                : deciding_run_unawaited(&d, attempt_op, &attempt);

    deciding_end(&d);
    arena_free(arena);
    if (e)
        attempt.outcome = (struct outcome){ .result = TREE_FAILED, .error = e };
    return attempt.outcome;
}

void fixture_do(struct fixture *f, enum op_kind kind, const char *path, const char *to)
{
    assert_int_equal(fixture_run(f, &(struct op){ kind, path, to, 'x' }).result, TREE_OK);
}

/* ---- all that it holds ---- */

struct look {
    struct fixture *f;
    struct arena *arena;
    struct text out;
    size_t nodes;
};

/* Held: the late store loses others. */
static struct snapshot *open_at(struct look *look, uint64_t id)
{
    struct partition partition = tree_partition(look->arena, look->f->space, id);
    struct snapshot *snapshot = snapshot_open(look->f->store, partition, STORE_MAY_BLOCK);
    enum store_result result;

    while ((result = snapshot_hold(snapshot)) == STORE_CONFLICT) {
        snapshot_close(snapshot);
        snapshot = snapshot_open(look->f->store, partition, STORE_MAY_BLOCK);
    }
    assert_int_equal(result, STORE_OK);
    return snapshot;
}

static void look_into(struct look *look, uint64_t directory);

static void look_at(struct look *look, uint64_t parent, const struct tree_entry *entry)
{
    struct snapshot *snapshot = open_at(look, entry->id);
    struct tree_node node;
    struct record tag;

    assert_int_equal(tree_node_read(snapshot, look->arena, look->f->rule, &node), STORE_OK);
    assert_int_equal(node.parent, parent);
    assert_int_equal(node.kind, entry->kind);
    assert_true(bytes_equal(node.name.given, entry->name.given));
    assert_int_equal(snapshot_get(snapshot, RECORD_INNER, tag_key, look->arena, &tag), STORE_OK);
    snapshot_close(snapshot);
    look->nodes++;
    text_printf(&look->out, "%.*s=%c", BYTES_ARG(entry->name.given), tag.value.ptr[0]);
    if (entry->kind == TREE_DIRECTORY) {
        text_add_char(&look->out, '(');
        look_into(look, entry->id);
        text_add_char(&look->out, ')');
    }
    text_add_char(&look->out, ' ');
}

static void look_into(struct look *look, uint64_t directory)
{
    struct snapshot *snapshot = open_at(look, directory);
    struct scan *scan = scan_open(snapshot, RECORD_INNER, bytes_of("e", 1), bytes_of("e", 1));
    struct tree_entry entry;
    struct record record;
    uint64_t counted, count = 0;

    for (; scan_next(scan, look->arena, &record) == STORE_OK; count++) {
        assert_true(tree_entry_decode(look->arena, look->f->rule, bytes_from(record.key, 1),
                                      record.value, &entry));
        look_at(look, directory, &entry);
    }
    scan_close(scan);
    assert_int_equal(tree_count_read(snapshot, look->arena, &counted), STORE_OK);
    assert_int_equal(counted, count);
    snapshot_close(snapshot);
}

void fixture_dump(struct fixture *f, char *out, size_t size)
{
    struct look look = { .f = f, .arena = arena_new(1u << 28) };
    struct space_iterator *iterator;
    struct space_record record;
    size_t listed = 0;
    enum store_result result = STORE_CONFLICT;

    text_init(&look.out, look.arena, size);
    look_into(&look, TREE_ROOT);
    while (result == STORE_CONFLICT) { /* the late store loses it */
        iterator = space_iterator_open(f->store, f->space, bytes_of("", 0), bytes_of("", 0),
                                       STORE_MAY_BLOCK);
        for (listed = 0; (result = space_iterator_next(iterator, &record)) == STORE_OK; listed++)
            ;
        space_iterator_close(iterator);
    }
    assert_int_equal(listed, look.nodes);
    if (out)
        (void)snprintf(out, size, "%.*s", BYTES_ARG(text_bytes(&look.out)));
    arena_free(look.arena);
}
