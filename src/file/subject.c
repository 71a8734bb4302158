/* Finds the shares that requests name: checks names, and reads the share's state, which the
 * generic steps use. */
#include "file/file.h"

#include "service/names.h"
#include "service/placement.h"
#include "service/small_record.h"

/* ---- names ----
 * rest: Naming-and-Referencing-Shares--Directories--Files--and-Metadata; semantics 10.1 */

#define NAME_MAX  255
#define PATH_MAX  2048
#define DEPTH_MAX 250

void file_signed_names(const struct resource *resource, struct bytes *ret_share,
                       struct bytes *ret_path)
{
    *ret_share = file_resource(resource)->share;
    *ret_path = file_resource(resource)->path;
}

/* Checks for Windows device names. */
static bool is_device(struct bytes name)
{
    static const char *const names[] = { "PRN", "AUX", "NUL", "CON", "CLOCK$" };

    if (name.len < 3 || name.len > 6)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_is_nocase(name, names[i]))
            return true;
    }
    return name.len == 4 && name.ptr[3] >= '1' && name.ptr[3] <= '9' &&
           (bytes_is_nocase(bytes_of(name.ptr, 3), "COM") ||
            bytes_is_nocase(bytes_of(name.ptr, 3), "LPT"));
}

/* Characters reserved by Windows, besides control characters. */
static const bool barred[UINT8_MAX + 1] = {
    ['"'] = true, ['\\'] = true, [':'] = true, ['|'] = true,  ['<'] = true,
    ['>'] = true, ['*'] = true,  ['?'] = true, [0x7F] = true,
};

enum error file_check_name(struct bytes name, bool trailing_dots)
{
    while (!trailing_dots && name.len > 0 && name.ptr[name.len - 1] == '.')
        name.len--;
    if (name.len == 0 || bytes_is(name, ".") || bytes_is(name, "..") || is_device(name))
        return E_InvalidResourceName;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];

        if (c < 0x20 || barred[c])
            return E_InvalidResourceName;
    }
    return bytes_utf16_exceed(name, NAME_MAX) ? E_InvalidResourceName : OK;
}

static enum error check_path(struct bytes path, bool trailing_dots)
{
    struct bytes rest = path, part;
    size_t depth = 0;
    enum error e = OK;

    while (rest.ptr && !e) {
        bytes_cut(rest, '/', &part, &rest);
        e = file_check_name(part, trailing_dots);
        depth++;
    }
    if (e)
        return e;
    return bytes_utf16_exceed(path, PATH_MAX) || depth > DEPTH_MAX
               ? E_InvalidFileOrDirectoryPathName
               : OK;
}

enum error file_check_names(const struct resource *resource)
{
    const struct file_resource *named = file_resource(resource);
    enum error e = named->share.ptr ? name_check(named->share) : OK;

    if (!e && named->path.ptr)
        e = check_path(named->path, named->trailing_dots);
    return e;
}

/* ---- partitions ---- */

struct guid file_account_space(struct bytes account)
{
    return account_space("file", account);
}

/* of: view of the partition in which the share is missing */
static enum error fail_no_share(struct decision *d, struct read_view *of, enum store_result result)
{
    return result == STORE_NOT_FOUND ? placement_missing(d, of, E_ShareNotFound)
                                     : decision_fail_store(d, result);
}

/* Returns true if the tree's stamp must be read. Reads of the root or of a name in the root do not
 * need it, because the root never moves (tree/README.md, "Lookups"). */
static bool needs_stamp(struct decision *d)
{
    const struct file_resource *asked = file_requested(d);

    return decision_may_change(d) || asked->snapshot > 0 ||
           (asked->path.ptr && memchr(asked->path.ptr, '/', asked->path.len));
}

/* Reads the share at *partition, and sets *partition to one in the share's tree. */
static enum error locate_tree(struct decision *d, struct share *share, struct partition *partition)
{
    struct decision_part *owner = decision_open(d, *partition, NULL);
    enum store_result result =
        share_read(owner->before, d->arena, share_snapshot_key(file_requested(d)->snapshot), share);

    enum error e = result ? fail_no_share(d, owner->before, result) : OK;

    decision_leave_owner(d, owner);
    if (e)
        return e;
    share->at = *partition;
    *partition = needs_stamp(d) ? tree_stamp_partition(share->space)
                                : tree_partition(d->arena, share->space, TREE_ROOT);
    return OK;
}

enum error file_locate(struct decision *d, struct partition *ret_partition)
{
    struct file_state *state = arena_alloc(d->arena, sizeof *state);

    state->base.resource = d->input->resource;
    d->state = &state->base;
    *ret_partition =
        (struct partition){ .space = file_account_space(d->input->account), .key = BYTES("") };
    if (d->level == LEVEL_SHARES)
        return OK;
    ret_partition->key = file_requested(d)->share;
    return d->level == LEVEL_SHARE ? OK : locate_tree(d, &state->share, ret_partition);
}

/* ---- subjects ---- */

enum error share_subject(struct decision *d)
{
    struct share *share = &file_state(d)->share;
    enum store_result result =
        share_read(d->before, d->arena, share_snapshot_key(file_requested(d)->snapshot), share);

    if (result)
        return fail_no_share(d, d->before, result);
    d->lease_resource = LEASE_OF_SHARE;
    d->lease = share->lease;
    d->subject =
        (struct subject){ .exists = true, .etag = share->etag, .modified = share->modified };
    return OK;
}

enum error share_subject_deleted(struct decision *d)
{
    enum error e = share_subject(d);
    enum store_result result;

    if (e != E_ShareNotFound || file_requested(d)->snapshot > 0)
        return e;
    result = recent_deletion_find(d->before, d->arena, d->now);
    if (result)
        return fail_no_share(d, d->before, result);
    d->lease_resource = LEASE_OF_SHARE;
    d->lease = (struct lease){ .kind = 0 };
    d->subject = (struct subject){ .exists = false };
    return OK;
}

/* ---- permission ---- */

/* Returns the share's stored access policies. */
enum error file_permit_facts(struct decision *d, struct permit_facts *ret_facts)
{
    if (decision_rests_on_policy(d) &&
        !policies_decode(file_state(d)->share.policies, &ret_facts->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}
