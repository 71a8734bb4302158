/* Commits and pieces against the room there is. */
#include "store/embedded/admission.h"

#include "store/embedded/embedded_private.h"

/* What a commit that deletes may put beside: the record of what is left. */
#define PUT_WITH_DELETE_MAX 4096u

/* What a commit changes, in bytes. */
struct weight {
    uint64_t put;     /* keys and values */
    uint64_t freed;   /* pieces given up; they may have other references */
    bool has_deletes; /* of records or spaces */
};

static void weigh_pieces(const struct commit_part *parts, size_t part_count, struct weight *weight)
{
    const struct piece_change *pieces;
    size_t count;

    pieces = commit_pieces(parts, part_count, &count);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].references < 0)
            weight->freed += pieces[i].length;
}

static void weigh(const struct changes *changes, struct weight *weight)
{
    size_t dropped;

    for (const struct change *c = changes_first(changes); c; c = c->next) {
        if (c->is_delete)
            weight->has_deletes = true;
        else
            weight->put += c->key.len + c->value.len;
    }
    changes_dropped_spaces(changes, &dropped);
    weight->has_deletes = weight->has_deletes || dropped > 0;
}

static bool gives_back(const struct weight *weight)
{
    return weight->put <= weight->freed + (weight->has_deletes ? PUT_WITH_DELETE_MAX : 0);
}

/* Buffers that are queued are not on the disk yet. */
static uint64_t pending_bytes(const struct embedded *embedded)
{
    return atomic_load(&embedded->io.queued_count) * (uint64_t)PIECE_SECTOR_BYTES;
}

bool admission_of_commit(struct embedded *embedded, const struct commit_part *parts, size_t count)
{
    struct weight weight = { .put = 0 };

    for (size_t i = 0; i < count; i++)
        if (parts[i].changes)
            weigh(parts[i].changes, &weight);
    if (weight.put == 0 || disk_space_admits(&embedded->space, weight.put, pending_bytes(embedded)))
        return true;
    weigh_pieces(parts, count, &weight);
    return gives_back(&weight);
}

bool admission_of_piece(struct embedded *embedded, uint64_t bytes)
{
    return disk_space_admits(&embedded->space, bytes, pending_bytes(embedded));
}
