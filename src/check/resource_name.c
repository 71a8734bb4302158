/* Finds the name of the resource that a record belongs to; see names.h. A name cannot be derived
 * from a space, so all records of containers are searched for the space. */
#include "check/names.h"

#include <stdio.h>
#include <stdlib.h>

#include "service/names.h"

/* Copies of the accounts' names, so that the store is not read while the accounts are locked. */
struct account_names {
    char **names;
    size_t count;
};

static void add_name(const struct account *account, void *context)
{
    struct account_names *all = context;

    all->names = xrealloc(all->names, (all->count + 1) * sizeof all->names[0]);
    all->names[all->count++] = check_copy_text(account_name(account));
}

/* Returns true if the partition is in the container of the record, whose space it has. */
static bool is_in(struct store *store, const struct space_record *record,
                  const struct record_place *place)
{
    struct guid part, found;

    return !blob_parts.of_container(record, &part) ||
           (check_find_part(store, &place->space, place->partition_key, &found) &&
            guid_equal(&part, &found));
}

/* Searches the account with space `own` for the container (or queue ..) with the space `wanted`,
 * and writes "account/name". Returns false if it does not exist. */
static bool find_in(struct store *store, const char *account, const struct guid *own,
                    enum kind kind, const struct record_place *place, char *name, size_t size)
{
    static const struct bytes first = { "", 0 };
    struct space_iterator *iterator =
        space_iterator_open(store, *own, first, first, STORE_MAY_BLOCK);
    struct space_record record;
    bool found = false;

    while (!found && !space_iterator_next(iterator, &record)) {
        struct guid space;

        found = check_kinds[kind].is_key(record.record_key) &&
                check_kinds[kind].read(record.value, &space) && guid_equal(&space, &place->space) &&
                (kind != CONTAINER || is_in(store, &record, place));
        if (found)
            snprintf(name, size, "%s/%.*s", account, BYTES_ARG(record.partition_key));
    }
    space_iterator_close(iterator);
    return found;
}

/* Searches all accounts for a container, and returns its kind. Returns false if none exists. */
static bool find(const struct resource_names *names, const struct account_names *all,
                 const struct record_place *place, enum kind *ret_kind, char *name, size_t size)
{
    for (size_t i = 0; i < all->count; i++)
        for (enum kind kind = CONTAINER; kind < KINDS; kind++) {
            struct guid own =
                account_space(check_kinds[kind].service, bytes_from_string(all->names[i]));

            *ret_kind = kind;
            if (guid_equal(&own, &place->space)) {
                snprintf(name, size, "%s", all->names[i]);
                return true;
            }
            if (find_in(names->store, all->names[i], &own, kind, place, name, size))
                return true;
        }
    return false;
}

/* Replaces control characters. */
static void hide_controls(char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == '\x7f')
            *name = '?';
}

void resource_name(void *context, const struct record_place *place, char *name, size_t size)
{
    const struct resource_names *names = context;
    struct account_names all = { NULL, 0 };
    enum kind kind = CONTAINER;
    size_t length;

    accounts_each(names->accounts, add_name, &all);
    if (!find(names, &all, place, &kind, name, size))
        snprintf(name, size, "(nobody's)");
    length = strlen(name);
    /* partitions of shares have numbers instead of names */
    if (place->partition_key.len > 0 && kind != SHARE)
        snprintf(name + length, size - length, "/%.*s", BYTES_ARG(place->partition_key));
    hide_controls(name);
    for (size_t i = 0; i < all.count; i++)
        free(all.names[i]);
    free(all.names);
}
