/* rest: Authorize-with-Azure-Active-Directory "Permissions for calling data operations";
 * Azure built-in roles for Storage */
#include "roles_rights.h"

#include "services.h"
#include "world.h"

#define OF_CONTAINERS (MAY_READ_CONTAINER | MAY_WRITE_CONTAINER | MAY_DELETE_CONTAINER)
#define OF_ACLS       (MAY_GET_ACL | MAY_SET_ACL)

const struct role roles_built_in[] = {
    { "Storage Blob Data Reader", 'b', MAY_GET_KEY | MAY_READ_CONTAINER | MAY_READ },
    { "Storage Blob Data Contributor", 'b',
      MAY_GET_KEY | OF_CONTAINERS | MAY_READ | MAY_WRITE | MAY_DELETE },
    { "Storage Blob Data Owner", 'b',
      MAY_GET_KEY | OF_CONTAINERS | OF_ACLS | MAY_READ | MAY_WRITE | MAY_DELETE | MAY_READ_TAGS |
          MAY_WRITE_TAGS | MAY_FILTER | MAY_DELETE_VERSION | MAY_DELETE_FOR_GOOD },
    { "Storage Blob Delegator", 'b', MAY_GET_KEY },
    { "Storage Queue Data Reader", 'q', MAY_READ_CONTAINER | MAY_READ },
    { "Storage Queue Data Contributor", 'q',
      OF_CONTAINERS | MAY_READ | MAY_WRITE | MAY_DELETE | MAY_ADD | MAY_PROCESS },
    { "Storage Queue Data Message Sender", 'q', MAY_ADD },
    { "Storage Queue Data Message Processor", 'q', MAY_READ | MAY_PROCESS },
    { "Storage Table Data Reader", 't', MAY_READ_CONTAINER | MAY_READ },
    { "Storage Table Data Contributor", 't',
      OF_CONTAINERS | MAY_READ | MAY_DELETE | MAY_ADD | MAY_UPDATE },
    { "Storage Account Contributor", 0,
      MAY_GET_KEY | MAY_READ_SERVICE | MAY_WRITE_SERVICE | OF_CONTAINERS | OF_ACLS },
    { "Reader", 0, 0 }, /* of the account's own properties, not of data */
};
const unsigned roles_count = sizeof roles_built_in / sizeof roles_built_in[0];

static void add(struct needs *needs, unsigned actions)
{
    needs->actions[needs->count++] = actions;
}

static void need_of_blob(const struct ask *ask, struct needs *needs)
{
    static const unsigned needed[OPS] = {
        [OP_CREATE_CONTAINER] = MAY_WRITE_CONTAINER,
        [OP_DELETE_CONTAINER] = MAY_DELETE_CONTAINER,
        [OP_GET_CONTAINER] = MAY_READ_CONTAINER,
        [OP_SET_CONTAINER_METADATA] = MAY_WRITE_CONTAINER,
        [OP_GET_ACL] = MAY_GET_ACL,
        [OP_SET_ACL] = MAY_SET_ACL,
        [OP_LEASE_CONTAINER] = MAY_WRITE_CONTAINER,
        [OP_RESTORE_CONTAINER] = MAY_WRITE_CONTAINER,
        [OP_FIND] = MAY_FILTER,
        [OP_LIST_BLOBS] = MAY_READ,
        [OP_LIST_CONTAINERS] = MAY_READ_CONTAINER,
        [OP_SET_SERVICE] = MAY_WRITE_SERVICE,
        [OP_GET_SERVICE] = MAY_READ_SERVICE,
        [OP_PUT_BLOB] = MAY_WRITE,
        [OP_GET_BLOB] = MAY_READ,
        [OP_HEAD_BLOB] = MAY_READ,
        [OP_SET_METADATA] = MAY_WRITE,
        [OP_GET_METADATA] = MAY_READ,
        [OP_SET_PROPERTIES] = MAY_WRITE,
        [OP_LEASE_BLOB] = MAY_WRITE,
        [OP_SNAPSHOT] = MAY_WRITE,
        [OP_DELETE_BLOB] = MAY_DELETE,
        [OP_PUT_BLOCK] = MAY_WRITE,
        [OP_PUT_BLOCK_LIST] = MAY_WRITE,
        [OP_GET_BLOCK_LIST] = MAY_READ,
        [OP_SET_TAGS] = MAY_WRITE_TAGS,
        [OP_GET_TAGS] = MAY_READ_TAGS,
        [OP_APPEND_BLOCK] = MAY_WRITE,
        [OP_SEAL] = MAY_WRITE,
        [OP_PUT_PAGE] = MAY_WRITE,
        [OP_CLEAR_PAGE] = MAY_WRITE,
        [OP_PAGE_RANGES] = MAY_READ,
        [OP_SET_TIER] = MAY_WRITE,
        [OP_COPY] = MAY_WRITE,
        [OP_ABORT_COPY] = MAY_WRITE,
        [OP_UNDELETE] = MAY_WRITE,
    };
    unsigned actions = needed[ask->op];

    if (ask->op == OP_DELETE_BLOB && ask->is_permanent)
        actions = MAY_DELETE_FOR_GOOD;
    else if (ask->op == OP_DELETE_BLOB && ask->is_version)
        actions = MAY_DELETE_VERSION;
    if (ask->if_tag > 0)
        actions |= MAY_READ_TAGS;
    if (ask->tag > 0 && ask->op != OP_SET_TAGS && ask->op != OP_FIND)
        actions |= MAY_WRITE_TAGS;
    add(needs, ask->wants_key ? MAY_GET_KEY : actions);
    needs->container =
        ask->op < OP_LIST_CONTAINERS || ask->op > OP_GET_SERVICE ? (int)ask->container : -1;
}

static void need_of_queue(const struct ask *ask, struct needs *needs)
{
    static const unsigned needed[QUEUE_OPS] = {
        [QUEUE_LIST] = MAY_READ_CONTAINER,
        [QUEUE_CREATE] = MAY_WRITE_CONTAINER,
        [QUEUE_DELETE] = MAY_DELETE_CONTAINER,
        [QUEUE_GET_METADATA] = MAY_READ_CONTAINER,
        [QUEUE_SET_METADATA] = MAY_WRITE_CONTAINER,
        [QUEUE_GET_ACL] = MAY_GET_ACL,
        [QUEUE_SET_ACL] = MAY_SET_ACL,
        [QUEUE_PUT] = MAY_ADD,
        [QUEUE_GET] = MAY_PROCESS,
        [QUEUE_PEEK] = MAY_READ,
        [QUEUE_CLEAR] = MAY_DELETE,
        [QUEUE_UPDATE] = MAY_WRITE,
        [QUEUE_DELETE_MESSAGE] = MAY_PROCESS,
    };

    add(needs, needed[ask->queue.op]);
    needs->container = ask->queue.op == QUEUE_LIST ? -1 : (int)ask->container;
}

/* A write to an entity without If-Match may insert it. */
static unsigned needed_by_change(const struct table_change *change)
{
    if (change->op == TABLE_INSERT)
        return MAY_ADD;
    if (change->op == TABLE_DELETE)
        return MAY_DELETE;
    return change->condition == TABLE_IF_NOTHING ? MAY_ADD | MAY_UPDATE : MAY_UPDATE;
}

static void need_of_table(const struct ask *ask, struct needs *needs)
{
    static const unsigned needed[TABLE_OPS] = {
        [TABLE_CREATE] = MAY_WRITE_CONTAINER,
        [TABLE_DROP] = MAY_DELETE_CONTAINER,
        [TABLE_GET] = MAY_READ_CONTAINER,
        [TABLE_LIST] = MAY_READ_CONTAINER,
        [TABLE_GET_ACL] = MAY_GET_ACL,
        [TABLE_SET_ACL] = MAY_SET_ACL,
        [TABLE_READ] = MAY_READ,
        [TABLE_QUERY] = MAY_READ,
        [TABLE_BATCHED_QUERY] = MAY_READ,
    };
    const struct table_ask *table = &ask->table;

    if (needed[table->op])
        add(needs, needed[table->op]);
    for (unsigned i = 0; !needed[table->op] && i < table->count; i++)
        add(needs, needed_by_change(&table->parts[i]));
    /* The name of a new table is in the body. */
    needs->container =
        table->op == TABLE_CREATE || table->op == TABLE_LIST ? -1 : (int)table->table;
}

void roles_needs(const struct ask *ask, struct needs *ret_needs)
{
    *ret_needs = (struct needs){ .count = 0 };
    if (world->plan.service == SIM_BLOB)
        need_of_blob(ask, ret_needs);
    else if (world->plan.service == SIM_QUEUE)
        need_of_queue(ask, ret_needs);
    else
        need_of_table(ask, ret_needs);
}
