/* Access control lists: changes, inheritance, and the permissions of users without a role. A list is read at any time
 * during the request (decision 1245).
 * source: data-lake-storage-access-control */
#include <string.h>

#include "path_state.h"

#define UMASK     0027u
#define FILE_MODE 0666u
#define DIR_MODE  0777u

/* ---- lists ---- */

static void set_mode(struct path_rights *rights, unsigned mode)
{
    rights->user = mode >> 6 & 7;
    *(rights->named != PATH_NO_USER ? &rights->mask : &rights->group) = mode >> 3 & 7;
    rights->other = mode & 7;
}

static unsigned mode_of(const struct path_rights *rights)
{
    return rights->user << 6 | (rights->named != PATH_NO_USER ? rights->mask : rights->group) << 3 |
           rights->other;
}

static struct path_rights with_mask(struct path_rights rights)
{
    rights.mask = rights.named != PATH_NO_USER ? rights.group | rights.of_named : 0;
    return rights;
}

bool path_change_acl(struct path_acl *acl, const struct path_ask *ask, bool is_directory)
{
    if (ask->sets_mode) {
        set_mode(&acl->access, mode_of(&ask->acl.access));
        acl->is_sticky = ask->acl.is_sticky;
        return true;
    }
    if (ask->acl.has_defaults && !is_directory)
        return false;
    acl->access = with_mask(ask->acl.access);
    acl->has_defaults = ask->acl.has_defaults;
    acl->defaults = (struct path_rights){ 0 };
    if (acl->has_defaults)
        acl->defaults = with_mask(ask->acl.defaults);
    return true;
}

void path_inherit_acl(const struct path_acl *parent, unsigned owner, bool is_directory,
                      struct path_acl *ret_acl)
{
    unsigned mode = is_directory ? DIR_MODE : FILE_MODE;

    *ret_acl = (struct path_acl){ .owner = owner };
    if (!parent || !parent->has_defaults) {
        set_mode(&ret_acl->access, mode & ~UMASK);
        return;
    }
    ret_acl->access = parent->defaults;
    set_mode(&ret_acl->access, mode_of(&parent->defaults) & mode);
    ret_acl->has_defaults = is_directory;
    if (is_directory)
        ret_acl->defaults = parent->defaults;
}

static bool rights_are_equal(const struct path_rights *left, const struct path_rights *right)
{
    return mode_of(left) == mode_of(right) && left->group == right->group &&
           left->named == right->named && left->of_named == right->of_named;
}

bool path_acls_are_equal(const struct path_acl *left, const struct path_acl *right)
{
    return left->owner == right->owner && left->is_sticky == right->is_sticky &&
           left->has_defaults == right->has_defaults &&
           rights_are_equal(&left->access, &right->access) &&
           rights_are_equal(&left->defaults, &right->defaults);
}

/* The users are in no group. */
static bool permits(const struct path_acl *acl, unsigned user, unsigned rights)
{
    unsigned granted = acl->access.other;

    if (acl->owner == user)
        granted = acl->access.user;
    else if (acl->access.named == user)
        granted = acl->access.of_named & acl->access.mask;
    return (granted & rights) == rights;
}

/* ---- checks ---- */

/* What a check requires of a list, or of that of a file and of the directory in which it is. */
struct check {
    unsigned rights;
    bool of_owner;
    const struct path_node *child; /* the sticky bit must let it be deleted */
};

struct verdict {
    const struct path_moment *moment;
    unsigned user;
    bool may_permit, may_refuse;
};

static bool passes(const struct check *check, unsigned user, const struct path_acl *acl,
                   const struct path_acl *of_child)
{
    if (check->child)
        return !acl->is_sticky || of_child->owner == user || acl->owner == user;
    return check->of_owner ? acl->owner == user : permits(acl, user, check->rights);
}

static const struct path_node *find_node(const struct path_state *state, uint64_t id)
{
    for (unsigned i = 0; i < PATH_PLACES; i++)
        if (state->nodes[i] && state->nodes[i]->id == id)
            return state->nodes[i];
    return NULL;
}

bool path_acl_is_stable(const struct path_node *node, const struct path_moment *moment)
{
    const struct path_state *state = path_state_at(moment->to_commit);

    for (; state && state->since > moment->from_commit; state = state->older) {
        const struct path_node *then = state->older ? find_node(state->older, node->id) : NULL;

        if (then && !path_acls_are_equal(&then->acl, &node->acl))
            return false;
    }
    return true;
}

/* Checks the node's list of each time of the request. */
static void require(struct verdict *verdict, const struct path_node *node, struct check check)
{
    const struct path_state *state = path_state_at(verdict->moment->to_commit);
    bool may_permit = false;

    for (; state; state = state->older) {
        const struct path_node *then = find_node(state, node->id);

        if (then && then->acl_is_unknown && !check.of_owner && !check.child)
            may_permit = verdict->may_refuse = true;
        else if (then &&
                 passes(&check, verdict->user, &then->acl, check.child ? &check.child->acl : NULL))
            may_permit = true;
        else if (then)
            verdict->may_refuse = true;
        if (state->since <= verdict->moment->from_commit)
            break;
    }
    verdict->may_permit &= may_permit;
}

/* Requires execution of the existing directories of the path, and more of the last one, which it returns. */
static const struct path_node *require_path(struct verdict *verdict, const struct path_state *state,
                                            unsigned place, unsigned of_last)
{
    unsigned above[PATH_TEXT_SIZE], count = 0;
    const struct path_node *last = NULL;

    while (!path_is_root(place))
        above[count++] = place = path_parent(place);
    while (count > 0 && state->nodes[above[count - 1]] &&
           state->nodes[above[count - 1]]->is_directory) {
        last = state->nodes[above[--count]];
        require(verdict, last, (struct check){ .rights = PATH_EXECUTE });
    }
    if (last)
        require(verdict, last, (struct check){ .rights = of_last });
    return last;
}

static void require_deletion(struct verdict *verdict, const struct path_state *state,
                             unsigned place)
{
    const struct path_node *node = state->nodes[place], *parent;

    parent = require_path(verdict, state, place, PATH_WRITE | PATH_EXECUTE);
    if (node && parent)
        require(verdict, parent, (struct check){ .child = node });
}

/* A directory is deleted with its contents only if it and all directories below grant everything. decision: 1321 */
static void require_below(struct verdict *verdict, const struct path_state *state, unsigned place)
{
    for (unsigned i = place; i < PATH_PLACES; i++) {
        const struct path_node *node = state->nodes[i];

        if (!node || !path_is_below(i, place))
            continue;
        if (node->is_directory)
            require(verdict, node,
                    (struct check){ .rights = PATH_READS | PATH_WRITE | PATH_EXECUTE });
        if (i != place)
            require(verdict, state->nodes[path_parent(i)], (struct check){ .child = node });
    }
}

/* A recursive list checks the directories that it reads: all of them, if it has one page. */
static void require_list(struct verdict *verdict, const struct path_ask *ask,
                         const struct path_state *state)
{
    const struct check check = { .rights = PATH_READS | PATH_EXECUTE };
    bool is_one_page = ask->max == 0 && ask->next == 0;

    require_path(verdict, state, ask->place, 0);
    for (unsigned i = 0; i < PATH_PLACES; i++) {
        struct verdict below = *verdict;

        if (!state->nodes[i] || !state->nodes[i]->is_directory ||
            !(ask->is_recursive ? path_is_below(i, ask->place) : i == ask->place))
            continue;
        require(&below, state->nodes[i], check);
        verdict->may_refuse = below.may_refuse;
        if (is_one_page || i == ask->place)
            verdict->may_permit = below.may_permit;
    }
}

static void require_all(struct verdict *verdict, const struct path_ask *ask,
                        const struct path_state *state)
{
    const struct path_node *node = state->nodes[ask->place];
    unsigned rights = PATH_READS | PATH_WRITE;

    switch ((int)ask->op) {
    case PATH_LIST:
        require_list(verdict, ask, state);
        return;
    case PATH_RENAME:
        require_deletion(verdict, state, path_destination(ask, state));
        return;
    case PATH_DELETE:
        require_deletion(verdict, state, ask->place);
        return;
    case PATH_CREATE_FILE:
    case PATH_CREATE_DIRECTORY:
    case PATH_PUT:
    case PATH_PUT_BLOCK:
    case PATH_PUT_BLOCK_LIST:
    case PATH_UNDELETE:
        require_path(verdict, state, ask->place, node ? 0 : PATH_WRITE | PATH_EXECUTE);
        break;
    case PATH_READ:
    case PATH_GET_PROPERTIES:
    case PATH_GET_BLOCK_LIST:
        rights = PATH_READS;
        require_path(verdict, state, ask->place, 0);
        break;
    case PATH_GET_ACCESS:
        rights = 0;
        require_path(verdict, state, ask->place, 0);
        break;
    default:
        require_path(verdict, state, ask->place, 0);
        break;
    }
    if (node && ask->op == PATH_SET_ACL)
        require(verdict, node, (struct check){ .of_owner = true });
    else if (node)
        require(verdict, node, (struct check){ .rights = rights });
}

unsigned path_find_refusals(const struct path_ask *ask, const struct path_state *state,
                            const struct path_moment *moment, unsigned *ret_certain)
{
    struct verdict all = { .moment = moment, .user = ask->user, .may_permit = true }, more = all;

    *ret_certain = 0;
    if (ask->user == PATH_NO_USER)
        return 0;
    if (!state->exists[path_filesystem_of(ask->place)] || ask->op == PATH_LIST_DELETED) {
        *ret_certain = PATH_REFUSED; /* no list permits anything */
        return PATH_REFUSED;
    }
    require_all(&all, ask, state);
    if (ask->op == PATH_RENAME && state->nodes[ask->from])
        require_deletion(&more, state, ask->from);
    if (ask->op == PATH_DELETE && ask->is_recursive && path_has_entries(state, ask->place))
        require_below(&more, state, ask->place);
    *ret_certain =
        (all.may_permit ? 0u : PATH_REFUSED) | (more.may_permit ? 0u : PATH_MORE_REFUSED);
    return (all.may_refuse ? PATH_REFUSED : 0u) | (more.may_refuse ? PATH_MORE_REFUSED : 0u);
}
