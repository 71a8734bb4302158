/* Compares commits and pieces with the available disk space. */
#include "store/embedded/admission.h"

#include "store/embedded/embedded_private.h"
#include "store/record_key.h"

/* Maximum size of the puts in a commit with deletes: the record of the remaining data. */
#define PUT_WITH_DELETE_MAX 4096u
/* Maximum growth of existing records in one commit below the reserve, for acquiring a lease. The
 * total is limited by disk_space_overdraw(). */
#define GROWTH_MAX          256u
/* The maximum number of bytes on the disk per byte put, until compactions are done: in the log, in
 * a table, in a level, and again while that is merged into the next. The reserve covers this for
 * commits of the size of a memtable in total (sizes.h); a larger commit needs additional space. */
#define COMMIT_COST         8u

/* The size of a commit, in bytes. */
struct weight {
    uint64_t put;      /* keys and values */
    uint64_t freed;    /* released pieces, which may have other references */
    uint64_t standing; /* keys and values of the records that it replaces or deletes */
    bool has_deletes;  /* of records or spaces */
    bool has_new;      /* records that do not exist yet */
};

static enum store_result weigh_pieces(const struct commit_part *parts, size_t part_count,
                                      struct weight *weight)
{
    const struct piece_change *pieces;
    size_t count;
    enum store_result result = commit_pieces(parts, part_count, &pieces, &count);

    for (size_t i = 0; i < count; i++)
        if (pieces[i].references < 0)
            weight->freed += pieces[i].length;
    return result;
}

/* seal_bytes: by which a value grows when it is encrypted; 0 if it is not */
static void weigh(const struct changes *changes, size_t seal_bytes, struct weight *weight)
{
    size_t dropped;

    for (const struct change *c = changes_first(changes); c; c = c->next) {
        if (c->is_delete)
            weight->has_deletes = true;
        else
            weight->put += c->key.len + c->value.len + seal_bytes;
    }
    changes_dropped_spaces(changes, &dropped);
    weight->has_deletes = weight->has_deletes || dropped > 0;
}

/* Adds the size of the existing records that a part changes. Returns STORE_OK, STORE_WAIT,
 * STORE_CORRUPT, STORE_IO. */
static enum store_result weigh_standing(const struct embedded *embedded,
                                        const struct commit_part *part, struct store_access access,
                                        struct weight *weight)
{
    enum store_result result = STORE_OK;
    struct key key;

    key_init(&key);
    for (const struct change *c = changes_first(part->changes); c && !result; c = c->next) {
        rocksdb_pinnableslice_t *value;
        size_t size = 0;

        key_set_record(&key, c->family, part->snapshot->prefix, c->key);
        result = keyspace_get(&embedded->keyspace, embedded->keyspace.newest, access,
                              key_bytes(&key), &value);
        if (result == STORE_NOT_FOUND) {
            weight->has_new = weight->has_new || !c->is_delete;
            result = STORE_OK;
        } else if (!result) {
            (void)rocksdb_pinnableslice_value(value, &size);
            rocksdb_pinnableslice_destroy(value);
            weight->standing += c->key.len + size;
        }
    }
    key_release(&key);
    return result;
}

static bool gives_back(const struct weight *weight)
{
    return weight->put <=
           weight->freed + weight->standing + (weight->has_deletes ? PUT_WITH_DELETE_MAX : 0);
}

/* Allows the growth of a lease, which clients may have to acquire before they can delete. */
static bool grows_little(struct embedded *embedded, const struct weight *weight)
{
    uint64_t growth = weight->put - weight->freed - weight->standing;

    return !weight->has_new && growth <= GROWTH_MAX &&
           disk_space_overdraw(&embedded->space, growth);
}

/* Decides whether to allow a commit for which there is no space above the reserve. */
static enum store_result admit_below(struct embedded *embedded, const struct commit_part *parts,
                                     size_t count, struct store_access access,
                                     struct weight *weight)
{
    enum store_result result = weigh_pieces(parts, count, weight);

    if (result || gives_back(weight))
        return result;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].changes)
            result = weigh_standing(embedded, &parts[i], access, weight);
        if (result)
            return result;
    }
    return gives_back(weight) || grows_little(embedded, weight) ? STORE_OK : STORE_FULL;
}

/* Queued buffers are not on the disk yet. */
static uint64_t pending_bytes(const struct embedded *embedded)
{
    return atomic_load(&embedded->io.queued_count) * (uint64_t)PIECE_SECTOR_BYTES;
}

enum store_result admission_of_commit(struct embedded *embedded, const struct commit_part *parts,
                                      size_t count, struct store_access access)
{
    struct weight weight = { .put = 0 };

    for (size_t i = 0; i < count; i++)
        if (parts[i].changes)
            weigh(parts[i].changes, embedded->sealer ? RECORD_SEAL_BYTES : 0, &weight);
    if (weight.put == 0 ||
        disk_space_admits(&embedded->space, COMMIT_COST * weight.put, pending_bytes(embedded)))
        return STORE_OK;
    return admit_below(embedded, parts, count, access, &weight);
}

bool admission_of_piece(struct embedded *embedded, uint64_t bytes)
{
    return disk_space_admits(&embedded->space, bytes, pending_bytes(embedded));
}
