/* Contents that share runs, against a model: whatever lists are committed and whatever snapshots
 * are taken and deleted, each reads as it was, and what nothing refers to is freed.
 * content_run.c */
#include "fixture.h"

#include <stdlib.h>

#define CONTENTS_MAX 40
#define BLOCKS_MAX   12

/* A block that is stored: its run and its bytes. */
struct stored {
    struct content_block block;
    struct bytes bytes;
};

/* One content and who holds it. */
struct member {
    struct content content;
    struct stored blocks[BLOCKS_MAX];
    size_t count;
    uint32_t holders; /* 0: unused */
};

struct model {
    struct fixture *f;
    struct member members[CONTENTS_MAX];
    struct member *base; /* NULL: none */
    uint64_t next_run;
};

static struct bytes bytes_of_member(struct model *m, const struct member *member)
{
    struct text all;

    text_init(&all, m->f->arena, 0);
    for (size_t i = 0; i < member->count; i++)
        text_add(&all, member->blocks[i].bytes);
    return text_bytes(&all);
}

/* Bytes of all runs that some member refers to. */
static uint64_t bytes_needed(const struct model *m)
{
    uint64_t runs[CONTENTS_MAX * BLOCKS_MAX], bytes = 0;
    size_t count = 0;

    for (size_t i = 0; i < CONTENTS_MAX; i++) {
        const struct member *member = &m->members[i];

        for (size_t b = 0; member->holders > 0 && b < member->count; b++) {
            const struct content_block *block = &member->blocks[b].block;
            size_t at = 0;

            while (at < count && runs[at] != block->run)
                at++;
            if (block->run == 0 || at < count)
                continue;
            runs[count++] = block->run;
            bytes += block->length;
        }
    }
    return bytes;
}

static struct member *unused(struct model *m)
{
    for (size_t i = 0; i < CONTENTS_MAX; i++)
        if (m->members[i].holders == 0)
            return &m->members[i];
    return NULL;
}

static struct stored new_block(struct model *m)
{
    struct fixture *f = m->f;
    bool is_inline = fixture_random(f, 4) == 0;
    struct stored stored = { .bytes = fixture_random_bytes(f, 1 + fixture_random(f, 200)) };
    struct body body = fixture_body(f, stored.bytes, is_inline ? 0 : 90);

    stored.block = content_block_from_body(f->changes, m->next_run++, &body);
    stored.block.block_id = arena_printf(f->arena, "%08llu", (unsigned long long)m->next_run);
    return stored;
}

/* Put Block List: some blocks of the base, in any order and number, and some new ones. */
static void commit_list(struct model *m)
{
    struct fixture *f = m->f;
    struct member *member = unused(m), *old = m->base;
    struct content_block blocks[BLOCKS_MAX];
    bool more = false;

    if (!member)
        return;
    fixture_begin(f);
    member->count = fixture_random(f, BLOCKS_MAX);
    for (size_t i = 0; i < member->count; i++) {
        bool takes_over = old && old->count > 0 && fixture_random(f, 3) > 0;

        member->blocks[i] = takes_over ? old->blocks[fixture_random(f, old->count)] : new_block(m);
        blocks[i] = member->blocks[i].block;
    }
    member->content = content_from_blocks(f->changes, m->next_run++, blocks, member->count);
    if (old)
        assert_int_equal(content_replace(f->before, f->changes, f->arena, &old->content,
                                         &member->content, blocks, member->count, &more),
                         STORE_OK);
    fixture_commit(f);
    if (old)
        old->holders--;
    member->holders = 1;
    m->base = member;
}

static void take_snapshot(struct model *m)
{
    struct fixture *f = m->f;

    if (!m->base)
        return;
    fixture_begin(f);
    assert_int_equal(content_ref(f->before, f->changes, f->arena, &m->base->content, 1), STORE_OK);
    fixture_commit(f);
    m->base->holders++;
}

/* Gives up some holders of some members in one change: snapshots, and the base now and then. */
static void give_up(struct model *m, uint64_t one_in, bool base_too)
{
    struct fixture *f = m->f;
    bool more = false;

    fixture_begin(f);
    for (size_t i = 0; i < CONTENTS_MAX; i++) {
        struct member *member = &m->members[i];
        uint32_t snapshots = member->holders - (member == m->base);
        uint32_t ended = (uint32_t)fixture_random(f, snapshots + 1);

        if (member->holders == 0 || fixture_random(f, one_in) > 0)
            continue;
        if (member == m->base && base_too) {
            ended = member->holders;
            m->base = NULL;
        }
        if (ended == 0)
            continue;
        assert_int_equal(
            content_unref(f->before, f->changes, f->arena, &member->content, ended, &more),
            STORE_OK);
        member->holders -= ended;
    }
    fixture_commit(f);
}

/* A step of bounded size, as the background takes them. */
static bool collect(struct model *m, size_t records)
{
    struct fixture *f = m->f;
    bool more = false;

    fixture_begin(f);
    assert_int_equal(content_collect(f->before, f->changes, f->arena, records, &more), STORE_OK);
    fixture_commit(f);
    return more;
}

static void expect_all(struct model *m)
{
    for (size_t i = 0; i < CONTENTS_MAX; i++)
        if (m->members[i].holders > 0)
            fixture_expect(m->f, &m->members[i].content, bytes_of_member(m, &m->members[i]));
}

static void random_changes(void **state)
{
    struct fixture *f = *state;

    for (int seed = 0; seed < 12; seed++) {
        struct model *m = xcalloc(1, sizeof *m);
        struct arena_mark mark = arena_mark(f->arena);

        m->f = f;
        m->next_run = 1;
        for (int change = 0; change < 150; change++) {
            switch (fixture_random(f, 8)) {
            case 0:
            case 1:
            case 2:
                commit_list(m);
                break;
            case 3:
            case 4:
                take_snapshot(m);
                break;
            case 5:
                give_up(m, 4, fixture_random(f, 4) == 0);
                break;
            default:
                collect(m, 1 + fixture_random(f, 10));
                break;
            }
            if (change % 10 == 0)
                expect_all(m);
            if (change % 30 == 0) {
                while (collect(m, 5))
                    ;
                assert_int_equal(fixture_piece_bytes(f), bytes_needed(m));
            }
        }
        expect_all(m);
        for (int i = 0; i < 30; i++)
            give_up(m, 1, true);
        fixture_collect_all(f);
        assert_int_equal(bytes_needed(m), 0);
        assert_int_equal(fixture_piece_bytes(f), 0);
        assert_int_equal(fixture_record_count(f), 0);
        arena_rewind(f->arena, mark);
        free(m);
    }
}

/* ---- the largest blob ---- */

/* Memory of one exchange. */
#define MEMORY_MAX ((size_t)64 << 20)
#define PIECES     1000u

/* A block of as many pieces as one of 4,000 MiB has, each of one byte. */
static struct content_block large_block(struct fixture *f)
{
    struct content_block block;
    struct body body;

    fixture_begin(f);
    body = fixture_body(f, fixture_random_bytes(f, PIECES), 1);
    assert_int_equal(body.piece_count, PIECES);
    block = content_block_from_body(f->changes, 1, &body);
    fixture_commit(f);
    block.block_id = arena_printf(f->arena, "%088d", 1);
    return block;
}

static size_t records_after(struct fixture *f, size_t *was)
{
    size_t now = fixture_record_count(f), added = now - *was;

    *was = now;
    return added;
}

/* A list that names a block of a thousand pieces 50,000 times is committed, read here and there,
 * held, replaced and deleted, all within the memory of one exchange, and with as few records as if
 * the block were small. rest: Put-Block-List "Remarks" */
static void largest_list(void **state)
{
    struct fixture *f = *state;
    struct content_block block = large_block(f);
    struct arena *own = arena_new(MEMORY_MAX), *all = f->arena;
    struct content_block *blocks = arena_array(own, CONTENT_BLOCKS_MAX, sizeof blocks[0]);
    size_t records = fixture_record_count(f), count;
    struct content content, next;
    struct content_block *read;
    bool more = false;

    for (size_t i = 0; i < CONTENT_BLOCKS_MAX; i++)
        blocks[i] = block;
    f->arena = own;
    fixture_begin(f);
    content = content_from_blocks(f->changes, 10, blocks, CONTENT_BLOCKS_MAX);
    fixture_commit(f);
    assert_int_equal(content.length, CONTENT_BLOCKS_MAX * PIECES);
    assert_in_range(records_after(f, &records), 1, 400);

    for (uint64_t at = 0; at < content.length; at += content.length / 97) {
        struct window window;

        assert_int_equal(fixture_load(f, &content, at, &window), STORE_OK);
        assert_true(window.start <= at && at < window.end);
        assert_true(window.fragments[0].piece);
    }
    fixture_begin(f);
    assert_int_equal(content_ref(f->before, f->changes, own, &content, 1), STORE_OK);
    fixture_commit(f);
    fixture_begin(f);
    assert_int_equal(content_blocks(f->before, own, &content, &read, &count), STORE_OK);
    assert_int_equal(count, CONTENT_BLOCKS_MAX);
    next = content_from_blocks(f->changes, 11, read, count);
    assert_int_equal(
        content_replace(f->before, f->changes, own, &content, &next, read, count, &more), STORE_OK);
    fixture_commit(f);
    fixture_begin(f);
    assert_int_equal(content_unref(f->before, f->changes, own, &content, 1, &more), STORE_OK);
    fixture_commit(f);
    fixture_collect_all(f);
    assert_int_equal(fixture_load(f, &next, next.length - 1, &(struct window){ 0 }), STORE_OK);
    fixture_begin(f);
    assert_int_equal(content_unref(f->before, f->changes, own, &next, 1, &more), STORE_OK);
    fixture_commit(f);
    fixture_collect_all(f);
    assert_int_equal(fixture_record_count(f), 0);
    arena_free(own);
    f->arena = all;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_changes, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(largest_list, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
