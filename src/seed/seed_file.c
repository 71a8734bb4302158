/* Parses a seed file. docs/initial-data.md describes its members. */
#include "seed/seed_private.h"

/* Maximum nesting of entities and rules below the file's own levels. */
#define DEPTH 16u

/* ---- values ---- */

/* ptr NULL after an error. */
static struct bytes read_text(struct seeding *s, const char *name, const struct json_member *member)
{
    struct bytes text = json_text(member);

    s->at = member->at;
    if (text.ptr && !memchr(text.ptr, '\0', text.len))
        return text;
    seed_fail(s, "%s requires a non-empty string", name);
    return bytes_of(NULL, 0);
}

static struct bytes read_list(struct seeding *s, const char *name, const struct json_member *member)
{
    s->at = member->at;
    if (member->kind == JSON_LIST)
        return member->text;
    seed_fail(s, "%s requires a list", name);
    return bytes_of(NULL, 0);
}

static void read_rows(struct seeding *s, const char *name, const struct json_member *member,
                      const struct json_row *rows, size_t count)
{
    struct json_reader reader;
    const char *at;

    s->at = member->at;
    if (member->kind != JSON_OBJECT) {
        seed_fail(s, "%s takes an object", name);
        return;
    }
    json_object_init(&reader, s->arena, member->text, DEPTH);
    at = json_rows_read(&reader, name, rows, count, s, &s->problem);
    s->at = at ? at : s->at;
}
#define ROWS(rows) rows, sizeof rows / sizeof rows[0]

/* Calls `each` for all members of an object whose members are names. */
static void read_names(struct seeding *s, const char *name, const struct json_member *member,
                       void (*each)(struct seeding *s, const struct json_member *named))
{
    struct json_reader reader;
    struct json_member named;

    s->at = member->at;
    if (member->kind != JSON_OBJECT) {
        seed_fail(s, "%s requires an object of names", name);
        return;
    }
    json_object_init(&reader, s->arena, member->text, DEPTH);
    while (!s->problem && json_next(&reader, &named)) {
        s->at = named.at;
        if (named.name.len == 0 || memchr(named.name.ptr, '\0', named.name.len))
            seed_fail(s, "a name in %s is empty, or has a NUL", name);
        else
            each(s, &named);
    }
}

/* ---- containers, queues, tables, shares ---- */

static void read_access(void *context, const char *name, const struct json_member *member)
{
    struct seeding *s = context;

    s->item->access = read_text(s, name, member);
    if (s->item->access.ptr && !bytes_is(s->item->access, "blob") &&
        !bytes_is(s->item->access, "container"))
        seed_fail(s, "access must be \"blob\" or \"container\"");
}

static void read_quota(void *context, const char *name, const struct json_member *member)
{
    struct seeding *s = context;
    uint64_t gib;

    s->at = member->at;
    s->item->quota = member->text;
    if (member->kind != JSON_NUMBER || !bytes_parse_u64(member->text, 102400, &gib) || gib == 0)
        seed_fail(s, "%s requires a number of GiB from 1 to 102400", name);
}

static void read_upload(void *context, const char *name, const struct json_member *member)
{
    struct seeding *s = context;

    s->item->upload = read_text(s, name, member);
    s->item->upload_at = member->at;
}

static void read_contents(void *context, const char *name, const struct json_member *member)
{
    struct seeding *s = context;

    s->item->list = read_list(s, name, member);
}

static bool is_metadata_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i], lower = (char)(c | 0x20);

        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '_')
            return false;
    }
    return name.len > 0;
}

static bool is_printable(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    return true;
}

static void read_meta(struct seeding *s, const struct json_member *named)
{
    struct seed_item *item = s->item;
    struct bytes value = read_text(s, "metadata", named);
    struct bytes name = arena_printf(s->arena, "x-ms-meta-%.*s", BYTES_ARG(named->name));

    if (!is_metadata_name(named->name) || !is_printable(value))
        seed_fail(s,
                  "metadata requires names of letters, digits and '_', and printable ASCII values");
    else if (item->metadata_count == SEED_METADATA_MAX)
        seed_fail(s, "more than %u metadata items", SEED_METADATA_MAX);
    else
        item->metadata[item->metadata_count++] = (struct http_header){
            .name = arena_copy_lower(s->arena, name), .value = value, .name_as_sent = name
        };
}

static void read_metadata(void *context, const char *name, const struct json_member *member)
{
    read_names(context, name, member, read_meta);
}

static const struct json_row container_rows[] = { { "access", read_access },
                                                  { "metadata", read_metadata },
                                                  { "upload", read_upload } };
static const struct json_row queue_rows[] = { { "metadata", read_metadata },
                                              { "messages", read_contents } };
static const struct json_row table_rows[] = { { "entities", read_contents } };
static const struct json_row share_rows[] = { { "quota", read_quota },
                                              { "metadata", read_metadata },
                                              { "upload", read_upload } };

static void read_item(struct seeding *s, enum seed_kind kind, const struct json_member *named,
                      const struct json_row *rows, size_t count)
{
    struct seed_item item = { .kind = kind, .name = named->name };

    s->item = &item;
    read_rows(s, arena_string(s->arena, named->name), named, rows, count);
    if (!s->account.ptr && !s->problem)
        seed_fail(s, "there are several accounts: put it below one of them in \"accounts\"");
    if (!s->problem)
        s->at = named->at;
    if (!s->problem)
        seed_make(s, &item);
    s->item = NULL;
}

static void read_container(struct seeding *s, const struct json_member *named)
{
    read_item(s, SEED_CONTAINER, named, ROWS(container_rows));
}

static void read_queue(struct seeding *s, const struct json_member *named)
{
    read_item(s, SEED_QUEUE, named, ROWS(queue_rows));
}

static void read_table(struct seeding *s, const struct json_member *named)
{
    read_item(s, SEED_TABLE, named, ROWS(table_rows));
}

static void read_share(struct seeding *s, const struct json_member *named)
{
    read_item(s, SEED_SHARE, named, ROWS(share_rows));
}

static void read_containers(void *context, const char *name, const struct json_member *member)
{
    read_names(context, name, member, read_container);
}

static void read_queues(void *context, const char *name, const struct json_member *member)
{
    read_names(context, name, member, read_queue);
}

static void read_tables(void *context, const char *name, const struct json_member *member)
{
    read_names(context, name, member, read_table);
}

static void read_shares(void *context, const char *name, const struct json_member *member)
{
    read_names(context, name, member, read_share);
}

/* ---- CORS ---- */

static void read_cors_of(void *context, const char *name, const struct json_member *member)
{
    struct seeding *s = context;
    struct bytes rules = read_list(s, name, member);

    if (!s->account.ptr)
        seed_fail(s, "there are several accounts: put it below one of them in \"accounts\"");
    if (!s->problem)
        seed_cors(s, bytes_from_string(name), rules);
}

static const struct json_row cors_rows[] = { { "blob", read_cors_of },
                                             { "queue", read_cors_of },
                                             { "table", read_cors_of },
                                             { "file", read_cors_of } };

static void read_cors(void *context, const char *name, const struct json_member *member)
{
    read_rows(context, name, member, ROWS(cors_rows));
}

/* ---- accounts ---- */

static void read_settings(void *context, const char *name, const struct json_member *member)
{
    struct seeding *s = context;

    s->at = member->at;
    if (member->kind != JSON_OBJECT)
        seed_fail(s, "%s requires an object", name);
    else if (!s->account.ptr)
        seed_fail(s, "there are several accounts: put it below one of them in \"accounts\"");
    else
        seed_settings(s, member->text);
}

static void read_key(void *context, const char *name, const struct json_member *member)
{
    (void)read_text(context, name, member); /* read before by add_account() */
}

static void read_kind(void *context, const char *name, const struct json_member *member)
{
    struct seeding *s = context;

    s->at = member->at;
    if (member->kind != JSON_TRUE && member->kind != JSON_FALSE)
        seed_fail(s, "%s requires true or false", name); /* read before by add_account() */
}

static const struct json_row account_rows[] = {
    { "key1", read_key },          { "key2", read_key },
    { "cors", read_cors },         { "containers", read_containers },
    { "queues", read_queues },     { "tables", read_tables },
    { "shares", read_shares },     { "hierarchical", read_kind },
    { "settings", read_settings },
};

static void add_account(struct seeding *s, const struct json_member *named)
{
    static const char *const names[] = { "key1", "key2", "hierarchical" };
    struct json_member members[3];
    struct bytes keys[2];
    size_t count = 0;

    if (!json_object_pick(s->arena, named->text, DEPTH, names, 3, members)) {
        seed_fail(s, "this is not valid JSON, or has a key twice");
        return;
    }
    for (size_t i = 0; i < 2; i++)
        if (members[i].kind == JSON_STRING)
            keys[count++] = members[i].text;
    seed_account(s, named->name, keys, count,
                 members[2].kind == JSON_TRUE ||
                     (members[2].kind != JSON_FALSE && s->hierarchical));
}

static void read_account(struct seeding *s, const struct json_member *named)
{
    struct bytes before = s->account;

    if (named->kind == JSON_OBJECT)
        add_account(s, named);
    s->account = named->name;
    if (!s->problem)
        read_rows(s, arena_string(s->arena, named->name), named, ROWS(account_rows));
    s->account = before;
}

static void read_accounts(void *context, const char *name, const struct json_member *member)
{
    read_names(context, name, member, read_account);
}

static const struct json_row file_rows[] = {
    { "accounts", read_accounts }, { "cors", read_cors },     { "containers", read_containers },
    { "queues", read_queues },     { "tables", read_tables }, { "shares", read_shares },
    { "settings", read_settings },
};

void seed_file(struct seeding *s)
{
    struct json_member whole = { .kind = JSON_OBJECT, .text = s->text, .at = s->text.ptr };

    read_rows(s, "the file", &whole, ROWS(file_rows));
}
