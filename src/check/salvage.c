/* Reports what a salvage has lost, and creates containers for blobs whose container is lost; see
 * names.h. */
#include <stdio.h>
#include <stdlib.h>

#include "check/names.h"
#include "check/records.h"
#include "check/report.h"
#include "service/names.h"

#define ADOPT_TRIES 1000u

static struct place_copy copy_place(const struct record_place *place)
{
    if (!place)
        return (struct place_copy){ .known = false };
    return (struct place_copy){ true, place->space, check_copy_text(place->partition_key) };
}

void check_record_lost(void *context, const struct record_place *after,
                       const struct record_place *to)
{
    struct check *check = context;

    check->findings++;
    check->lost = xrealloc(check->lost, (check->lost_count + 1) * sizeof check->lost[0]);
    check->lost[check->lost_count++] = (struct lost_range){ copy_place(after), copy_place(to) };
}

static void say_place(const struct check *check, const struct place_copy *place,
                      const char *unknown)
{
    if (!place->known)
        check_report_part("%s", unknown);
    else
        check_report_blob(check, &place->space, bytes_from_string(place->partition));
}

void check_report_lost(const struct check *check)
{
    for (size_t i = 0; i < check->lost_count; i++) {
        check_report_part("records after ");
        say_place(check, &check->lost[i].after, "the beginning of a table");
        check_report_part(" and up to ");
        say_place(check, &check->lost[i].to, "its end");
        check_report(FINDING_LOST, "%s", "");
    }
}

/* Creates a container for blobs whose container record is lost, so that they can be read. */
static bool adopt(struct check *check, const struct guid *space, const char *name)
{
    struct partition partition = { blob_account_space(check_first_account()),
                                   bytes_from_string(name) };
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct read_view *snapshot = read_view_open(check->store, partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { snapshot, changes };
    instant now = clock_now();
    struct container container = {
        .space = *space,
        .created = now,
        .etag = etag_after((struct etag){ 0 }, now),
        .modified = now,
    };
    struct container found;
    uint64_t sequence;
    bool adopted = false;

    if (container_read(snapshot, arena, &found) == STORE_NOT_FOUND) {
        container_write(changes, arena, &container);
        adopted = !store_commit(check->store, &part, 1, now, STORE_MAY_BLOCK, &sequence);
    }
    if (adopted)
        check_add_container(check, (struct known_container){ .space = *space,
                                                             .account = partition.space,
                                                             .name = check_copy_text(partition.key),
                                                             .kind = CONTAINER });
    read_view_close(snapshot);
    arena_free(arena);
    return adopted;
}

static bool adopt_share(struct check *check, const struct guid *space, const char *name)
{
    struct bytes account = check_first_account();
    bool adopted = check_adopt_share(check->store, account, name, *space);

    if (adopted)
        check_add_container(
            check, (struct known_container){ .space = *space,
                                             .account = account_space("file", account),
                                             .name = check_copy_text(bytes_from_string(name)),
                                             .kind = SHARE });
    return adopted;
}

typedef bool adopt_fn(struct check *check, const struct guid *space, const char *name);

/* Creates a container or share for the space, with the first free name. */
static void adopt_lost(struct check *check, const struct guid *space, adopt_fn *adopt_as,
                       const char *what, const char *in)
{
    bool adopted = false;
    char name[32];

    if (check_find_container(check, space))
        return;
    check->findings++;
    for (unsigned number = 1; !adopted && number < ADOPT_TRIES; number++) {
        snprintf(name, sizeof name, "salvaged-%u", number);
        adopted = adopt_as(check, space, name);
    }
    if (adopted)
        check->kinds[check_find_container(check, space)->kind]++;
    check_report(FINDING_LOST, "the record of a %s: %s%s", what, adopted ? in : "out of reach",
                 adopted ? name : "");
}

void check_adopt_all(struct check *check)
{
    struct guid *shares =
        xmalloc((check->container_count + check->tree_count + 1) * sizeof *shares);
    size_t share_count = 0;

    for (size_t i = 0; i < check->space_count; i++)
        adopt_lost(check, &check->spaces[i], adopt, "container", "its blobs are in the container ");
    for (size_t i = 0; i < check->tree_count; i++)
        adopt_lost(check, &check->trees[i], adopt_share, "share", "its files are in the share ");
    for (size_t i = 0; i < check->container_count; i++) {
        const struct known_container *share = &check->containers[i];

        if (share->kind != SHARE)
            continue;
        check->findings +=
            check_restore_tree(check->store, share->account, share->name, share->space);
        shares[share_count++] = share->space;
    }
    if (share_count > 0)
        check_delete_leftovers(&check->leftovers, check->store, shares, share_count);
    free(shares);
}
