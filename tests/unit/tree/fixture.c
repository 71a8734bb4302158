#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "../store/chosen.h"
#include "base/endian.h"
#include "base/log.h"
#include "service/deferred_tasks.h"
#include "service/driver.h"
#include "service/operation.h"

static const struct bytes tag_key = BYTES("tag");

int fixture_set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);

    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    f->store = chosen_store_open(getenv("LAGRA_TREE_STORE"), f->folder);
    fixture_new_tree(f, TREE_CASE_EXACT);
    *state = f;
    return 0;
}

int fixture_tear_down(void **state)
{
    struct fixture *f = *state;

    chosen_store_close(f->store, f->folder);
    free(f);
    return 0;
}

void fixture_new_tree(struct fixture *f, enum tree_case rule)
{
    f->space = guid_new();
    f->rule = rule;
    f->taken = 0;
}

void fixture_new_store(struct fixture *f)
{
    chosen_store_close(f->store, f->folder);
    f->store = chosen_store_open(getenv("LAGRA_TREE_STORE"), f->folder);
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

static enum tree_result tag_in(struct tree *tree, const struct tree_place *place,
                               const struct decision_part *part, char *saw)
{
    struct tree_record record;

    saw[0] = '.';
    if (tree_place_is_root(place))
        return TREE_OK;
    tree->failed = tree_record_read(tree, part->before, tree->d->arena, tag_key, &record);
    assert_int_not_equal(tree->failed, STORE_NOT_FOUND);
    saw[0] = tree->failed ? '\0' : record.value.ptr[0];
    return tree->failed ? TREE_FAILED : TREE_OK;
}

static enum tree_result read_tag(struct tree *tree, const struct tree_place *place, char *saw)
{
    struct decision_part *part;
    enum tree_result opened = tree_open_node(tree, place, &part);

    return opened ? opened : tag_in(tree, place, part, saw);
}

static enum tree_result find_tag(struct tree *tree, const struct tree_path *path, char *saw)
{
    struct decision_part *part;
    struct tree_place place;
    enum tree_result found = tree_find_node(tree, path, TREE_TO_READ, &place, &part);

    if (found)
        return found;
    assert_true(place.exists == (part != NULL));
    return place.exists ? tag_in(tree, &place, part, saw) : TREE_NOT_FOUND;
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

/* A node's tag is about to change: keeps it for snapshots. */
static enum tree_result keep_tag(struct tree *tree, struct decision_part *part)
{
    struct tree_record record;

    tree->failed = tree_record_read(tree, part->before, tree->d->arena, tag_key, &record);
    assert_int_not_equal(tree->failed, STORE_NOT_FOUND);
    if (!tree->failed)
        tree_record_retain(tree, part, tag_key, &record);
    return tree->failed ? TREE_FAILED : TREE_OK;
}

/* What its service deletes of a node. */
static enum tree_result delete_tag(struct tree *tree, struct decision_part *part)
{
    enum tree_result result = part ? keep_tag(tree, part) : TREE_OK;

    if (part && !result)
        tree_record_delete(tree, part, tag_key);
    return result;
}

static enum tree_result change_tag(struct tree *tree, const struct op *op,
                                   const struct tree_place *place)
{
    struct decision_part *part;
    enum tree_result result;

    if (tree_place_is_root(place))
        return TREE_IS_ROOT;
    if (!place->exists)
        return TREE_NOT_FOUND;
    result = tree_open_node(tree, place, &part);
    if (!result)
        result = keep_tag(tree, part);
    decision_read_clock(tree->d);
    if (!result)
        tree_record_put(tree, part, tag_key, bytes_of(&op->tag, 1));
    return result;
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
        result = delete_tag(tree, renamed.replaced);
    return result;
}

static enum tree_result change(struct tree *tree, const struct op *op, struct tree_place *place)
{
    struct decision_part *part = NULL, *old = NULL;
    enum tree_result result = TREE_OK;

    if (op->kind == OP_RENAME || op->kind == OP_RENAME_OVER)
        return rename_place(tree, op, place);
    if (op->kind == OP_TAG)
        return change_tag(tree, op, place);
    if (op->kind == OP_DELETE)
        result = tree_delete(tree, place, &old);
    else if (op->kind == OP_REPLACE)
        result = tree_replace(tree, place, &old, &part);
    else
        result =
            tree_create(tree, place, op->kind == OP_MAKE_FILE ? TREE_FILE : TREE_DIRECTORY, &part);
    if (!result)
        result = delete_tag(tree, old);
    if (!result && part)
        tree_record_put(tree, part, tag_key, bytes_of(&op->tag, 1));
    return result;
}

struct attempt {
    struct fixture *f;
    const struct op *op;
    struct outcome outcome;
    uint64_t taken; /* by OP_SNAPSHOT */
};

/* One attempt of an operation: `of` is a struct attempt. */
static enum error attempt_op(struct decision *d, void *of)
{
    struct attempt *attempt = of;
    const struct op *op = attempt->op;
    struct outcome outcome = { .saw = "" };
    struct tree tree;
    struct tree_path path;
    struct tree_place place;

    assert_int_equal(
        tree_path_parse(d->arena, attempt->f->rule, bytes_from_string(op->path), &path), 0);
    outcome.result = TREE_OK;
    if (op->at)
        tree_open_at(&tree, d, attempt->f->space, attempt->f->rule, op->at);
    else if (op->kind == OP_FIND || op->kind == OP_LIST)
        tree_open_to_read(&tree, d, attempt->f->space, attempt->f->rule);
    else
        outcome.result = tree_open(&tree, d, attempt->f->space, attempt->f->rule);
    decision_read_clock(d);
    if (!outcome.result && op->kind == OP_SNAPSHOT)
        outcome.result = tree_snapshot(&tree, &attempt->taken);
    else if (!outcome.result && op->kind == OP_FIND)
        outcome.result = find_tag(&tree, &path, outcome.saw);
    else if (!outcome.result)
        outcome.result =
            tree_find(&tree, &path, op->kind == OP_LIST ? TREE_TO_READ : TREE_TO_CHANGE, &place);
    if (!outcome.result && op->kind != OP_SNAPSHOT && op->kind != OP_FIND)
        outcome.result =
            op->kind == OP_LIST ? list(&tree, &place, outcome.saw) : change(&tree, op, &place);
    if (outcome.result == TREE_FAILED)
        return decision_fail_store(d, tree.failed);
    assert_true(outcome.result == TREE_OK || deciding_is_empty(d));
    attempt->outcome = outcome;
    return OK;
}

static struct outcome run_op(struct fixture *f, const struct op *op)
{
    struct arena *arena = arena_new(1u << 24);
    struct problem problem = { .detail = NULL };
    struct decision d = fixture_decision(f, arena, &problem);
    struct attempt attempt = { .f = f, .op = op };
    enum error e = deciding_run_unawaited(&d, attempt_op, &attempt);

    deciding_end(&d);
    arena_free(arena);
    if (!e && op->kind == OP_SNAPSHOT)
        f->taken = attempt.taken;
    if (e)
        attempt.outcome = (struct outcome){ .result = TREE_FAILED, .error = e };
    return attempt.outcome;
}

struct outcome fixture_run(struct fixture *f, const struct op *op)
{
    if (op->kind != OP_END)
        return run_op(f, op);
    if (f->taken)
        fixture_delete_snapshot(f, f->taken);
    f->taken = 0;
    fixture_collect(f);
    return (struct outcome){ .result = TREE_OK };
}

void fixture_do(struct fixture *f, enum op_kind kind, const char *path, const char *to)
{
    assert_int_equal(fixture_run(f, &(struct op){ kind, path, to, 'x', 0 }).result, TREE_OK);
}

/* ---- all that it holds ---- */

struct look {
    struct fixture *f;
    struct arena *arena;
    struct text out;
    size_t nodes;
};

static struct read_view *open_at(struct look *look, uint64_t id)
{
    return read_view_open(look->f->store, tree_partition(look->arena, look->f->space, id),
                          STORE_MAY_BLOCK);
}

static void look_into(struct look *look, uint64_t directory);

static void look_at(struct look *look, uint64_t parent, const struct tree_entry *entry)
{
    struct read_view *snapshot = open_at(look, entry->id);
    struct tree_node node;
    struct record tag;

    assert_int_equal(tree_node_read(snapshot, look->arena, look->f->rule, &node), STORE_OK);
    assert_int_equal(node.parent, parent);
    assert_int_equal(node.kind, entry->kind);
    assert_true(bytes_equal(node.name.given, entry->name.given));
    assert_int_equal(read_view_get(snapshot, RECORD_INNER, tag_key, look->arena, &tag), STORE_OK);
    read_view_close(snapshot);
    look->nodes++;
    text_printf(&look->out, "%.*s=%c", BYTES_ARG(entry->name.given),
                tag.value.ptr[tag.value.len - 1]);
    if (entry->kind == TREE_DIRECTORY) {
        text_add_char(&look->out, '(');
        look_into(look, entry->id);
        text_add_char(&look->out, ')');
    }
    text_add_char(&look->out, ' ');
}

static void look_into(struct look *look, uint64_t directory)
{
    struct read_view *snapshot = open_at(look, directory);
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
    read_view_close(snapshot);
}

void fixture_dump(struct fixture *f, char *out, size_t size)
{
    struct look look = { .f = f, .arena = arena_new(1u << 28) };
    struct space_iterator *iterator;
    struct space_record record;
    size_t listed = 0;

    text_init(&look.out, look.arena, size);
    look_into(&look, TREE_ROOT);
    iterator =
        space_iterator_open(f->store, f->space, bytes_of("", 0), bytes_of("", 0), STORE_MAY_BLOCK);
    while (space_iterator_next(iterator, &record) == STORE_OK)
        listed += bytes_is(record.record_key, "n");
    space_iterator_close(iterator);
    assert_int_equal(listed, look.nodes);
    if (out)
        (void)snprintf(out, size, "%.*s", BYTES_ARG(text_bytes(&look.out)));
    arena_free(look.arena);
}

/* ---- snapshots ---- */

#define TASK_COLLECT 0x7000

struct walk {
    struct fixture *f;
    uint64_t at;
    const char *path;
    struct tree_entry entries[MODEL_NODES];
    char tags[MODEL_NODES];
    size_t count;
    struct arena *arena; /* of the names */
};

static struct tree_path path_of(struct tree *tree, const char *path)
{
    struct tree_path parsed;

    assert_int_equal(tree_path_parse(tree->d->arena, tree->rule, bytes_from_string(path), &parsed),
                     0);
    return parsed;
}

/* The entries of a directory, by pages of two, with their tags. */
static enum tree_result walk_pages(struct tree *tree, struct walk *walk)
{
    struct tree_path path = path_of(tree, walk->path);
    struct tree_page page = { .next = bytes_of("", 0) };
    struct tree_place place;
    enum tree_result result = tree_find(tree, &path, TREE_TO_READ, &place);

    for (walk->count = 0; !result && page.next.ptr;) {
        result = tree_list(tree, &place, bytes_of("", 0), page.next, 2, &page);
        for (size_t i = 0; !result && i < page.count; i++) {
            struct tree_place entry = { .path = { &page.entries[i].name, 1 },
                                        .directories = &place.entry.id,
                                        .exists = true,
                                        .entry = page.entries[i] };

            result = read_tag(tree, &entry, &walk->tags[walk->count]);
            if (tree->d->part_count > 1)
                decision_leave(tree->d, &tree->d->parts[tree->d->part_count - 1]);
            walk->entries[walk->count] = page.entries[i];
            walk->entries[walk->count++].name.given =
                arena_copy(walk->arena, page.entries[i].name.given);
        }
    }
    return result;
}

static enum error attempt_walk(struct decision *d, void *of)
{
    struct walk *walk = of;
    struct tree tree;
    enum tree_result result;

    tree_open_at(&tree, d, walk->f->space, walk->f->rule, walk->at);
    result = walk_pages(&tree, walk);
    assert_true(result == TREE_OK || result == TREE_FAILED);
    return result ? decision_fail_store(d, tree.failed) : OK;
}

static enum error run(struct fixture *f, attempt_fn *attempt, void *of)
{
    struct arena *arena = arena_new(1u << 24);
    struct problem problem = { .detail = NULL };
    struct decision d = fixture_decision(f, arena, &problem);
    enum error e = deciding_run_unawaited(&d, attempt, of);

    deciding_end(&d);
    arena_free(arena);
    return e;
}

static size_t dump_at(struct walk *walk, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    assert_int_equal(run(walk->f, attempt_walk, walk), OK);
    for (size_t i = 0; i < walk->count; i++) {
        const struct tree_entry *entry = &walk->entries[i];

        used += (size_t)snprintf(out + used, size - used, "%.*s=%c", BYTES_ARG(entry->name.given),
                                 walk->tags[i]);
        if (entry->kind == TREE_DIRECTORY) {
            struct bytes path =
                arena_printf(walk->arena, "%s%s%.*s", walk->path, walk->path[0] ? "/" : "",
                             BYTES_ARG(entry->name.given));
            struct walk below = { .f = walk->f,
                                  .at = walk->at,
                                  .arena = walk->arena,
                                  .path = arena_string(walk->arena, path) };

            used += (size_t)snprintf(out + used, size - used, "(");
            used += dump_at(&below, out + used, size - used);
            used += (size_t)snprintf(out + used, size - used, ")");
        }
        used += (size_t)snprintf(out + used, size - used, " ");
    }
    return used;
}

void fixture_dump_at(struct fixture *f, uint64_t generation, char *out, size_t size)
{
    struct walk walk = { .f = f, .at = generation, .path = "", .arena = arena_new(1u << 24) };

    dump_at(&walk, out, size);
    arena_free(walk.arena);
}

struct ending {
    struct fixture *f;
    uint64_t generation;
};

static enum error attempt_delete(struct decision *d, void *of)
{
    const struct ending *ending = of;
    struct tree tree;
    enum tree_result result = tree_open(&tree, d, ending->f->space, ending->f->rule);

    decision_read_clock(d);
    if (!result)
        result = tree_snapshot_delete(&tree, ending->generation, TASK_COLLECT);
    return result ? decision_fail_store(d, tree.failed) : OK;
}

void fixture_delete_snapshot(struct fixture *f, uint64_t generation)
{
    struct ending ending = { f, generation };

    assert_int_equal(run(f, attempt_delete, &ending), OK);
}

static enum store_result forget_tag(struct tree *tree, struct decision_part *part, struct bytes key,
                                    struct bytes value)
{
    struct tree_record now;
    enum store_result result = tree_record_read(tree, part->before, tree->d->arena, key, &now);

    assert_non_null(part->changes);
    assert_true(bytes_equal(key, tag_key));
    assert_int_equal(value.len, 1);
    if (!result)
        tree_record_rewrite(tree, part, key, &now);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result collect(struct decision *d, const struct deferred_task *task,
                                 const struct endpoint *endpoint)
{
    (void)endpoint;
    return tree_collect(d, task, TREE_CASE_EXACT, forget_tag);
}

static const struct task_handler collecting[] = { { TASK_COLLECT, "collect", collect } };
static const struct service collector = { .task_handlers = collecting, .task_handler_count = 1 };

/* Each version is until a generation that is kept. returns how many there are */
static size_t count_versions(struct fixture *f, const struct retained_generations *kept)
{
    struct index_iterator *iterator = index_iterator_open(
        f->store, f->space, bytes_of("", 0), bytes_of("", 0), bytes_of("", 0), STORE_MAY_BLOCK);
    struct index_record found;
    enum store_result result;
    size_t count = 0;

    for (; !(result = index_iterator_next(iterator, &found)); count++) {
        size_t i = 0;

        while (kept && i < kept->count && kept->generations[i] != be64_get(found.key.ptr))
            i++;
        assert_true(!kept || i < kept->count);
    }
    index_iterator_close(iterator);
    assert_int_equal(result, STORE_NOT_FOUND);
    return count;
}

size_t fixture_versions(struct fixture *f)
{
    return count_versions(f, NULL);
}

void fixture_collect(struct fixture *f)
{
    static const struct service *const services[] = { &collector };
    struct arena *arena = arena_new(1u << 24);
    struct read_view *before;
    struct retained_generations kept;
    bool left = false;

    while (tasks_run_due(f->store, services, NULL, 1, clock_now(), &left) < INSTANT_MAX)
        ;
    assert_false(left);
    before = read_view_open(f->store, tree_stamp_partition(f->space), STORE_MAY_BLOCK);
    assert_int_equal(retained_generations_read(before, arena, &kept), STORE_OK);
    read_view_close(before);
    count_versions(f, &kept);
    arena_free(arena);
}
