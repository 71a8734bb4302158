/* Finds the names of resources; see names.h. */
#include "check/names.h"

#include <stdlib.h>

#include "auth/auth.h"
#include "check/records.h"
#include "check/report.h"
#include "service/names.h"

static bool check_container(struct bytes value, struct guid *ret_space)
{
    struct container container;
    bool is_valid = container_decode(value, &container);

    if (is_valid)
        *ret_space = container.space;
    return is_valid;
}

/* Returns true for the key of a container, including soft-deleted ones. */
static bool is_of_container(struct bytes key)
{
    instant deleted;

    return container_key_read(key, &deleted);
}

static bool is_of_queue(struct bytes key)
{
    return bytes_is(key, "q");
}

static bool is_of_table(struct bytes key)
{
    return bytes_is(key, "t");
}

const struct check_kind check_kinds[KINDS] = {
    [CONTAINER] = { "blob", "container", is_of_container, check_container },
    [QUEUE] = { "queue", "queue", is_of_queue, check_queue },
    [TABLE] = { "table", "table", is_of_table, check_table },
    [SHARE] = { "file", "share", check_is_of_share, check_share },
};

char *check_copy_text(struct bytes text)
{
    char *copy = xmalloc(text.len + 1);

    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

void check_add_container(struct check *check, struct known_container container)
{
    check->containers =
        xrealloc(check->containers, (check->container_count + 1) * sizeof check->containers[0]);
    check->containers[check->container_count++] = container;
}

/* Returns the next name in "name:key[:key];name:...", or an empty one at the end. */
static struct bytes next_account(struct bytes *list)
{
    struct bytes entry, name, keys;

    bytes_cut(*list, ';', &entry, list);
    bytes_cut(entry, ':', &name, &keys);
    return bytes_trim(name);
}

static const char *account_list(void)
{
    const char *text = getenv("AZURITE_ACCOUNTS");

    return text && *text ? text : DEVELOPMENT_ACCOUNT;
}

/* Tries all configured accounts, because an account's name cannot be derived from its space. */
struct bytes check_find_account(const struct guid *space, enum kind kind)
{
    struct bytes list = bytes_from_string(account_list());

    while (list.len > 0) {
        struct bytes name = next_account(&list);
        struct guid found = account_space(check_kinds[kind].service, name);

        if (guid_equal(&found, space))
            return name;
    }
    return (struct bytes){ NULL, 0 };
}

void check_report_account(const struct guid *space, enum kind kind)
{
    struct bytes name = check_find_account(space, kind);

    if (name.ptr)
        check_report_part("%.*s/", BYTES_ARG(name));
    else
        check_report_part("(an account not in AZURITE_ACCOUNTS)/");
}

struct known_container *check_find_container(const struct check *check, const struct guid *space)
{
    for (size_t i = 0; i < check->container_count; i++)
        if (guid_equal(&check->containers[i].space, space))
            return &check->containers[i];
    return NULL;
}

struct bytes check_first_account(void)
{
    struct bytes list = bytes_from_string(account_list());

    return next_account(&list);
}
