/* Random operations on one blob whose account keeps what is deleted, for more days or fewer, or not: lists with all
 * that is kept, and what can be read, are as a model of a few lines says; when all has expired nothing is left behind.
 * Deferred tasks run now and then. decisions: 790-792 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "blob/snapshot_scan.h"
#include "listed.h"

#define STEPS     4000
#define SNAPSHOTS 24
#define LIST_ALL  "GET /box?restype=container&comp=list&include=snapshots,deleted"
#define TYPES     3

static const char *const type_headers[TYPES] = {
    "x-ms-blob-type: BlockBlob", "x-ms-blob-type: AppendBlob",
    "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 512"
};

struct kept {
    struct bytes content;
    unsigned type;
    unsigned until;   /* the day on which it expires; 0: it is not deleted */
    const char *time; /* of a snapshot, once it was listed */
};

enum base { NOTHING, STAGED, THERE, DELETED };
struct model {
    enum base is;
    struct kept base;
    struct kept snapshots[SNAPSHOTS];
    unsigned count;
    unsigned day, keeps_days;
    uint64_t random;
    unsigned made;
    struct arena *arena;
};

static unsigned below(struct model *m, unsigned limit)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(m->random >> 33) % limit;
}

/* So few go in one commit that most changes of all leave a mark. */
__typeof__(snapshots_collect) __real_snapshots_collect, __wrap_snapshots_collect;

enum store_result __wrap_snapshots_collect(struct decision *d, const struct snapshot_mark *mark,
                                           size_t max, struct some_snapshots *ret_some)
{
    assert_true(max > 2);
    return __real_snapshots_collect(d, mark, 2, ret_some);
}

/* ---- the model ---- */

static bool is_gone(const struct model *m, const struct kept *kept)
{
    return kept->until > 0 && kept->until <= m->day;
}

/* Forgets what has expired: whether its task has run makes no difference to anybody. */
static void expire(struct model *m)
{
    unsigned count = 0;

    for (unsigned i = 0; i < m->count; i++)
        if (!is_gone(m, &m->snapshots[i]))
            m->snapshots[count++] = m->snapshots[i];
    m->count = count;
    if (m->is == DELETED && is_gone(m, &m->base))
        m->is = NOTHING;
}

static void add_snapshot(struct model *m, unsigned until)
{
    m->snapshots[m->count] = m->base;
    m->snapshots[m->count].time = NULL;
    m->snapshots[m->count++].until = until;
}

/* What is written takes the place of what was there, of the same type or of any. */
static void replace(struct model *m, unsigned type, bool any_type)
{
    unsigned from_now = m->day + m->keeps_days;

    if (m->is == THERE && m->keeps_days > 0)
        add_snapshot(m, from_now);
    else if (m->is == DELETED && (any_type || m->base.type == type))
        add_snapshot(m, m->keeps_days > 0 ? from_now : m->base.until);
    else if (m->is == DELETED)
        m->count = 0;
}

static bool has_live(const struct model *m)
{
    for (unsigned i = 0; i < m->count; i++)
        if (m->snapshots[i].until == 0)
            return true;
    return false;
}

static void delete_live(struct model *m)
{
    unsigned count = 0;

    for (unsigned i = 0; i < m->count; i++) {
        if (m->snapshots[i].until == 0 && m->keeps_days == 0)
            continue;
        m->snapshots[count] = m->snapshots[i];
        if (m->snapshots[count].until == 0)
            m->snapshots[count].until = m->day + m->keeps_days;
        count++;
    }
    m->count = count;
}

/* ---- operations ---- */

static struct bytes content_of(struct model *m, unsigned type)
{
    static const size_t sizes[] = { 1, 5000, (16 << 10) + 1, 30000 };
    size_t size = type == 2 ? 512 : sizes[below(m, sizeof sizes / sizeof sizes[0])];
    char *to = arena_bytes(m->arena, size);

    memset(to, 'a' + (int)(m->made % 26), size);
    snprintf(to, size, "%u", m->made++);
    return bytes_of(to, size);
}

static void put(struct fixture *f, struct model *m)
{
    unsigned type = below(m, TYPES);
    struct bytes content = content_of(m, type), none = { NULL, 0 };

    if (m->count == SNAPSHOTS)
        return;
    assert_ok(ask_bytes(f, "PUT /box/b", type_headers[type], type == 0 ? content : none), 201);
    replace(m, type, false);
    if (type == 1)
        assert_ok(ask_bytes(f, "PUT /box/b?comp=appendblock", NULL, content), 201);
    if (type == 2)
        assert_ok(ask_bytes(f, "PUT /box/b?comp=page",
                            "x-ms-page-write: update\nx-ms-range: bytes=0-511", content),
                  201);
    m->is = THERE;
    m->base = (struct kept){ .content = content, .type = type };
}

static void stage(struct fixture *f, struct model *m)
{
    if (m->count == SNAPSHOTS || (m->is == THERE && m->base.type != 0))
        return;
    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=AAA%3D", NULL, "staged"), 201);
    if (m->is == DELETED)
        replace(m, 0, true);
    if (m->is != THERE)
        m->is = STAGED;
}

/* Of what is staged, and what is committed already. */
static void commit(struct fixture *f, struct model *m)
{
    struct bytes block = content_of(m, 0);

    if (m->count == SNAPSHOTS || (m->is == THERE && m->base.type != 0))
        return;
    stage(f, m);
    assert_ok(ask_bytes(f, "PUT /box/b?comp=block&blockid=AAA%3D", NULL, block), 201);
    if (m->count == SNAPSHOTS)
        return;
    assert_ok(
        ask(f, "PUT /box/b?comp=blocklist", NULL, "<BlockList><Latest>AAA=</Latest></BlockList>"),
        201);
    replace(m, 0, false);
    m->is = THERE;
    m->base = (struct kept){ .content = block };
}

/* The same block once more: the old content and the new one share it. */
static void commit_again(struct fixture *f, struct model *m)
{
    struct reply got;

    if (m->count == SNAPSHOTS || m->is != THERE || m->base.type != 0)
        return;
    got = ask(f, "PUT /box/b?comp=blocklist", NULL,
              "<BlockList><Committed>AAA=</Committed></BlockList>");
    if (got.status == 400)
        return;
    assert_ok(got, 201);
    replace(m, 0, false);
}

static void snapshot(struct fixture *f, struct model *m)
{
    struct reply got;

    if (m->count == SNAPSHOTS)
        return;
    got = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    if (m->is != THERE) {
        assert_answer(got, 404, "BlobNotFound");
        return;
    }
    assert_ok(got, 201);
    add_snapshot(m, 0);
}

static void delete (struct fixture *f, struct model *m)
{
    static const char *const modes[] = { NULL, "x-ms-delete-snapshots: include",
                                         "x-ms-delete-snapshots: only" };
    unsigned mode = below(m, 3);
    struct reply got = ask(f, "DELETE /box/b", modes[mode], NULL);

    if (m->is != THERE && m->is != STAGED) {
        assert_answer(got, 404, "BlobNotFound");
        return;
    }
    if (mode == 0 && has_live(m)) {
        assert_answer(got, 409, "SnapshotsPresent");
        return;
    }
    if (got.status == 503)
        return;
    assert_ok(got, 202);
    if (mode > 0)
        delete_live(m);
    if (mode == 2)
        return;
    if (m->is == THERE && m->keeps_days > 0) {
        m->is = DELETED;
        m->base.until = m->day + m->keeps_days;
    } else {
        m->is = NOTHING;
    }
}

static void delete_one(struct fixture *f, struct model *m)
{
    unsigned i = m->count > 0 ? below(m, m->count) : 0;
    struct kept *one = &m->snapshots[i];
    struct reply got;

    if (m->count == 0 || !one->time)
        return;
    got = askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", one->time);
    if (one->until > 0) {
        assert_answer(got, 404, "BlobNotFound");
        return;
    }
    assert_ok(got, 202);
    if (m->keeps_days > 0) {
        one->until = m->day + m->keeps_days;
        return;
    }
    memmove(one, one + 1, (--m->count - i) * sizeof *one);
}

static void undelete(struct fixture *f, struct model *m)
{
    struct reply got = ask(f, "PUT /box/b?comp=undelete", NULL, NULL);
    bool restores = m->is == DELETED;

    if (got.status == 503)
        return;
    for (unsigned i = 0; i < m->count; i++) {
        restores = restores || m->snapshots[i].until > 0;
        m->snapshots[i].until = 0;
    }
    if (!restores && m->is != THERE) {
        assert_answer(got, 404, "BlobNotFound");
        return;
    }
    assert_ok(got, 200);
    if (m->is == DELETED) {
        m->is = THERE;
        m->base.until = 0;
    }
}

static void set_policy(struct fixture *f, struct model *m)
{
    static const unsigned days[] = { 0, 1, 2, 5 };

    m->keeps_days = days[below(m, 4)];
    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL,
                  m->keeps_days == 0
                      ? "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>false</Enabled>"
                        "</DeleteRetentionPolicy></StorageServiceProperties>"
                      : textf(f,
                              "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true"
                              "</Enabled><Days>%u</Days></DeleteRetentionPolicy>"
                              "</StorageServiceProperties>",
                              m->keeps_days)),
              202);
}

static void pass_days(struct model *m, unsigned days)
{
    clock_advance(days * TICKS_PER_DAY + TICKS_PER_SECOND);
    m->day += days;
    expire(m);
}

/* ---- what is seen ---- */

static void compare_content(struct reply got, struct bytes content)
{
    assert_ok(got, 200);
    assert_int_equal(got.body.len, content.len);
    assert_memory_equal(got.body.ptr, content.ptr, content.len);
}

static void compare_entry(struct fixture *f, const struct xml_node *entry, struct kept *kept,
                          bool is_base)
{
    const struct xml_node *time;

    assert_non_null(entry);
    time = xml_child(entry, "Snapshot");
    assert_int_equal(time == NULL, is_base);
    assert_int_equal(xml_child(entry, "Deleted") != NULL, kept->until > 0);
    if (!is_base && !kept->time)
        kept->time = textf(f, "%.*s", BYTES_ARG(time->text));
    if (!is_base)
        assert_bytes(time->text, kept->time);
}

static void compare(struct fixture *f, struct model *m)
{
    struct reply got = ask(f, LIST_ALL, NULL, NULL);
    const struct xml_node *entry =
        xml_child(document(f, got, "EnumerationResults"), "Blobs")->first_child;

    for (unsigned i = 0; i < m->count; i++, entry = entry->next)
        compare_entry(f, entry, &m->snapshots[i], false);
    if (m->is == THERE || m->is == DELETED) {
        compare_entry(f, entry, &m->base, true);
        entry = entry->next;
    }
    assert_null(entry);
    for (unsigned i = 0; i < m->count; i++) {
        got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", m->snapshots[i].time);
        if (m->snapshots[i].until == 0)
            compare_content(got, m->snapshots[i].content);
        else
            assert_answer(got, 404, "BlobNotFound");
    }
    got = ask(f, "GET /box/b", NULL, NULL);
    if (m->is == THERE)
        compare_content(got, m->base.content);
    else
        assert_answer(got, 404, "BlobNotFound");
}

/* All that is there goes, and expires. */
static void assert_all_goes(struct fixture *f, struct model *m)
{
    run_due(store_of(f));
    if (m->is == NOTHING || m->is == DELETED) {
        assert_ok(ask(f, "PUT /box/b", type_headers[0], "x"), 201);
        m->is = THERE;
    }
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    run_due(store_of(f));
    pass_days(m, 10);
    assert_nothing_is_left(f);
    m->is = NOTHING;
    m->count = 0;
}

static void step(struct fixture *f, struct model *m)
{
    typedef void operation(struct fixture *, struct model *);
    static operation *const operations[] = { put,        put,      stage,     commit, commit_again,
                                             snapshot,   snapshot, snapshot,  delete, delete,
                                             delete_one, undelete, set_policy };
    unsigned drawn = below(m, sizeof operations / sizeof operations[0] + 3);

    if (drawn < sizeof operations / sizeof operations[0])
        operations[drawn](f, m);
    else if (drawn == sizeof operations / sizeof operations[0])
        pass_days(m, 1);
    else
        run_due(store_of(f));
}

static void as_the_model_says(void **state)
{
    struct fixture *f = *state;
    const char *given = getenv("SEED");
    struct model m = { .random = given ? strtoull(given, NULL, 10) : clock_now(), .day = 1 };

    printf("seed %llu\n", (unsigned long long)m.random);
    m.arena = arena_new((size_t)256 << 20);
    fixture_hold_tasks(f);
    for (unsigned i = 0; i < STEPS; i++) {
        step(f, &m);
        compare(f, &m);
        if (i % 200 == 199)
            assert_all_goes(f, &m);
    }
    arena_free(m.arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_the_model_says, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
