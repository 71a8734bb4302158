/* Of containers: blobs and snapshots hold contents, contents refer to runs; whatever else is in a
 * blob's partition belongs to one of these. See census.h. */
#include "census_part.h"

#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "blob/blob.h"
#include "blob/immutability.h"
#include "blob/record_parts.h"
#include "blob/snapshot_marks.h"
#include "content/backlog.h"
#include "world.h"

#define CONTENTS_MAX   1024u
#define RUNS_MAX       8192u
#define ARENA_MAX      (64u << 20)
#define CONTAINERS_MAX 256u
#define NAME_SIZE      16

/* Of one blob. */
struct owner {
    struct guid space;
    char name[NAME_SIZE];
};

static struct held {
    struct owner owner;
    uint64_t id;
    unsigned holders;
    bool is_sparse;
    bool is_counted; /* a record has the number of its holders */
    bool is_alone;   /* a holder says that it is the only one */
} contents[CONTENTS_MAX];
static struct {
    struct owner owner;
    uint64_t id;
} runs[RUNS_MAX];
static struct {
    struct guid space;
    unsigned tagged;
} tags[16];
/* Names that have snapshots or versions: one may have no base, and then a record stands for that. */
static struct dated {
    struct owner owner;
    unsigned snapshots;
    instant newest_version;
} with_snapshots[CONTENTS_MAX];
static unsigned content_count, run_count, tagged_count, with_snapshots_count;

/* Containers, and whether they are protected, or were: then a second record has the same. */
static struct protected
{
    struct guid space;
    enum policy_mode mode;
    uint64_t days, extensions;
    size_t holds_size;
    bool has_versions, has_record;
}
protects[CONTAINERS_MAX];
static unsigned protects_count;

static struct protected *find_protected(const struct guid *space)
{
    for (unsigned i = 0; i < protects_count; i++)
        if (guid_equal(&protects[i].space, space))
            return &protects[i];
    return NULL;
}

static struct protected protected_of(const struct guid *space,
                                     const struct container_immutability *of)
{
    return (struct protected){ .space = *space,
                               .mode = of->mode,
                               .days = of->days,
                               .extensions = of->extensions,
                               .holds_size = of->holds.len,
                               .has_versions = of->has_versions };
}

static bool read_container(struct bytes value, struct guid *ret_space)
{
    struct container container;
    bool makes_sense = container_decode(value, &container);

    if (!makes_sense)
        return false;
    *ret_space = container.space;
    if (container_has_immutability(&container.immutability) && !find_protected(ret_space)) {
        assert(protects_count < CONTAINERS_MAX);
        protects[protects_count++] = protected_of(ret_space, &container.immutability);
    }
    return true;
}

/* The second record has what the container's has. That of one which was only closed and opened again is left. */
static const char *judge_protection(const struct record_place *place, const struct record *record)
{
    struct protected *container = find_protected(&place->space), second;
    struct container_immutability read = { .has_versions = false };
    struct decoder in;

    decoder_init(&in, record->value);
    (void)decode_u8(&in);
    protection_decode(&in, &read);
    if (!decoder_ok(&in))
        return "the protection of a container makes no sense";
    if (!container)
        return container_has_immutability(&read) ? "a protection that its container does not have"
                                                 : NULL;
    second = protected_of(&place->space, &read);
    container->has_record = true;
    return second.mode == container->mode && second.days == container->days &&
                   second.extensions == container->extensions &&
                   second.holds_size == container->holds_size &&
                   second.has_versions == container->has_versions
               ? NULL
               : "a protection that differs from that of its container";
}

static struct owner owner_of(const struct record_place *place)
{
    struct owner owner = { .space = place->space };

    assert(place->partition_key.len < NAME_SIZE);
    memcpy(owner.name, place->partition_key.ptr, place->partition_key.len);
    return owner;
}

static struct held *find_content(const struct owner *owner, uint64_t id)
{
    for (unsigned i = 0; i < content_count; i++) {
        if (contents[i].id == id && memcmp(&contents[i].owner, owner, sizeof *owner) == 0)
            return &contents[i];
    }
    return NULL;
}

static bool is_run(const struct owner *owner, uint64_t id)
{
    for (unsigned i = 0; i < run_count; i++) {
        if (runs[i].id == id && memcmp(&runs[i].owner, owner, sizeof *owner) == 0)
            return true;
    }
    return false;
}

static void note_runs(struct store *store, const struct record_place *place, uint64_t id)
{
    struct partition partition = { place->space, place->partition_key };
    struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    struct arena *arena = arena_new(ARENA_MAX);
    struct owner owner = owner_of(place);
    struct run_set set = { 0 };

    if (run_set_of_content(snapshot, arena, id, 0, DAMAGE_STOPS, &set) ||
        run_count + set.count > RUNS_MAX)
        world_fail("census: the runs of %s cannot be read", owner.name);
    for (size_t i = 0; i < set.count; i++) {
        runs[run_count].owner = owner;
        runs[run_count++].id = set.ids[i];
    }
    read_view_close(snapshot);
    arena_free(arena);
}

static void note_tags(const struct guid *space)
{
    if (tagged_count == 0 || !guid_equal(&tags[tagged_count - 1].space, space)) {
        assert(tagged_count < sizeof tags / sizeof tags[0]);
        tags[tagged_count++].space = *space;
    }
    tags[tagged_count - 1].tagged++;
}

/* NULL: it has none. */
static struct dated *find_dated(const struct owner *owner)
{
    for (unsigned i = 0; i < with_snapshots_count; i++)
        if (memcmp(&with_snapshots[i].owner, owner, sizeof *owner) == 0)
            return &with_snapshots[i];
    return NULL;
}

static void note_dated(const struct owner *owner, const struct blob *blob)
{
    struct dated *dated = find_dated(owner);

    if (!dated) {
        assert(with_snapshots_count < CONTENTS_MAX);
        dated = &with_snapshots[with_snapshots_count++];
        *dated = (struct dated){ .owner = *owner };
    }
    dated->snapshots += blob->ref.kind == BLOB_SNAPSHOT;
    if (blob->ref.kind == BLOB_VERSION && blob->ref.at > dated->newest_version)
        dated->newest_version = blob->ref.at;
}

static void note_blob(struct store *store, const struct record_place *place,
                      const struct record *record)
{
    struct owner owner = owner_of(place);
    struct held *held;
    struct blob blob;

    if (bytes_equal(place->record_key, snapshot_marks_key))
        world_fail("census: deleted snapshots of %s are still there", owner.name);
    if (!blob_decode(record->value, &blob))
        world_fail("census: the record of %s makes no sense", owner.name);
    if (blob.tags.len > 0 && blob_ref_is_base(blob.ref))
        note_tags(&place->space);
    if (!blob_ref_is_base(blob.ref))
        note_dated(&owner, &blob);
    if (blob.content.id == 0)
        return;
    held = find_content(&owner, blob.content.id);
    if (!held) {
        assert(content_count < CONTENTS_MAX);
        held = &contents[content_count++];
        *held = (struct held){ .owner = owner,
                               .id = blob.content.id,
                               .is_sparse = blob.content.form == CONTENT_SPARSE };
        if (blob.content.has_runs)
            note_runs(store, place, blob.content.id);
    }
    held->holders++;
    held->is_alone = held->is_alone || blob.content.is_alone;
}

/* rest: Put-Block, "Remarks" */
static const char *judge_listed(const struct owner *owner, const struct record *record)
{
    struct blob blob;

    if (!blob_decode(record->value, &blob))
        return NULL;
    if (blob.deletion.at > 0)
        return "what is soft-deleted outlives its days";
    if (blob_is_anchor(&blob) && !find_dated(owner))
        return "a base that is gone outlives its snapshots";
    if (blob_ref_is_base(blob.ref) && find_dated(owner)) {
        if (blob.without_snapshots && find_dated(owner)->snapshots > 0)
            return "a base that says it has no snapshots has some";
        if (blob.newest_version < find_dated(owner)->newest_version)
            return "a base whose versions are newer than it says";
    }
    if (blob_is_anchor(&blob))
        return NULL;
    return blob.uncommitted ? "uncommitted blocks outlive their week" : NULL;
}

static const char *judge_holders(struct held *held, struct bytes value)
{
    struct decoder from;
    uint64_t holders;

    decoder_init(&from, value);
    (void)decode_u8(&from);
    holders = decode_u64(&from);
    held->is_counted = true;
    return held->is_sparse || (holders == held->holders && holders > 1)
               ? NULL
               : "the number of who holds a content is wrong";
}

static const char *judge_blob(const struct record_place *place, const struct record *record)
{
    struct owner owner = owner_of(place);
    struct held *held;
    uint64_t id;
    char kind;

    if (place->partition_key.len > 0 && place->partition_key.ptr[0] == '\0')
        return judge_protection(place, record);
    if (place->family == RECORD_LISTED)
        return judge_listed(&owner, record);
    if (record->key.len < 1 + sizeof id)
        return "no part of a blob is stored so, or uncommitted blocks outlive their week";
    kind = record->key.ptr[0];
    id = be64_get(record->key.ptr + 1);
    if (kind == 'n')
        return is_run(&owner, id) ? NULL : "a run that no content refers to";
    held = find_content(&owner, kind == 'K' ? UINT64_MAX - id : id);
    if (!strchr("cpxdghkKr", kind))
        return kind == 'q' ? "what is left for a task that there is not"
                           : "uncommitted blocks outlive their week, or another kind of record";
    if (!held)
        return "a content that no blob and no snapshot holds";
    return kind == 'r' ? judge_holders(held, record->value) : NULL;
}

/* A content without a count has one holder. */
static bool are_counted(const struct guid *space)
{
    bool are = true;

    for (unsigned i = 0; i < content_count; i++)
        if (guid_equal(&contents[i].owner.space, space) && !contents[i].is_sparse &&
            contents[i].holders > 1)
            are = are && contents[i].is_counted && !contents[i].is_alone;
    return are;
}

static const char *end_container(struct store *store, const struct guid *space, unsigned index_rows)
{
    unsigned i = 0;

    (void)store;
    if (find_protected(space) && !find_protected(space)->has_record)
        return "a protected container without its second record";
    if (!are_counted(space))
        return "a content that several hold is held by one, by its records";
    while (i < tagged_count && !guid_equal(&tags[i].space, space))
        i++;
    return index_rows == (i < tagged_count ? tags[i].tagged : 0)
               ? NULL
               : "the index of tags is not that of the blobs";
}

const struct census_part census_blob = { .service = "blob",
                                         .record_key = "c",
                                         .read = read_container,
                                         .note = note_blob,
                                         .judge = judge_blob,
                                         .end = end_container };
