/* Reads an Azurite database: see azurite.h. */
#include "transfer/azurite.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xml.h"
#include "transfer/safe_path.h"

#define DATABASE_MAX ((off_t)8 << 30)

static bool damaged(struct azurite *a)
{
    return worker_problem(a->worker, "Azurite's database is corrupt or has an unrecognized format");
}

/* Reads an entire file into a->text. */
static bool read_all(struct azurite *a, int fd, const char *name, struct bytes *ret_text)
{
    struct stat status;
    ssize_t n;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > DATABASE_MAX)
        return worker_problem(a->worker, "%s: not a regular file, or too large", name);
    a->text = xmalloc((size_t)status.st_size + 1);
    n = file_read_at(fd, a->text, (size_t)status.st_size, 0);
    *ret_text = bytes_of(a->text, n > 0 ? (size_t)n : 0);
    return n == status.st_size || worker_problem(a->worker, "%s: %s", name, strerror(errno));
}

bool azurite_open(struct azurite *a, const char *name, bool *ret_there)
{
    static const char *const collections = "collections";
    int fd = safe_path_open(a->folder, bytes_from_string(name), false);
    struct json_member member;
    struct bytes text;
    bool opened;

    *ret_there = fd >= 0;
    a->text = NULL;
    a->arena = NULL;
    if (fd < 0)
        return errno == ENOENT || worker_problem(a->worker, "%s: %s", name, strerror(errno));
    opened = read_all(a, fd, name, &text);
    close(fd);
    if (!opened)
        return false;
    a->arena = arena_new(16 * json_memory_max(text));
    if (!json_object_pick(a->arena, text, AZURITE_DEPTH + 4, &collections, 1, &member) ||
        member.kind != JSON_LIST)
        return damaged(a);
    a->collections = member.text;
    return true;
}

void azurite_close(struct azurite *a)
{
    if (a->arena)
        arena_free(a->arena);
    free(a->text);
}

/* ---- documents ---- */

bool azurite_pick(struct azurite *a, struct bytes object, const char *const names[], size_t count,
                  struct json_member *ret_members)
{
    return json_object_pick(a->arena, object, AZURITE_DEPTH, names, count, ret_members) ||
           damaged(a);
}

struct bytes azurite_text(const struct json_member *member)
{
    if (member->kind != JSON_STRING)
        return (struct bytes){ NULL, 0 };
    return member->text.len > 0 ? member->text : bytes_from_string("");
}

uint64_t azurite_number(const struct json_member *member)
{
    uint64_t number = 0;

    if (member->kind == JSON_NUMBER)
        (void)bytes_parse_u64(member->text, UINT64_MAX, &number);
    return number;
}

/* Finds the list of documents of a collection; ptr NULL if none exists. */
static bool find_collection(struct azurite *a, const char *name, struct bytes *ret_data)
{
    static const char *const names[] = { "name", "data" };
    struct json_reader reader;
    struct json_member member, of[2];

    *ret_data = (struct bytes){ NULL, 0 };
    json_list_init(&reader, a->arena, a->collections, AZURITE_DEPTH + 3);
    while (json_next(&reader, &member)) {
        if (member.kind != JSON_OBJECT ||
            !json_object_pick(a->arena, member.text, AZURITE_DEPTH + 2, names, 2, of))
            return damaged(a);
        if (bytes_is(azurite_text(&of[0]), name) && of[1].kind == JSON_LIST) {
            *ret_data = of[1].text;
            return true;
        }
    }
    return !reader.bad || damaged(a);
}

static int by_names(const void *x, const void *y)
{
    const struct azurite_document *a = x, *b = y;
    int order = bytes_compare(a->parent, b->parent);

    if (order == 0)
        order = bytes_compare(a->name, b->name);
    if (order == 0 && (a->state.len == 0) != (b->state.len == 0))
        order = a->state.len == 0 ? 1 : -1;
    if (order == 0)
        order = bytes_compare(a->state, b->state);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static void add_document(struct azurite *a, struct azurite_documents *documents,
                         const struct azurite_document *document)
{
    if (documents->count == documents->capacity) {
        size_t capacity = documents->capacity > 0 ? 2 * documents->capacity : 256;
        struct azurite_document *more = arena_array(a->arena, capacity, sizeof *more);

        if (documents->count > 0)
            memcpy(more, documents->of, documents->count * sizeof *more);
        documents->of = more;
        documents->capacity = capacity;
    }
    documents->of[documents->count++] = *document;
}

/* Documents of tables name it "account"; those of entities have no account. */
static bool is_of_account(const struct azurite *a, const struct json_member of[5])
{
    const struct json_member *account = of[3].kind != JSON_ABSENT ? &of[3] : &of[4];

    return account->kind == JSON_ABSENT || bytes_equal(account->text, a->account);
}

bool azurite_collect(struct azurite *a, const char *collection, const char *const names[3],
                     struct azurite_documents *ret_documents)
{
    const char *wanted[5] = { NULL, NULL, NULL, "accountName", "account" };
    struct json_reader reader;
    struct json_member member, of[5];
    struct bytes data;

    *ret_documents = (struct azurite_documents){ .count = 0 };
    for (size_t i = 0; i < 3; i++)
        wanted[i] = names[i] ? names[i] : "";
    if (!find_collection(a, collection, &data))
        return false;
    if (!data.ptr)
        return true;
    json_list_init(&reader, a->arena, data, AZURITE_DEPTH + 1);
    while (json_next(&reader, &member)) {
        struct azurite_document document = { .text = member.text, .number = ret_documents->count };

        if (member.kind != JSON_OBJECT || !azurite_pick(a, member.text, wanted, 5, of))
            return damaged(a);
        document.parent = names[0] ? azurite_text(&of[0]) : bytes_of("", 0);
        document.name = names[1] ? azurite_text(&of[1]) : bytes_of("", 0);
        document.state = names[2] ? azurite_text(&of[2]) : bytes_of("", 0);
        if (is_of_account(a, of))
            add_document(a, ret_documents, &document);
    }
    if (ret_documents->count > 0)
        qsort(ret_documents->of, ret_documents->count, sizeof ret_documents->of[0], by_names);
    return !reader.bad || damaged(a);
}

/* ---- fields common to documents ---- */

void azurite_add_metadata(struct azurite *a, struct item *item, const struct json_member *metadata)
{
    struct json_reader reader;
    struct json_member member;

    if (metadata->kind != JSON_OBJECT)
        return;
    json_object_init(&reader, a->arena, metadata->text, 1);
    while (json_next(&reader, &member))
        item_header(a->arena, item,
                    arena_printf(a->arena, "x-ms-meta-%.*s", BYTES_ARG(member.name)),
                    azurite_text(&member));
}

static void add_policy(struct azurite *a, struct text *xml, struct bytes object)
{
    static const char *const names[] = { "id", "accessPolicy" };
    static const char *const parts[] = { "start", "expiry", "permission" };
    static const char *const elements[] = { "Start", "Expiry", "Permission" };
    struct json_member of[2], policy[3];

    if (!azurite_pick(a, object, names, 2, of))
        return;
    xml_open(xml, "SignedIdentifier");
    xml_element(xml, "Id", azurite_text(&of[0]));
    xml_open(xml, "AccessPolicy");
    if (of[1].kind == JSON_OBJECT && azurite_pick(a, of[1].text, parts, 3, policy)) {
        for (size_t i = 0; i < 3; i++) {
            if (policy[i].kind == JSON_STRING && policy[i].text.len > 0)
                xml_element(xml, elements[i], policy[i].text);
        }
    }
    xml_close(xml, "AccessPolicy");
    xml_close(xml, "SignedIdentifier");
}

struct bytes azurite_policies(struct azurite *a, const struct json_member *list)
{
    struct json_reader reader;
    struct json_member member;
    struct text xml;

    if (list->kind != JSON_LIST)
        return (struct bytes){ NULL, 0 };
    text_init(&xml, a->arena, 512);
    xml_open(&xml, "SignedIdentifiers");
    json_list_init(&reader, a->arena, list->text, AZURITE_DEPTH);
    while (json_next(&reader, &member)) {
        if (member.kind == JSON_OBJECT)
            add_policy(a, &xml, member.text);
    }
    xml_close(&xml, "SignedIdentifiers");
    return text_bytes(&xml);
}
