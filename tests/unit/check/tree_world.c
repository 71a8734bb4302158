/* See tree_world.h. */
#include "tree_world.h"

#include "file/pending_file.h"
#include "file/share_usage.h"
#include "service/driver.h"

static const struct bytes share_name = BYTES("share");

static enum error attempt(struct decision *d, void *of)
{
    struct world *w = of;
    struct file_state *state = arena_alloc(d->arena, sizeof *state);
    struct file file = { .kind = w->kind, .metadata = BYTES("m") };
    struct decision_part *part;
    struct length_change length = { .was = w->deletes ? 100 : 0, .is = w->deletes ? 0 : 100 };
    struct tree_path path;

    d->state = &state->base;
    state->share = (struct share){ .space = w->space, .quota_gib = 1 };
    assert_int_equal(tree_open(&state->tree, d, w->space, TREE_CASE_IGNORED), TREE_OK);
    decision_read_clock(d);
    if (w->snapshot) {
        assert_int_equal(tree_snapshot(&state->tree, &w->id), TREE_OK);
        return OK;
    }
    assert_int_equal(
        tree_path_parse(d->arena, TREE_CASE_IGNORED, bytes_from_string(w->path), &path), 0);
    assert_int_equal(tree_find(&state->tree, &path, TREE_TO_CHANGE, &state->place), TREE_OK);
    if (w->deletes) {
        assert_int_equal(tree_delete(&state->tree, &state->place, &part), TREE_OK);
        assert_int_equal(file_read(&state->tree, part->before, d->arena, &file), STORE_OK);
        file_delete(d, part, &file);
        length.file = state->place.entry.id;
        return share_usage_change(d, &state->share, &length, 1);
    }
    assert_int_equal(tree_create(&state->tree, &state->place, w->kind, &part), TREE_OK);
    file.etag.v = d->now;
    if (w->kind == TREE_FILE)
        file.content = content_sparse(d->now, 100);
    else
        file.attributes = ATTRIBUTE_DIRECTORY;
    if (w->copies) {
        const struct pending_source source = { .id = guid_new(), .url = BYTES("http://other/f") };

        file.copy = (struct copy_state){ .status = COPY_PENDING, .id = source.id, .total = 100 };
        decision_read_clock(d);
        pending_file_begin(d, part, &source, &file);
    }
    file_write(d, part, &file);
    w->id = length.file = state->place.entry.id;
    return w->kind == TREE_FILE ? share_usage_change(d, &state->share, &length, 1) : OK;
}

void decide(struct world *w, attempt_fn *fn)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .arena = w->f->arena,
                          .store = w->f->store,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(w->f->arena) };

    assert_int_equal(deciding_run_unawaited(&d, fn, w), OK);
    deciding_end(&d);
}

static uint64_t run(struct world *w)
{
    decide(w, attempt);
    return w->id;
}

uint64_t make(struct world *w, const char *path, enum tree_kind kind)
{
    w->path = path;
    w->kind = kind;
    w->snapshot = w->deletes = false;
    return run(w);
}

struct world begin(struct fixture *f)
{
    struct world w = { .f = f, .space = guid_new() };
    struct changes *changes = changes_new(f->arena);
    struct share share = { .space = w.space, .created = 1, .etag = { .v = 1 }, .quota_gib = 1 };

    open_store(f);
    share_write(changes, f->arena, share_itself, &share);
    commit(f, named("file", share_name.ptr), changes);
    make(&w, "d", TREE_DIRECTORY);
    make(&w, "g", TREE_FILE);
    make(&w, "d/h", TREE_FILE);
    w.snapshot = true;
    share.generation = run(&w);
    share.snapshots = 0;
    changes = changes_new(f->arena);
    share.newest_snapshot = TICKS_PER_SECOND;
    share_write(changes, f->arena, (struct share_key){ .snapshot = TICKS_PER_SECOND }, &share);
    share.generation = 0;
    share.snapshots = 1;
    share_write(changes, f->arena, share_itself, &share);
    commit(f, named("file", share_name.ptr), changes);
    w.snapshot = false;
    w.deletes = true;
    run(&w);
    return w;
}

struct partition node(struct world *w, uint64_t id)
{
    return tree_partition(w->f->arena, w->space, id);
}

void take_away(struct world *w, uint64_t id, enum record_family family, const char *key)
{
    struct changes *changes = changes_new(w->f->arena);

    changes_delete(changes, family, bytes_from_string(key));
    commit(w->f, node(w, id), changes);
}
