/* See paths.h. */
#include "paths.h"

#include "service/driver.h"

struct path_request {
    enum error (*run)(struct decision *d, const struct path_request *request);
    bool is_recursive;
    const struct path_rename *rename;
};

static enum error run_create(struct decision *d, const struct path_request *request)
{
    struct blob directory;

    (void)request;
    return path_create_directory(d, bytes_of("", 0), &directory);
}

static enum error run_delete(struct decision *d, const struct path_request *request)
{
    return path_delete_directory(d, request->is_recursive);
}

static enum error run_rename(struct decision *d, const struct path_request *request)
{
    struct blob blob;

    return path_rename(d, request->rename, &blob);
}

static const struct operation creates = { .rights.effect = WRITES,
                                          .passes = NEEDS_NAME,
                                          .subject = blob_subject_optional };
static const struct operation deletes = { .rights.effect = WRITES,
                                          .passes = NEEDS_DESTROY,
                                          .subject = blob_subject_uncommitted };

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

static enum error run(struct fixture *f, const char *path, const struct operation *operation,
                      struct path_request *request)
{
    const struct blob_resource resource = { .base.level = LEVEL_BLOB,
                                            .container = BYTES("box"),
                                            .blob = bytes_from_string(path) };
    const struct input input = { .account = bytes_from_string(DEVELOPMENT_ACCOUNT),
                                 .identity.kind = IDENTITY_ACCOUNT_KEY,
                                 .resource = &resource.base };
    struct arena *arena = arena_new((size_t)64 << 20);
    struct problem problem = { .detail = NULL };
    struct decision d = { .service = &blob_service,
                          .operation = operation,
                          .input = &input,
                          .level = LEVEL_BLOB,
                          .store = store_of(f),
                          .arena = arena,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(arena) };
    enum error e = deciding_run(&d, attempt, request);

    arena_free(arena);
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
    return run(f, to, &creates, &request);
}
