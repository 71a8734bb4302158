/* Creates resources by requests to the services. Existing ones refuse them, and are left
 * unchanged. */
#include "seed/seed_private.h"

#include <stdio.h>

#include "admin/stored_accounts.h"
#include "base/encode.h"
#include "base/url.h"
#include "base/xml.h"

#define HEADERS_MAX    (SEED_METADATA_MAX + 4)
#define CONTENTS_DEPTH 8u

/* ---- requests ---- */

static struct bytes path_of(const struct seeding *s, struct bytes name, const char *more)
{
    return arena_printf(s->arena, "/%.*s/%.*s%s", BYTES_ARG(s->account),
                        BYTES_ARG(percent_encode(s->arena, name, "$")), more);
}

/* Headers of a request: the version, more, and the item's metadata. */
struct headers {
    struct http_header of[HEADERS_MAX];
    size_t count;
};

static void add_header(struct headers *headers, const char *name, struct bytes value)
{
    if (value.ptr)
        headers->of[headers->count++] = seed_header(name, value);
}

static void begin_headers(struct headers *headers, const struct seed_item *item)
{
    headers->count = 0;
    add_header(headers, "x-ms-version", bytes_from_string(SEED_VERSION));
    for (size_t i = 0; i < item->metadata_count; i++)
        headers->of[headers->count++] = item->metadata[i];
}

/* Sends a PUT for a resource that may exist. Returns true if it was created; if it failed, sets
 * s->problem. */
static bool put(struct seeding *s, const char *service, struct bytes path, const char *query,
                const struct headers *headers, enum error there)
{
    struct internal_request asked = { .method = METHOD_PUT,
                                      .path = path,
                                      .query = bytes_from_string(query),
                                      .headers = headers->of,
                                      .header_count = headers->count };
    struct internal_response answer;
    bool made = seed_request(s, service, &asked, there, &answer) && !answer.error &&
                answer.response.status == 201;

    s->made += made ? 1 : 0;
    return made;
}

/* ---- containers and shares ---- */

static void make_container(struct seeding *s, const struct seed_item *item)
{
    struct headers headers;

    if (!bytes_equal(url_normalize_path(s->arena, item->name), item->name)) { /* decision: 39 */
        seed_fail(s, "%.*s: InvalidResourceName", BYTES_ARG(item->name));
        return;
    }
    begin_headers(&headers, item);
    add_header(&headers, "x-ms-blob-public-access", item->access);
    put(s, "blob", path_of(s, item->name, ""), "restype=container", &headers,
        E_ContainerAlreadyExists);
}

static void make_share(struct seeding *s, const struct seed_item *item)
{
    struct headers headers;

    begin_headers(&headers, item);
    add_header(&headers, "x-ms-share-quota", item->quota);
    put(s, "file", path_of(s, item->name, ""), "restype=share", &headers, E_ShareAlreadyExists);
}

/* ---- queues ---- */

static void send_message(struct seeding *s, struct bytes path, struct bytes message)
{
    const struct http_header version = seed_header("x-ms-version", bytes_from_string(SEED_VERSION));
    struct internal_request asked = {
        .method = METHOD_POST, .path = path, .headers = &version, .header_count = 1
    };
    struct internal_response answer;
    struct text body;

    text_init(&body, s->arena, 128 + message.len);
    xml_begin(&body);
    xml_open(&body, "QueueMessage");
    xml_element(&body, "MessageText", message);
    xml_close(&body, "QueueMessage");
    asked.body = text_bytes(&body);
    s->made += seed_request(s, "queue", &asked, OK, &answer) ? 1 : 0;
}

static void send_messages(struct seeding *s, const struct seed_item *item)
{
    struct bytes path = path_of(s, item->name, "/messages");
    struct json_reader reader;
    struct json_member member;

    json_list_init(&reader, s->arena, item->list, 0);
    while (!s->problem && json_next(&reader, &member)) {
        struct arena_mark mark = arena_mark(s->arena);

        s->at = member.at;
        if (!json_text(&member).ptr)
            seed_fail(s, "a message must be a non-empty string");
        else if (!s->dry_run)
            send_message(s, path, member.text);
        if (!s->problem)
            arena_rewind(s->arena, mark);
    }
    if (reader.bad)
        seed_fail(s, "messages must be a list of strings");
}

/* Returns true if the queue has the mark. */
static bool is_unfinished(struct seeding *s, struct bytes path)
{
    const struct http_header version = seed_header("x-ms-version", bytes_from_string(SEED_VERSION));
    struct internal_request asked = { .method = METHOD_GET,
                                      .path = path,
                                      .query = bytes_from_string("comp=metadata"),
                                      .headers = &version,
                                      .header_count = 1 };
    struct internal_response answer;

    return seed_request(s, "queue", &asked, OK, &answer) &&
           response_find_header(&answer.response, bytes_from_string(SEED_MARK));
}

/* Marks the queue until all of its messages are sent; a start that finds the mark sends them
 * again. */
static void make_queue(struct seeding *s, const struct seed_item *item)
{
    struct bytes path = path_of(s, item->name, "");
    struct internal_request clear = { .method = METHOD_DELETE,
                                      .path = path_of(s, item->name, "/messages") };
    struct headers headers;
    struct internal_response answer;

    begin_headers(&headers, item);
    if (item->list.ptr)
        add_header(&headers, SEED_MARK, bytes_from_string("1"));
    if (!put(s, "queue", path, NULL, &headers, E_QueueAlreadyExists) &&
        (s->problem || !item->list.ptr || !is_unfinished(s, path)))
        return;
    if (!item->list.ptr || !seed_request(s, "queue", &clear, OK, &answer))
        return;
    send_messages(s, item);
    begin_headers(&headers, item);
    if (!s->problem)
        put(s, "queue", path, "comp=metadata", &headers, OK);
}

/* ---- tables ---- */

static bool post_json(struct seeding *s, struct bytes path, struct bytes body, enum error there)
{
    const struct http_header headers[] = {
        seed_header("content-type", bytes_from_string("application/json")),
        seed_header("accept", bytes_from_string("application/json;odata=nometadata")),
        seed_header("prefer", bytes_from_string("return-no-content")),
        seed_header("x-ms-version", bytes_from_string("2019-02-02")),
    };
    struct internal_request asked = {
        .method = METHOD_POST, .path = path, .headers = headers, .header_count = 4, .body = body
    };
    struct internal_response answer;
    bool good = seed_request(s, "table", &asked, there, &answer);

    s->made += good && !answer.error ? 1 : 0;
    return good;
}

static void insert_entities(struct seeding *s, const struct seed_item *item)
{
    struct bytes path = path_of(s, item->name, "");
    struct json_reader reader;
    struct json_member member;

    json_list_init(&reader, s->arena, item->list, CONTENTS_DEPTH);
    while (!s->problem && json_next(&reader, &member)) {
        struct arena_mark mark = arena_mark(s->arena);

        s->at = member.at;
        if (member.kind != JSON_OBJECT)
            seed_fail(s, "an entity must be an object");
        else if (!s->dry_run)
            post_json(s, path, member.text, E_EntityAlreadyExists);
        if (!s->problem)
            arena_rewind(s->arena, mark);
    }
    if (reader.bad)
        seed_fail(s, "entities must be a list of objects");
}

static void make_table(struct seeding *s, const struct seed_item *item)
{
    struct text body;
    struct json_writer out = { .to = &body };

    text_init(&body, s->arena, 64);
    json_write_begin(&out, '{');
    json_write_member(&out, "TableName", item->name);
    json_write_end(&out, '}');
    if (post_json(s, arena_printf(s->arena, "/%.*s/Tables", BYTES_ARG(s->account)),
                  text_bytes(&body), E_TableAlreadyExists) &&
        item->list.ptr)
        insert_entities(s, item);
}

/* ---- dispatch ---- */

static void try(struct seeding *s, const struct seed_item *item)
{
    if (item->kind == SEED_QUEUE && item->list.ptr)
        send_messages(s, item);
    if (item->kind == SEED_TABLE && item->list.ptr)
        insert_entities(s, item);
}

void seed_make(struct seeding *s, const struct seed_item *item)
{
    static void (*const make[SEED_KINDS])(struct seeding *, const struct seed_item *) = {
        [SEED_CONTAINER] = make_container,
        [SEED_QUEUE] = make_queue,
        [SEED_TABLE] = make_table,
        [SEED_SHARE] = make_share,
    };

    (s->dry_run ? try : make[item->kind])(s, item);
    if (s->problem || !item->upload.ptr)
        return;
    s->at = item->upload_at;
    seed_upload(s, item);
}

/* ---- CORS ---- */

/* Adds a list of strings, joined by commas. */
static void add_texts(struct seeding *s, struct text *xml, const char *element,
                      const struct json_member *member)
{
    struct json_reader reader;
    struct json_member one;
    bool follows = false;

    xml_open(xml, element);
    json_list_init(&reader, s->arena, member->kind == JSON_LIST ? member->text : bytes_of("", 0),
                   0);
    while (json_next(&reader, &one)) {
        if (!json_text(&one).ptr)
            reader.bad = true;
        else if (follows)
            text_add_char(xml, ',');
        xml_escape(xml, json_text(&one));
        follows = true;
    }
    if (reader.bad && member->kind != JSON_ABSENT)
        seed_fail(s, "origins, methods, headers and exposedHeaders must be lists of strings");
    xml_close(xml, element);
}

enum { ORIGINS, METHODS, HEADERS, EXPOSED, MAX_AGE, CORS_MEMBERS };

static void keep_member(void *context, const char *name, const struct json_member *member);
static const struct json_row rule_rows[CORS_MEMBERS] = {
    [ORIGINS] = { "origins", keep_member },       [METHODS] = { "methods", keep_member },
    [HEADERS] = { "headers", keep_member },       [EXPOSED] = { "exposedHeaders", keep_member },
    [MAX_AGE] = { "maxAgeSeconds", keep_member },
};

/* Stores the members in the order of the rows; missing ones are JSON_ABSENT. */
static void keep_member(void *context, const char *name, const struct json_member *member)
{
    struct json_member *of = context;

    for (size_t i = 0; i < CORS_MEMBERS; i++)
        if (rule_rows[i].name == name)
            of[i] = *member;
}

static void add_rule(struct seeding *s, struct text *xml, const struct json_member *rule)
{
    struct json_member of[CORS_MEMBERS] = { { .kind = JSON_ABSENT } };
    struct json_reader reader;
    uint64_t age = 0;

    if (rule->kind != JSON_OBJECT) {
        seed_fail(s, "a rule must be an object");
        return;
    }
    json_object_init(&reader, s->arena, rule->text, 2);
    (void)json_rows_read(&reader, "a rule", rule_rows, CORS_MEMBERS, of, &s->problem);
    if (of[MAX_AGE].kind != JSON_ABSENT && !bytes_parse_u64(of[MAX_AGE].text, INT32_MAX, &age))
        seed_fail(s, "maxAgeSeconds must be an integer");
    xml_open(xml, "CorsRule");
    add_texts(s, xml, "AllowedOrigins", &of[ORIGINS]);
    add_texts(s, xml, "AllowedMethods", &of[METHODS]);
    xml_element_u64(xml, "MaxAgeInSeconds", age);
    add_texts(s, xml, "ExposedHeaders", &of[EXPOSED]);
    add_texts(s, xml, "AllowedHeaders", &of[HEADERS]);
    xml_close(xml, "CorsRule");
}

void seed_cors(struct seeding *s, struct bytes service, struct bytes rules)
{
    const struct http_header version = seed_header("x-ms-version", bytes_from_string(SEED_VERSION));
    struct internal_request asked = { .method = METHOD_PUT,
                                      .path = path_of(s, bytes_of("", 0), ""),
                                      .query = bytes_from_string("restype=service&comp=properties"),
                                      .headers = &version,
                                      .header_count = 1 };
    struct internal_response answer;
    struct json_reader reader;
    struct json_member rule;
    struct text xml;

    text_init(&xml, s->arena, 1024);
    xml_begin(&xml);
    xml_open(&xml, "StorageServiceProperties");
    xml_open(&xml, "Cors");
    json_list_init(&reader, s->arena, rules, CONTENTS_DEPTH);
    while (!s->problem && json_next(&reader, &rule)) {
        s->at = rule.at;
        add_rule(s, &xml, &rule);
    }
    xml_close(&xml, "Cors");
    xml_close(&xml, "StorageServiceProperties");
    asked.body = text_bytes(&xml);
    if (!s->problem && !s->dry_run)
        seed_request(s, arena_string(s->arena, service), &asked, OK, &answer);
}

/* ---- accounts ---- */

struct wanted {
    const struct bytes *keys;
    size_t count;
    bool hierarchical;
};

static void set_up(struct account_record *record, void *context)
{
    const struct wanted *wanted = context;

    record->key_count = wanted->count;
    record->hierarchical = wanted->hierarchical;
    for (size_t i = 0; i < wanted->count; i++)
        record->keys[i] = wanted->keys[i];
}

void seed_account(struct seeding *s, struct bytes name, const struct bytes *keys, size_t count,
                  bool hierarchical)
{
    const struct endpoint *any = &s->endpoints->endpoints[0];
    struct wanted wanted = { keys, count, hierarchical };
    struct account_record record;
    enum error e = OK;

    if (accounts_find(s->accounts, name))
        return;
    if (!stored_account_name_is_valid(name))
        seed_fail(s, "an account's name must have 3 to 24 lower-case letters and digits");
    else if (count == 0)
        seed_fail(s, "a new account requires key1");
    for (size_t i = 0; i < count; i++)
        if (!stored_account_key_is_valid(s->arena, keys[i]))
            seed_fail(s, "a key must be base64 of at most %u characters", STORED_KEY_MAX);
    if (!s->problem && !s->dry_run)
        e = stored_account_change(any->store, s->accounts, s->arena, name, ACCOUNT_ADD, set_up,
                                  &wanted, &record);
    if (e)
        seed_fail(s, "cannot create the account: %s", error_message(e));
    else if (!s->problem && !s->dry_run)
        s->made++;
}
