/* Allocation for new pieces: runs from the free end of the active extent, and the table of pieces
 * that no record refers to yet. */
#include <assert.h>
#include <unistd.h>

#include "store/embedded/extents_private.h"

/* Caller holds the lock. */
static void set_frontier(struct extents *extents)
{
    lock_assert_held(&extents->lock);
    assert(extents->active && extents->active_end <= EXTENT_BYTES);
    atomic_store(&extents->frontier, extents_place(extents->active->id, extents->active_end));
}

bool extents_go_on(struct extents *extents, uint64_t end)
{
    bool enough = end + PIECE_MAX_BYTES <= EXTENT_BYTES;

    lock_acquire(&extents->lock);
    assert(extents->count > 0);
    if (enough) {
        extents->active = extents->list[extents->count - 1];
        extents->active_end = end;
        extents_settle(extents, extents->active);
        set_frontier(extents);
    }
    lock_release(&extents->lock);
    return enough;
}

/* Seals the active extent and starts a new one. Called with the lock held, which it releases while
 * the file is created. */
static enum store_result begin_extent(struct extents *extents)
{
    uint32_t id = extents->next_id++;
    struct extent *sealed = extents->active;
    enum store_result result;
    int other, fd;

    lock_assert_held(&extents->lock);
    assert(!extents->creating);
    if (!extents_reserve_file(extents, &other))
        return STORE_SHORTAGE;
    extents->creating = true;
    lock_release(&extents->lock);
    if (other >= 0)
        close(other);
    result = extent_file_create(extents->folder, id, &fd);
    lock_acquire(&extents->lock);
    extents->creating = false;
    pthread_cond_broadcast(&extents->created);
    if (result) {
        extents->open_count--;
        return result;
    }
    extents->active = extents_insert(extents, id);
    extents->active->fd = fd;
    extents->active->counted = true;
    extents->active_end = EXTENT_UNIT;
    if (sealed)
        extents_settle(extents, sealed);
    assert(extents->active->id == id && extents->active->fd >= 0);
    return STORE_OK;
}

enum store_result extents_cut(struct extents *extents, uint64_t least, uint64_t most,
                              struct run *ret_run)
{
    enum store_result result = STORE_OK;

    assert(least > 0 && least <= most && least <= PIECE_MAX_BYTES);
    least = extent_room(least);
    most = extent_room(most);
    lock_acquire(&extents->lock);
    for (;;) {
        if (extents->creating) {
            lock_wait(&extents->lock, &extents->created, -1);
            continue;
        }
        if (extents->active && extents->active_end + least <= EXTENT_BYTES)
            break;
        result = begin_extent(extents);
        if (result)
            break;
    }
    if (!result) {
        uint64_t room = EXTENT_BYTES - extents->active_end;

        *ret_run = (struct run){ .extent = extents->active->id,
                                 .offset = extents->active_end,
                                 .length = most < room ? most : room };
        assert(ret_run->length >= least && ret_run->length <= most);
        extents->active_end += ret_run->length;
        set_frontier(extents);
        extents->active->used_bytes += (int64_t)ret_run->length;
        extents->active->run_count++;
    }
    lock_release(&extents->lock);
    return result;
}

void extents_give_back(struct extents *extents, struct run run)
{
    struct extent *extent;

    lock_acquire(&extents->lock);
    extent = extents_find(extents, run.extent);
    assert(extent && extent->run_count > 0);
    extent->run_count--;
    extent->used_bytes -= (int64_t)run.length;
    if (extent == extents->active && run.offset + run.length == extents->active_end) {
        extents->active_end = run.offset;
        set_frontier(extents);
    }
    lock_release(&extents->lock);
}

static struct staged_piece **bucket_of(struct extents *extents, uint32_t extent, uint64_t offset)
{
    return &extents->staged[(extent * 31 + offset / EXTENT_UNIT) % STAGED_BUCKETS];
}

/* Adjusts the extent's count of staged pieces. Caller holds the lock. */
static void count_staged(struct extents *extents, uint32_t id, bool more)
{
    struct extent *extent = extents_find(extents, id);

    lock_assert_held(&extents->lock);
    assert(extent && (more || extent->staged_count > 0));
    extent->staged_count += more ? 1u : -1u;
    extents_settle(extents, extent);
}

void extents_stage(struct extents *extents, struct staged_piece *piece)
{
    struct staged_piece **bucket;

    lock_acquire(&extents->lock);
    assert(!piece->staged);
    count_staged(extents, piece->piece.extent, true);
    bucket = bucket_of(extents, piece->piece.extent, piece->piece.offset);
    piece->bucket_next = *bucket;
    *bucket = piece;
    piece->staged = true;
    lock_release(&extents->lock);
}

/* Returns the link to a staged piece, or the end of its bucket. Caller holds the lock. */
static struct staged_piece **find_staged(struct extents *extents, uint32_t extent, uint64_t offset)
{
    struct staged_piece **link = bucket_of(extents, extent, offset);

    lock_assert_held(&extents->lock);
    while (*link && ((*link)->piece.extent != extent || (*link)->piece.offset != offset))
        link = &(*link)->bucket_next;
    return link;
}

bool extents_has_staged(struct extents *extents, uint32_t extent, uint64_t offset)
{
    bool found;

    lock_acquire(&extents->lock);
    found = *find_staged(extents, extent, offset) != NULL;
    lock_release(&extents->lock);
    return found;
}

/* Caller holds the lock. */
static bool take_out(struct extents *extents, uint32_t extent, uint64_t offset)
{
    struct staged_piece **link = find_staged(extents, extent, offset);

    if (!*link)
        return false;
    (*link)->staged = false;
    *link = (*link)->bucket_next;
    count_staged(extents, extent, false);
    return true;
}

void extents_referred(struct extents *extents, const struct piece_change *pieces, size_t count,
                      size_t first)
{
    size_t found = 0;

    assert(first <= count);
    lock_acquire(&extents->lock);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].references > 0 && take_out(extents, pieces[i].extent, pieces[i].offset))
            found++;
    lock_release(&extents->lock);
    /* Store invariant 2: a piece gets its first reference from its stage. */
    assert(found == first);
}

bool extents_unstage(struct extents *extents, struct staged_piece *piece)
{
    bool staged;

    lock_acquire(&extents->lock);
    staged = piece->staged;
    if (staged)
        take_out(extents, piece->piece.extent, piece->piece.offset);
    assert(!piece->staged);
    lock_release(&extents->lock);
    return staged;
}
