/* See fs_opens.h. */
#include "fs_opens.h"

#include <string.h>

#include "fs_away.h"
#include "world.h"

static bool takes_lease(const struct fs_ask *ask)
{
    return ask->op == FS_LEASE_FILE && ask->act == ACT_ACQUIRE;
}

/* semantics 8.2 */
struct fs_use fs_use_of(const struct fs_ask *ask)
{
    struct fs_use use = { .share = MAY_RWD, .changes_nothing = fs_is_read(ask->op) };

    switch ((int)ask->op) {
    case FS_GET_FILE:
    case FS_LIST_RANGES:
        use.access = MAY_R;
        use.breaks_caching = use.waits_for = CACHES_W;
        break;
    case FS_HEAD_FILE:
        use.breaks_caching = use.waits_for = CACHES_W;
        break;
    case FS_PUT_RANGE:
    case FS_PUT_RANGE_FROM_URL:
    case FS_CLEAR_RANGE:
    case FS_SET_LENGTH:
    case FS_SET_METADATA:
    case FS_ABORT_COPY:
        use.access = MAY_W;
        use.breaks_caching = CACHES_ALL;
        use.waits_for = CACHES_W;
        break;
    case FS_CREATE_FILE:
    case FS_COPY_FILE:
        use.access = MAY_W | MAY_D;
        use.breaks_caching = CACHES_ALL;
        use.waits_for = CACHES_W;
        break;
    case FS_DELETE_FILE:
    case FS_DELETE_DIRECTORY:
    case FS_RENAME_FILE: /* of what it replaces */
    case FS_RENAME_DIRECTORY:
        use.access = MAY_D;
        use.needs_no_open = true;
        use.breaks_caching = use.waits_for = CACHES_H;
        break;
    case FS_LIST_FILES:
        use.ignores_pending = true;
        break;
    default:
        break;
    }
    if (takes_lease(ask))
        use = (struct fs_use){
            .access = MAY_RWD, .share = MAY_R, .breaks_caching = CACHES_ALL, .waits_for = CACHES_W
        };
    return use;
}

struct fs_use fs_use_of_source(const struct fs_ask *ask)
{
    bool is_renamed = ask->op == FS_RENAME_FILE || ask->op == FS_RENAME_DIRECTORY;
    unsigned breaks_caching = is_renamed ? CACHES_H : CACHES_W;

    return (struct fs_use){ .access = is_renamed ? MAY_D : MAY_R,
                            .share = MAY_RWD,
                            .changes_nothing = !is_renamed,
                            .is_rename = is_renamed,
                            .breaks_caching = breaks_caching,
                            .waits_for = breaks_caching };
}

/* Opens for attributes alone neither bar nor are barred, but where nothing may be open at all. */
static bool bears(const struct fs_open *open, const struct fs_use *use)
{
    if (use->needs_no_open)
        return false;
    if (open->access == 0 || use->access == 0)
        return true;
    return (use->access & ~open->share) == 0 && (open->access & ~use->share) == 0;
}

#define NO_BREAK 8u

/* What is left to a client of what it may keep. An oplock that is broken leaves reading at most. */
static unsigned after_break(const struct fs_open *open, unsigned breaks_caching, bool is_rename)
{
    unsigned left = open->breaks_to & ~breaks_caching;

    if (!open->is_oplock || left == open->breaks_to)
        return left;
    return is_rename ? 0 : left & CACHES_R;
}

unsigned fs_opens_count(const struct fs_state *state, const struct fs_node *node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < FS_OPENS; i++)
        count += state->opens[i].id > 0 && state->opens[i].node == node->id;
    return count;
}

static void add_break(const struct fs_open *open, unsigned breaks_caching, bool is_rename,
                      unsigned *to)
{
    unsigned left = after_break(open, breaks_caching, is_rename);

    *to = left == open->breaks_to ? NO_BREAK : left;
}

/* Who caches the handle of an open that does not bear it may have closed it long ago, and is asked; any other one bars.
 * to: what each open is to be asked */
static enum fs_bar check_sharing(const struct fs_state *state, uint64_t node,
                                 const struct fs_use *use, unsigned to[FS_OPENS])
{
    enum fs_bar bar = FS_NOTHING_BARS;

    for (unsigned i = 0; i < FS_OPENS; i++) {
        const struct fs_open *open = &state->opens[i];

        if (open->id == 0 || open->node != node || bears(open, use))
            continue;
        if (open->id == use->own || !(open->holds & CACHES_H))
            return FS_IS_NOT_SHARED;
        bar = FS_OTHERS_CACHE;
        add_break(open, CACHES_H, false, &to[i]);
    }
    return bar;
}

static bool is_spared(const struct fs_open *open, const struct fs_use *use)
{
    return open->id == use->own &&
           !(use->changes_data && open->is_oplock && open->holds == CACHES_R);
}

static enum fs_bar check_caching(const struct fs_state *state, uint64_t node,
                                 const struct fs_use *use, unsigned to[FS_OPENS])
{
    enum fs_bar bar = FS_NOTHING_BARS;

    for (unsigned i = 0; i < FS_OPENS; i++) {
        const struct fs_open *open = &state->opens[i];

        if (open->id == 0 || open->node != node || is_spared(open, use))
            continue;
        if ((open->holds & use->waits_for) || (use->has_waited && open->holds != open->breaks_to))
            bar = FS_OTHERS_CACHE;
        add_break(open, use->breaks_caching, use->is_rename, &to[i]);
    }
    return bar;
}

static enum fs_bar judge_once(const struct fs_state *state, uint64_t node, const struct fs_use *use,
                              unsigned to[FS_OPENS])
{
    enum fs_bar bar;

    for (unsigned i = 0; i < FS_OPENS; i++)
        to[i] = NO_BREAK;
    bar = check_sharing(state, node, use, to);
    return bar == FS_NOTHING_BARS ? check_caching(state, node, use, to) : bar;
}

void fs_end_open(struct fs_state *state, struct fs_open *open)
{
    for (unsigned i = 0; i < FS_LOCKS; i++)
        if (state->locks[i].open == open->id)
            state->locks[i] = (struct fs_lock){ .open = 0 };
    *open = (struct fs_open){ .id = 0 };
}

/* Nobody answers for an open whose client is away: what it is in the way of, or would be asked for, ends it. Returns
 * whether there was one. MS-SMB2 3.3.4.6 */
static bool end_away(struct fs_state *state, uint64_t node, const struct fs_use *use,
                     const unsigned to[FS_OPENS])
{
    bool has_ended = false;

    for (unsigned i = 0; i < FS_OPENS; i++) {
        struct fs_open *open = &state->opens[i];
        bool is_asked = to[i] != NO_BREAK && open->holds != CACHES_R;

        if (open->id == 0 || open->node != node || !open->is_away || open->persists ||
            (bears(open, use) && !is_asked))
            continue;
        fs_end_open(state, open);
        has_ended = true;
    }
    return has_ended;
}

static void keep_only(struct fs_open *open, unsigned caching)
{
    open->holds = open->told = open->breaks_to = caching;
}

/* One that persists stays, and loses at once what it would be asked for. */
static bool take_from_away(struct fs_state *state, uint64_t node, const unsigned to[FS_OPENS])
{
    bool has_lost = false;

    for (unsigned i = 0; i < FS_OPENS; i++) {
        struct fs_open *open = &state->opens[i];

        if (open->id == 0 || open->node != node || !open->is_away || to[i] == NO_BREAK)
            continue;
        keep_only(open, to[i]);
        has_lost = true;
    }
    return has_lost;
}

void fs_leave_open(struct fs_open *open)
{
    keep_only(open, open->breaks_to);
    open->is_away = true;
    open->away_ns = world->now_ns;
    open->volatile_id = 0;
}

static bool has_away(const struct fs_state *state, uint64_t node)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].node == node && state->opens[i].is_away)
            return true;
    return false;
}

/* state: is changed: it loses whom it ends */
static enum fs_bar judge(struct fs_state *state, uint64_t node, const struct fs_use *use,
                         unsigned to[FS_OPENS], bool *ret_ended)
{
    enum fs_bar bar = judge_once(state, node, use, to);
    bool again = true;

    *ret_ended = false;
    while (again) {
        again = end_away(state, node, use, to);
        if (bar != FS_IS_NOT_SHARED)
            again = take_from_away(state, node, to) || again;
        *ret_ended = *ret_ended || again;
        if (again)
            bar = judge_once(state, node, use, to);
    }
    return bar;
}

/* ---- a process has begun ---- */

/* Does a read of all of the file pass what is open of it? */
static bool bear_a_read(const struct fs_state *state, uint64_t node)
{
    static const struct fs_use reads = { .access = MAY_R, .share = MAY_RWD };

    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].node == node &&
            !bears(&state->opens[i], &reads))
            return false;
    return true;
}

static void leave_process(struct fs_open *open)
{
    fs_leave_open(open);
    open->is_of_before = true;
}

void fs_close_open(struct fs_state *state, struct fs_open *open)
{
    unsigned at = (unsigned)(fs_node_of(state, open->node) - state->nodes);
    struct fs_node *node = &state->nodes[at];

    node->is_delete_pending = node->is_delete_pending || open->deletes;
    fs_end_open(state, open);
    if (fs_is_open(state, node))
        return;
    if (node->is_delete_pending && !fs_has_children(state, at))
        node->exists = false;
    node->is_delete_pending = false;
}

void fs_opens_of_before(struct fs_state *state)
{
    for (unsigned i = 0; i < FS_OPENS; i++) {
        if (state->opens[i].id == 0)
            continue;
        if (state->opens[i].persists && !fs_has_ended_before(&state->opens[i]))
            leave_process(&state->opens[i]);
        else
            fs_end_open(state, &state->opens[i]);
    }
    for (unsigned i = 0; i < FS_OPENS; i++) {
        struct fs_open *open = &state->opens[i];
        const struct fs_node *node = open->id > 0 ? fs_node_of(state, open->node) : NULL;
        bool is_looked_at = node && !node->is_delete_pending &&
                            (bear_a_read(state, node->id) || node->lease.id > 0 || fs_is_large());

        if (is_looked_at && (open->holds & CACHES_W))
            keep_only(open, after_break(open, CACHES_W, false));
    }
}

const struct fs_open *fs_open_created(const struct fs_state *state, uint64_t create)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].create == create && create > 0)
            return &state->opens[i];
    return NULL;
}

static struct fs_passes passes;
#define PASSES_MAX (sizeof passes.of / sizeof passes.of[0])

void fs_passes_begin(void)
{
    passes.count = 0;
}

struct fs_passes fs_passes(void)
{
    return passes;
}

enum fs_bar fs_beside_opens(const struct fs_state *state, const struct fs_node *node,
                            const struct fs_use *use)
{
    static struct fs_state scratch;
    unsigned to[FS_OPENS];
    bool has_ended = false;
    enum fs_bar bar;

    if (state->is_kept)
        return FS_NOTHING_BARS;
    if (node->is_delete_pending && !use->ignores_pending)
        return FS_DELETE_IS_PENDING;
    if (has_away(state, node->id)) {
        scratch = *state;
        bar = judge(&scratch, node->id, use, to, &has_ended);
    } else {
        bar = judge_once(state, node->id, use, to);
    }
    if (bar == FS_NOTHING_BARS && has_ended && use->changes_nothing)
        bar = FS_OTHERS_CACHE; /* that is committed first */
    if (bar != FS_IS_NOT_SHARED && passes.count < PASSES_MAX) {
        passes.of[passes.count].node = node->id;
        passes.of[passes.count++].use = *use;
    }
    return bar;
}

/* One who only reads has lost it at once. What is asked beside a break that is under way waits for its end. */
static void tell(struct fs_open *open, unsigned to)
{
    open->told = to;
    if (open->holds == CACHES_R)
        open->holds = to;
}

void fs_ask_others(struct fs_state *state, const struct fs_passes *asking, bool only_last)
{
    unsigned to[FS_OPENS];
    bool has_ended;

    for (unsigned i = only_last ? asking->count - 1 : 0; i < asking->count; i++) {
        (void)judge(state, asking->of[i].node, &asking->of[i].use, to, &has_ended);
        for (unsigned j = 0; j < FS_OPENS; j++) {
            struct fs_open *open = &state->opens[j];
            bool is_breaking = open->told != open->holds;

            if (to[j] == NO_BREAK)
                continue;
            open->breaks_to = to[j];
            if (!is_breaking)
                tell(open, to[j]);
        }
    }
}

bool fs_asks_anything(const struct fs_state *state, const struct fs_passes *asking)
{
    static struct fs_state after;

    after = *state;
    fs_ask_others(&after, asking, true);
    return memcmp(after.opens, state->opens, sizeof after.opens) != 0;
}

/* MS-SMB2 3.3.5.22. A second break takes handles and writes first, and what was read at last. */
bool fs_acknowledge_break(struct fs_open *open, unsigned keeps)
{
    if (open->told == open->holds)
        return false;
    if (open->is_oplock)
        keeps &= open->told;
    if (keeps & ~open->told)
        return false;
    open->holds = open->told = keeps;
    open->breaks_to &= keeps;
    if (open->breaks_to != keeps)
        tell(open, open->holds == CACHES_R ? open->breaks_to
                                           : open->breaks_to | (open->holds & CACHES_R));
    return true;
}

unsigned fs_grant(const struct fs_state *state, uint64_t node, unsigned wants, bool is_oplock)
{
    for (unsigned i = 0; i < FS_LOCKS; i++) {
        const struct fs_open *owner =
            state->locks[i].open > 0 ? fs_open_of(state, state->locks[i].open) : NULL;

        if (owner && owner->node == node)
            return 0;
    }
    for (unsigned i = 0; i < FS_OPENS; i++) {
        const struct fs_open *other = &state->opens[i];

        if (other->id == 0 || other->node != node)
            continue;
        if (other->access != 0)
            wants &= ~(unsigned)CACHES_W;
        if (other->holds == 0)
            continue;
        if ((other->holds & CACHES_W) ||
            (is_oplock && !other->is_oplock && (other->holds & CACHES_H)))
            return 0;
        wants &= ~(unsigned)CACHES_W;
        if (!is_oplock && other->is_oplock)
            wants &= ~(unsigned)CACHES_H;
    }
    if (!(wants & CACHES_R))
        return 0;
    return is_oplock && !(wants & CACHES_W) ? CACHES_R : wants;
}

const char *fs_bar_code(enum fs_bar bar)
{
    static const char *const codes[] = { [FS_NOTHING_BARS] = NULL,
                                         [FS_DELETE_IS_PENDING] = "DeletePending",
                                         [FS_IS_NOT_SHARED] = "SharingViolation",
                                         [FS_OTHERS_CACHE] = "ClientCacheFlushDelay" };

    return codes[bar];
}

bool fs_is_open(const struct fs_state *state, const struct fs_node *node)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].node == node->id)
            return true;
    return false;
}

const struct fs_open *fs_open_of(const struct fs_state *state, uint64_t id)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id == id && id > 0)
            return &state->opens[i];
    return NULL;
}

struct fs_open *fs_open_in(struct fs_state *state, uint64_t id)
{
    const struct fs_open *open = fs_open_of(state, id);

    return open ? &state->opens[open - state->opens] : NULL;
}

const struct fs_node *fs_opened_node(const struct fs_state *state, uint64_t id)
{
    const struct fs_open *open = fs_open_of(state, id);

    return open ? fs_node_of(state, open->node) : NULL;
}

const struct fs_open *fs_open_of_client(const struct fs_state *state, unsigned client,
                                        uint64_t volatile_id)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].client == client &&
            state->opens[i].volatile_id == volatile_id)
            return &state->opens[i];
    return NULL;
}
