/* See path_ask.h. */
#include "path_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "roles.h"
#include "world.h"

const char *const path_filesystems[PATH_FILESYSTEMS] = { "fsys", "fsys2" };
const char *const path_op_names[PATH_OPS] = {
    [PATH_CREATE_FILESYSTEM] = "Filesystem Create",
    [PATH_HOLD] = "Set Legal Hold",
    [PATH_DELETE_FILESYSTEM] = "Filesystem Delete",
    [PATH_CREATE_FILE] = "Path Create (file)",
    [PATH_CREATE_DIRECTORY] = "Path Create (directory)",
    [PATH_PUT] = "Put Blob",
    [PATH_APPEND] = "Path Update (append)",
    [PATH_FLUSH] = "Path Update (flush)",
    [PATH_SET_PROPERTIES] = "Path Update (setProperties)",
    [PATH_SET_ACL] = "Path Update (setAccessControl)",
    [PATH_LEASE] = "Path Lease",
    [PATH_PUT_BLOCK] = "Put Block",
    [PATH_PUT_BLOCK_LIST] = "Put Block List",
    [PATH_SNAPSHOT] = "Snapshot Blob",
    [PATH_RENAME] = "Path Create (rename)",
    [PATH_DELETE] = "Path Delete",
    [PATH_SET_EXPIRY] = "Set Blob Expiry",
    [PATH_UNDELETE] = "Undelete Blob",
    [PATH_SET_SERVICE] = "Set Blob Service Properties",
    [PATH_READ] = "Path Read",
    [PATH_GET_FILESYSTEM] = "Get Container Properties",
    [PATH_GET_PROPERTIES] = "Path Get Properties",
    [PATH_GET_ACCESS] = "Path Get Properties (getAccessControl)",
    [PATH_GET_BLOCK_LIST] = "Get Block List",
    [PATH_LIST] = "Path List",
    [PATH_LIST_SNAPSHOTS] = "List Blobs",
    [PATH_LIST_DELETED] = "List Blobs (deleted)",
    [PATH_GET_SERVICE] = "Get Blob Service Properties",
};

static const char names[PATH_NAMES + 1] = "abc";

unsigned path_filesystem_count(void)
{
    return world->plan.fronts > 0 ? 1 : PATH_FILESYSTEMS;
}

void path_text(unsigned place, char to[PATH_TEXT_SIZE])
{
    char back[PATH_TEXT_SIZE];
    size_t used = 0;

    for (; !path_is_root(place); place = path_parent(place)) {
        back[used++] = names[path_name_of(place)];
        if (!path_is_root(path_parent(place)))
            back[used++] = '/';
    }
    for (size_t i = 0; i < used; i++)
        to[i] = back[used - 1 - i];
    to[used] = '\0';
}

unsigned path_place(unsigned root, const char *text, size_t length)
{
    unsigned place = root;

    for (size_t i = 0; i < length; i += 2) {
        const char *name = memchr(names, text[i], PATH_NAMES);

        if (!name || place == PATH_PLACES || (i + 1 < length && text[i + 1] != '/'))
            return PATH_PLACES;
        place = path_child(place, (unsigned)(name - names));
    }
    return place;
}

bool path_is_below(unsigned place, unsigned above)
{
    while (place > above && !path_is_root(place))
        place = path_parent(place);
    return place == above;
}

unsigned path_moved(unsigned place, unsigned from, unsigned to)
{
    unsigned parent;

    if (place == from)
        return to;
    parent = path_moved(path_parent(place), from, to);
    return parent < PATH_PLACES ? path_child(parent, path_name_of(place)) : PATH_PLACES;
}

const char *path_user(unsigned user)
{
    return user == PATH_NO_USER ? "$superuser" : roles_principal(user);
}

static size_t add_entry(char *to, size_t used, const char *entry, const char *name, unsigned rights)
{
    return used + (size_t)snprintf(to + used, PATH_ACL_SIZE - used, "%s%s%s:%c%c%c",
                                   used > 0 ? "," : "", entry, name,
                                   rights & PATH_READS ? 'r' : '-', rights & PATH_WRITE ? 'w' : '-',
                                   rights & PATH_EXECUTE ? 'x' : '-');
}

static size_t add_rights(char *to, size_t used, const struct path_rights *rights, bool is_default,
                         bool with_mask)
{
    static const char *const entries[2][4] = {
        { "user:", "group:", "mask:", "other:" },
        { "default:user:", "default:group:", "default:mask:", "default:other:" }
    };
    const char *const *entry = entries[is_default];

    used = add_entry(to, used, entry[0], "", rights->user);
    if (rights->named != PATH_NO_USER)
        used = add_entry(to, used, entry[0], path_user(rights->named), rights->of_named);
    used = add_entry(to, used, entry[1], "", rights->group);
    if (rights->named != PATH_NO_USER && with_mask)
        used = add_entry(to, used, entry[2], "", rights->mask);
    return add_entry(to, used, entry[3], "", rights->other);
}

void path_acl_text(const struct path_acl *acl, bool with_mask, char to[PATH_ACL_SIZE])
{
    size_t used = add_rights(to, 0, &acl->access, false, with_mask);

    if (acl->has_defaults)
        add_rights(to, used, &acl->defaults, true, with_mask);
}

static void format_condition(const struct path_condition *condition, char *to, size_t size)
{
    static const char *const kinds[PATH_IFS] = { "",
                                                 "If-Match",
                                                 "If-Match:*",
                                                 "If-None-Match",
                                                 "If-None-Match:*",
                                                 "If-Modified-Since",
                                                 "If-Unmodified-Since" };

    to[0] = '\0';
    if (condition->kind != PATH_IF_NOTHING)
        (void)snprintf(to, size, " %s %" PRIX64 " %" PRId64, kinds[condition->kind],
                       condition->etag, condition->date);
}

static void format_lease(const struct path_ask *ask, char *to, size_t size)
{
    static const char *const acts[ACTS] = { "acquire", "renew", "change", "release", "break" };
    static const char *const actions[] = { "", " acquires", " renews", " releases",
                                           " acquires and releases" };

    (void)snprintf(to, size, " lease=%u%s%s proposed=%u dur=%d break=%d source=%u", ask->lease.id,
                   ask->op == PATH_LEASE ? " " : "",
                   ask->op == PATH_LEASE ? acts[ask->lease.act] : actions[ask->lease_action],
                   ask->lease.proposed, ask->lease.duration_s, ask->lease.break_s,
                   ask->source_lease);
}

static void format_blocks(const struct path_ask *ask, char *to, size_t size)
{
    static const char *const sources[] = { "committed", "uncommitted", "latest" };
    size_t used = 0;

    to[0] = '\0';
    if (ask->op == PATH_PUT_BLOCK)
        (void)snprintf(to, size, " block=%u", ask->content.block - 1);
    for (unsigned i = 0; i < ask->list_count && used < size; i++)
        used += (size_t)snprintf(to + used, size - used, " %s:%u", sources[ask->list[i].source],
                                 ask->list[i].block);
}

static void format_time(const struct path_ask *ask, char *to, size_t size)
{
    static const char *const kinds[] = { "", "in", "at", "never" };

    to[0] = '\0';
    if (ask->expiry != PATH_NO_EXPIRY)
        (void)snprintf(to, size, " expires %s %" PRIu64, kinds[ask->expiry], ask->expiry_time);
    else if (ask->op == PATH_SET_SERVICE)
        (void)snprintf(to, size, " days=%u", ask->days);
    else if (ask->op == PATH_HOLD)
        (void)snprintf(to, size, ask->releases ? " is removed" : " is set");
    else if (ask->deletion > 0)
        (void)snprintf(to, size, " deletion=%" PRIu64, ask->deletion);
}

void path_ask_format(const struct path_ask *ask, char *to, size_t size)
{
    char path[PATH_TEXT_SIZE], source[PATH_TEXT_SIZE] = "", acl[PATH_ACL_SIZE] = "";
    const char *from = "", *slash = "";
    char condition[80], of_source[80], lease[120], blocks[80], time[60];

    path_text(ask->place, path);
    if (ask->op == PATH_RENAME) {
        path_text(ask->from, source);
        from = path_filesystems[path_filesystem_of(ask->from)];
        slash = "/";
    }
    if (ask->op == PATH_SET_ACL)
        path_acl_text(&ask->acl, false, acl);
    format_condition(&ask->condition, condition, sizeof condition);
    format_condition(&ask->source_condition, of_source, sizeof of_source);
    format_lease(ask, lease, sizeof lease);
    format_blocks(ask, blocks, sizeof blocks);
    format_time(ask, time, sizeof time);
    (void)snprintf(to, size,
                   "%s %s/%s%s%s%s%s%s%s%s by %u%s%s%s%s%s%s value=%u position=%u seed=%" PRIu64
                   " length=%u%s%s%s%s%s max=%u next=%u%s%s",
                   path_op_names[ask->op], path_filesystems[path_filesystem_of(ask->place)], path,
                   ask->snapshot[0] ? "@" : "", ask->snapshot, slash[0] ? " from " : "", from,
                   slash, source, ask->by_blob ? " as blob" : "", ask->user, condition,
                   of_source[0] ? " source" : "", of_source, lease,
                   ask->is_legacy ? " mode=legacy" : "", ask->is_recursive ? " recursive" : "",
                   ask->value, ask->position, ask->content.seed, ask->content.length, blocks, time,
                   ask->keeps_rest ? " keeps the rest" : "", ask->flushes ? " flushes" : "",
                   ask->with_snapshots ? " with snapshots" : "", ask->max, ask->next,
                   ask->sets_mode ? " mode only " : " ", acl);
}
