/* See paths.h. */
#include "paths.h"

#include <stdio.h>
#include <stdlib.h>

#include "blob/blob_operations.h"
#include "blob/container_operations.h"
#include "blob/tag_operations.h"
#include "service/driver.h"

struct path_request {
    struct bytes container; /* ptr NULL: that of the path */
    enum error (*run)(struct decision *d, const struct path_request *request);
    bool is_recursive, lists_deleted;
    const struct path_rename *rename;
    uint32_t max;
    bool one_level;
    char *out;
    size_t size;
    size_t begun; /* length of the text before the page */
    struct listing_place from, *next;
};

static void add_text(const struct path_request *request, struct bytes name, const struct blob *blob)
{
    size_t at = strlen(request->out);

    (void)snprintf(request->out + at, request->size - at, "%s%s%.*s:%u", at > 0 ? " " : "",
                   blob->deletion.at > 0 ? "-" : "", BYTES_ARG(name),
                   (unsigned)blob->content.length);
}

static enum error run_create(struct decision *d, const struct path_request *request)
{
    const struct create_blob create = { .tier = TIER_NONE };
    struct blob directory;

    (void)request;
    return path_create_directory(d, &create, NULL, &directory);
}

static enum error run_delete(struct decision *d, const struct path_request *request)
{
    instant deleted;

    return path_delete_directory(d, request->is_recursive, &deleted);
}

static enum error run_rename(struct decision *d, const struct path_request *request)
{
    struct blob blob;

    return path_rename(d, request->rename, &blob);
}

static enum error run_put(struct decision *d, const struct path_request *request)
{
    struct put_blob_parameters parameters = { .create.tier = TIER_NONE };
    struct put_blob_result result;

    (void)request;
    return put_blob_decide(d, &parameters, &result);
}

static enum error run_delete_blob(struct decision *d, const struct path_request *request)
{
    struct delete_blob_parameters parameters = { .snapshots = SNAPSHOTS_REFUSED };
    struct delete_blob_result result;

    (void)request;
    return delete_blob_decide(d, &parameters, &result);
}

static enum error run_undelete(struct decision *d, const struct path_request *request)
{
    struct undelete_blob_parameters parameters = { .deleted = 0 };
    struct undelete_blob_result result;

    (void)request;
    return undelete_blob_decide(d, &parameters, &result);
}

static enum error run_read(struct decision *d, const struct path_request *request)
{
    request->out[0] = '\0';
    add_text(request, blob_asked(d)->blob, &blob_state(d)->blob);
    return OK;
}

/* A page that is being read. */
struct page {
    struct blob_sink sink;
    const struct path_request *request;
};

static void begin_page(struct blob_sink *sink, instant now)
{
    const struct path_request *request = ((const struct page *)(const void *)sink)->request;

    (void)now;
    request->out[request->begun] = '\0';
}

static void add_blob(struct blob_sink *sink, struct bytes name, const struct blob *blob)
{
    add_text(((const struct page *)(const void *)sink)->request, name, blob);
}

static enum error run_list(struct decision *d, const struct path_request *request)
{
    struct page page = { .sink = { .begin = begin_page, .add = add_blob }, .request = request };
    struct list_blobs_parameters parameters = { .listing.max = request->max,
                                                .listing.prefix = bytes_of("", 0),
                                                .deleted = request->lists_deleted,
                                                .from = request->from,
                                                .one_level = request->one_level,
                                                .sink = &page.sink };
    struct list_blobs_result result = { .next.name.ptr = NULL };
    enum error e = list_blobs_decide(d, &parameters, &result);

    *request->next = result.next;
    return e;
}

/* Names that a search is finding. */
struct finding {
    struct tagged_sink sink;
    const struct path_request *request;
};

static void begin_finding(struct tagged_sink *sink)
{
    ((const struct finding *)(const void *)sink)->request->out[0] = '\0';
}

static void add_found(struct tagged_sink *sink, struct bytes container, struct bytes name,
                      struct bytes key, struct bytes tags)
{
    const struct path_request *request = ((const struct finding *)(const void *)sink)->request;
    const struct bytes shown = found_name(true, name);
    size_t at = strlen(request->out);

    (void)container;
    (void)key;
    (void)tags;
    (void)snprintf(request->out + at, request->size - at, "%s%.*s", at > 0 ? " " : "",
                   BYTES_ARG(shown));
}

static enum error run_find(struct decision *d, const struct path_request *request)
{
    struct finding finding = { .sink = { .begin = begin_finding, .add = add_found },
                               .request = request };
    struct tag_expression where;
    struct tag_syntax_error problem;
    struct find_blobs_in_container_parameters parameters = {
        .asked = { .is_hierarchical = true, .where = &where, .max = 100, .sink = &finding.sink }
    };
    struct find_blobs_in_container_result result;

    assert_true(
        tag_expression_parse(d->arena, bytes_from_string("k='v'"), TAG_SEARCH, &where, &problem));
    return find_blobs_in_container_decide(d, &parameters, &result);
}

static const struct operation reads = { .rights.effect = READS,
                                        .passes = NEEDS_READ,
                                        .subject = blob_subject };
static const struct operation lists = { .rights.effect = READS, .subject = container_subject };
static const struct operation uploads = { .rights.effect = WRITES,
                                          .passes = NEEDS_CREATE,
                                          .subject = blob_subject_optional };
static const struct operation creates = { .rights.effect = WRITES,
                                          .passes = NEEDS_NAME,
                                          .subject = blob_subject_optional };
static const struct operation deletes = { .rights.effect = WRITES,
                                          .passes = NEEDS_DESTROY,
                                          .subject = blob_subject_uncommitted };

static const struct operation undeletes = { .rights.effect = WRITES,
                                            .passes = NEEDS_METADATA | NEEDS_NAME,
                                            .subject = blob_subject_undeleted };

static enum error attempt(struct decision *d, void *of)
{
    const struct path_request *request = of;
    struct partition at;
    enum error e = blob_locate(d, &at);

    if (e)
        return e;
    decision_open_subject(d, at);
    decision_read_clock(d);
    e = d->operation->subject(d);
    if (!e)
        e = blob_enter(d);
    if (!e)
        e = request->run(d, request);
    if (e && !decision_is_unfinished(e))
        assert_true(deciding_is_empty(d));
    return e;
}

/* Takes the container from the path. */
static struct bytes take_container(struct bytes *path)
{
    static const struct bytes other = BYTES("bag:");

    if (!path->ptr || !bytes_has_prefix(*path, other))
        return bytes_from_string("box");
    *path = bytes_from(*path, other.len);
    return bytes_of(other.ptr, other.len - 1);
}

static enum error run_with(struct fixture *f, const char *path, const struct operation *operation,
                           struct path_request *request, const char *text, struct arena *arena)
{
    const unsigned level = path ? LEVEL_BLOB : LEVEL_CONTAINER;
    struct bytes name = bytes_from_string(path), container = take_container(&name);
    const struct blob_resource resource = { .base.level = level,
                                            .container = request->container.ptr ? request->container
                                                                                : container,
                                            .blob = name };
    const struct input input = { .account = bytes_from_string(DEVELOPMENT_ACCOUNT),
                                 .identity.kind = IDENTITY_ACCOUNT_KEY,
                                 .resource = &resource.base,
                                 .body = { .inline_bytes = bytes_from_string(text),
                                           .length = text ? strlen(text) : 0 } };
    struct problem problem = { .detail = NULL };
    struct decision d = { .service = &blob_service,
                          .operation = operation,
                          .input = &input,
                          .level = level,
                          .store = store_of(f),
                          .arena = arena,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(arena) };

    return deciding_run(&d, attempt, request);
}

static enum error run(struct fixture *f, const char *path, const struct operation *operation,
                      struct path_request *request)
{
    struct arena *arena = arena_new((size_t)64 << 20);
    enum error e = run_with(f, path, operation, request, NULL, arena);

    arena_free(arena);
    return e;
}

enum error put_path(struct fixture *f, const char *path, const char *text)
{
    struct arena *arena = arena_new((size_t)64 << 20);
    struct path_request request = { .run = run_put };
    enum error e = run_with(f, path, &uploads, &request, text, arena);

    arena_free(arena);
    return e;
}

enum error delete_path(struct fixture *f, const char *path)
{
    struct path_request request = { .run = run_delete_blob };

    return run(f, path, &deletes, &request);
}

enum error read_path(struct fixture *f, const char *path, char *out, size_t size)
{
    struct path_request request = { .run = run_read, .out = out, .size = size };

    return run(f, path, &reads, &request);
}

enum error undelete_path(struct fixture *f, const char *path)
{
    struct path_request request = { .run = run_undelete };

    return run(f, path, &undeletes, &request);
}

static enum error list(struct fixture *f, const char *container, uint32_t max, bool one_level,
                       bool lists_deleted, char *out, size_t size)
{
    struct arena *arena = arena_new((size_t)64 << 20);
    struct listing_place next;
    struct path_request request = { .run = run_list,
                                    .container = bytes_from_string(container),
                                    .lists_deleted = lists_deleted,
                                    .max = max,
                                    .one_level = one_level,
                                    .out = out,
                                    .size = size,
                                    .next = &next };
    enum error e;

    out[0] = '\0';
    do {
        request.begun = strlen(out);
        e = run_with(f, NULL, &lists, &request, NULL, arena);
        request.from = next;
    } while (!e && next.name.ptr);
    arena_free(arena);
    return e;
}

enum error list_paths(struct fixture *f, uint32_t max, bool lists_deleted, char *out, size_t size)
{
    return list(f, "box", max, false, lists_deleted, out, size);
}

enum error list_paths_of(struct fixture *f, const char *container, uint32_t max, bool lists_deleted,
                         char *out, size_t size)
{
    return list(f, container, max, false, lists_deleted, out, size);
}

enum error list_root(struct fixture *f, char *out, size_t size)
{
    return list(f, "box", 100, true, false, out, size);
}

static int compare_words(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

enum error find_tagged(struct fixture *f, char *out, size_t size)
{
    char found[512] = "";
    char *words[16], *rest = NULL;
    struct path_request request = { .run = run_find, .out = found, .size = sizeof found };
    enum error e = run(f, NULL, &lists, &request);
    size_t count = 0, at = 0;

    for (char *word = strtok_r(found, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    qsort(words, count, sizeof words[0], compare_words);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i > 0 ? " " : "", words[i]);
    return e;
}

enum error create_directory(struct fixture *f, const char *path)
{
    struct path_request request = { .run = run_create };

    return run(f, path, &creates, &request);
}

enum error delete_directory(struct fixture *f, const char *path, bool is_recursive)
{
    struct path_request request = { .run = run_delete, .is_recursive = is_recursive };

    return run(f, path, &deletes, &request);
}

enum error rename_path(struct fixture *f, const char *from, const char *to,
                       const struct path_rename *of)
{
    struct path_rename rename = { .source_lease = NULL };
    struct path_request request = { .run = run_rename, .rename = &rename };

    if (of)
        rename = *of;
    rename.source = bytes_from_string(from);
    rename.container = take_container(&rename.source);
    return run(f, to, &creates, &request);
}
