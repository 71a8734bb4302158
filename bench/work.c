/* Names are those of the bench's table; see work_table. */
#include "work.h"

#include <inttypes.h>
#include <stdio.h>

static void blob_path(const struct work_options *options, const char *kind, uint64_t number,
                      struct draft *draft)
{
    snprintf(draft->path, sizeof draft->path, "%s/%s-%zu-%08" PRIu64, options->container, kind,
             options->size, number);
}

/* A blob that one connection of this run has for itself. */
static void own_path(const struct work_options *options, const char *kind,
                     const struct worker *worker, struct draft *draft)
{
    snprintf(draft->path, sizeof draft->path, "%s/%s-%u-%u", options->container, kind, options->run,
             worker->number);
}

static void draft_get(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft)
{
    (void)worker;
    draft->method = "GET";
    blob_path(options, "blob", n % options->names, draft);
}

static void draft_get_sas(const struct work_options *options, const struct worker *worker,
                          uint64_t n, struct draft *draft)
{
    draft_get(options, worker, n, draft);
    draft->sas = true;
}

/* Far apart from turn to turn, so that nothing that was read for one blob serves the next. */
static void draft_get_apart(const struct work_options *options, const struct worker *worker,
                            uint64_t n, struct draft *draft)
{
    draft_get(options, worker, n * 7919, draft);
}

static void draft_put(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft)
{
    (void)worker;
    draft->method = "PUT";
    draft->ms[0] = (struct pair){ "x-ms-blob-type", "BlockBlob" };
    draft->body = options->body;
    blob_path(options, "blob", n % options->names, draft);
}

/* The same with a customer's key, as a proxy that ends TLS would pass it on: the server trusts 127.0.0.1
 * (--trustProxy). The key is that of the Azure SDKs' tests. */
static void add_key(struct draft *draft, size_t at)
{
    draft->ms[at] = (struct pair){ "x-ms-encryption-algorithm", "AES256" };
    draft->ms[at + 1] =
        (struct pair){ "x-ms-encryption-key", "MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc=" };
    draft->ms[at + 2] = (struct pair){ "x-ms-encryption-key-sha256",
                                       "3QFFFpRA5+XANHqwwbT4yXDmrT/2JaLt/FKHjzhOdoE=" };
    draft->others[0] = (struct pair){ "X-Forwarded-Proto", "https" };
}

static void draft_get_keyed(const struct work_options *options, const struct worker *worker,
                            uint64_t n, struct draft *draft)
{
    draft_get(options, worker, n, draft);
    blob_path(options, "keyed", n % options->names, draft);
    add_key(draft, 0);
}

static void draft_put_keyed(const struct work_options *options, const struct worker *worker,
                            uint64_t n, struct draft *draft)
{
    draft_put(options, worker, n, draft);
    blob_path(options, "keyed", n % options->names, draft);
    add_key(draft, 1);
}

static void draft_list(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft)
{
    (void)worker;
    (void)n;
    draft->method = "GET";
    snprintf(draft->path, sizeof draft->path, "%s", options->container);
    draft->query[0] = (struct pair){ "comp", "list" };
    draft->query[1] = (struct pair){ "maxresults", options->page };
    draft->query[2] = (struct pair){ "restype", "container" };
}

static void draft_s3_list(const struct work_options *options, const struct worker *worker,
                          uint64_t n, struct draft *draft)
{
    (void)worker;
    (void)n;
    draft->method = "GET";
    snprintf(draft->path, sizeof draft->path, "%s", options->container);
    draft->query[0] = (struct pair){ "list-type", "2" };
    draft->query[1] = (struct pair){ "max-keys", options->page };
}

static void draft_s3_make(const struct work_options *options, const struct worker *worker,
                          uint64_t n, struct draft *draft)
{
    (void)worker;
    (void)n;
    draft->method = "PUT";
    snprintf(draft->path, sizeof draft->path, "%s", options->container);
}

/* A page of a search by tags has so many blobs. */
#define FOUND_MAX 5000

/* As many as a page of a search has, spread over all, are tagged alike. */
static void draft_put_tagged(const struct work_options *options, const struct worker *worker,
                             uint64_t n, struct draft *draft)
{
    bool found = n % options->names % (options->names / FOUND_MAX) == 0;

    draft_put(options, worker, n, draft);
    draft->ms[1] = (struct pair){ "x-ms-tags", found ? "k=wanted" : "k=other" };
}

static void draft_find(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft)
{
    (void)worker;
    (void)n;
    draft->method = "GET";
    snprintf(draft->path, sizeof draft->path, "%s", options->container);
    draft->query[0] = (struct pair){ "comp", "blobs" };
    draft->query[1] = (struct pair){ "maxresults", "5000" };
    draft->query[2] = (struct pair){ "restype", "container" };
    draft->query[3] = (struct pair){ "where", "k='wanted'" };
}

/* Turns 0..3 stage four blocks of a blob of the connection's own; all later ones commit them
 * again. */
static void draft_block_list(const struct work_options *options, const struct worker *worker,
                             uint64_t n, struct draft *draft)
{
    static const char *const ids[] = { "MDAw", "MDAx", "MDAy", "MDAz" };
    static const struct bytes list =
        BYTES("<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList><Latest>MDAw</Latest>"
              "<Latest>MDAx</Latest><Latest>MDAy</Latest><Latest>MDAz</Latest></BlockList>");

    (void)n;
    draft->method = "PUT";
    own_path(options, "blocks", worker, draft);
    if (worker->done < 4) {
        draft->query[0] = (struct pair){ "blockid", ids[worker->done] };
        draft->query[1] = (struct pair){ "comp", "block" };
        draft->body = options->body;
    } else {
        draft->query[0] = (struct pair){ "comp", "blocklist" };
        draft->body = list;
    }
}

/* Turn 0 makes the connection's blob; each later one replaces its metadata if the ETag is the
 * last. */
static void draft_metadata(const struct work_options *options, const struct worker *worker,
                           uint64_t n, struct draft *draft)
{
    if (worker->done == 0) {
        draft_put(options, worker, n, draft);
    } else {
        draft->method = "PUT";
        draft->query[0] = (struct pair){ "comp", "metadata" };
        draft->ms[0] = (struct pair){ "x-ms-meta-state", "ready" };
        draft->if_match = worker->etag;
    }
    own_path(options, "metadata", worker, draft);
}

/* Turn 0 makes the connection's blob; then its lease is acquired and released in turn. */
static void draft_lease(const struct work_options *options, const struct worker *worker, uint64_t n,
                        struct draft *draft)
{
    if (worker->done == 0) {
        draft_put(options, worker, n, draft);
    } else if (worker->done % 2 == 1) {
        draft->method = "PUT";
        draft->query[0] = (struct pair){ "comp", "lease" };
        draft->ms[0] = (struct pair){ "x-ms-lease-action", "acquire" };
        draft->ms[1] = (struct pair){ "x-ms-lease-duration", "15" };
    } else {
        draft->method = "PUT";
        draft->query[0] = (struct pair){ "comp", "lease" };
        draft->ms[0] = (struct pair){ "x-ms-lease-action", "release" };
        draft->ms[1] = (struct pair){ "x-ms-lease-id", worker->lease_id };
    }
    own_path(options, "lease", worker, draft);
}

/* The blobs that turn n deletes were made by "fill"; a blob is deleted once. */
static void draft_batch(const struct work_options *options, const struct worker *worker, uint64_t n,
                        struct draft *draft)
{
    (void)worker;
    (void)n;
    draft->method = "POST";
    snprintf(draft->path, sizeof draft->path, "%s", options->container);
    draft->query[0] = (struct pair){ "comp", "batch" };
    draft->query[1] = (struct pair){ "restype", "container" };
    draft->content_type = "multipart/mixed; boundary=" BATCH_BOUNDARY;
}

static void draft_deletion(const struct work_options *options, uint64_t n, unsigned i,
                           struct draft *draft)
{
    draft->method = "DELETE";
    blob_path(options, "blob", n * BATCH_PARTS + i, draft);
}

/* A blob of this run that all connections share; the first turn of all makes it, and who is faster
 * than that is answered 404. */
static void shared_path(const struct work_options *options, const char *kind, uint64_t number,
                        struct draft *draft)
{
    draft->method = "PUT";
    snprintf(draft->path, sizeof draft->path, "%s/%s-%u-%" PRIu64, options->container, kind,
             options->run, number);
}

/* All connections append to one blob, until it is nearly full; then to the next. */
static void draft_append(const struct work_options *options, const struct worker *worker,
                         uint64_t n, struct draft *draft)
{
    const uint64_t turns = 49000; /* a blob takes 50,000 blocks */

    (void)worker;
    shared_path(options, "append", n / turns, draft);
    if (n % turns == 0) {
        draft->ms[0] = (struct pair){ "x-ms-blob-type", "AppendBlob" };
    } else {
        draft->query[0] = (struct pair){ "comp", "appendblock" };
        draft->body = options->body;
    }
}

/* Pages anywhere in a blob of 8 GiB. */
static void draft_page(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft)
{
    static _Thread_local char range[64];
    const uint64_t length = UINT64_C(8) << 30, places = length / options->size;
    uint64_t start = n * 2654435761 % places * options->size;

    (void)worker;
    shared_path(options, "pages", 0, draft);
    if (n == 0) {
        draft->ms[0] = (struct pair){ "x-ms-blob-content-length", "8589934592" };
        draft->ms[1] = (struct pair){ "x-ms-blob-type", "PageBlob" };
        return;
    }
    snprintf(range, sizeof range, "bytes=%" PRIu64 "-%" PRIu64, start, start + options->size - 1);
    draft->query[0] = (struct pair){ "comp", "page" };
    draft->ms[0] = (struct pair){ "x-ms-page-write", "update" };
    draft->ms[1] = (struct pair){ "x-ms-range", range };
    draft->body = options->body;
}

/* Every second page of the blob "ranges", which is there: `names` ranges. */
static void draft_range(const struct work_options *options, const struct worker *worker, uint64_t n,
                        struct draft *draft)
{
    static _Thread_local char range[64];
    uint64_t start = n % options->names * 2 * options->size;

    (void)worker;
    draft->method = "PUT";
    snprintf(draft->path, sizeof draft->path, "%s/ranges", options->container);
    snprintf(range, sizeof range, "bytes=%" PRIu64 "-%" PRIu64, start, start + options->size - 1);
    draft->query[0] = (struct pair){ "comp", "page" };
    draft->ms[0] = (struct pair){ "x-ms-page-write", "update" };
    draft->ms[1] = (struct pair){ "x-ms-range", range };
    draft->body = options->body;
}

/* ---- messages: `names` queues, named after the container ---- */

static void messages_path(const struct work_options *options, const struct worker *worker,
                          const char *id, struct draft *draft)
{
    snprintf(draft->path, sizeof draft->path, "%s-%u/messages%s%s", options->container,
             worker->number % options->names, *id ? "/" : "", id);
}

static struct bytes message_body(const struct work_options *options)
{
    static char body[1u << 17];
    static size_t length;

    if (length == 0) {
        char *at = stpcpy(body, "<QueueMessage><MessageText>");

        memset(at, 'x', options->size);
        at = stpcpy(at + options->size, "</MessageText></QueueMessage>");
        length = (size_t)(at - body);
    }
    return bytes_of(body, length);
}

static void draft_message_put(const struct work_options *options, const struct worker *worker,
                              uint64_t n, struct draft *draft)
{
    (void)n;
    draft->method = "POST";
    messages_path(options, worker, "", draft);
    draft->body = message_body(options);
}

/* A put, a get, a delete of what was got; and again. */
static void draft_message_cycle(const struct work_options *options, const struct worker *worker,
                                uint64_t n, struct draft *draft)
{
    if (worker->done % 3 == 0) {
        draft_message_put(options, worker, n, draft);
    } else if (worker->done % 3 == 1 || !worker->message_id[0]) {
        draft->method = "GET";
        messages_path(options, worker, "", draft);
    } else {
        draft->method = "DELETE";
        messages_path(options, worker, worker->message_id, draft);
        draft->query[0] = (struct pair){ "popreceipt", worker->receipt };
    }
}

static void take_element(const struct answer *answer, const char *name, char *to, size_t size)
{
    const char *from = memmem(answer->start, answer->start_length, name, strlen(name));
    const char *end;

    *to = '\0';
    if (!from)
        return;
    from += strlen(name);
    end = memchr(from, '<', (size_t)(answer->start + answer->start_length - from));
    if (end && (size_t)(end - from) < size) {
        memcpy(to, from, (size_t)(end - from));
        to[end - from] = '\0';
    }
}

static void note_message(struct worker *worker, const struct answer *answer)
{
    take_element(answer, "<MessageId>", worker->message_id, sizeof worker->message_id);
    take_element(answer, "<PopReceipt>", worker->receipt, sizeof worker->receipt);
}

static const struct work work_table[] = {
    { "get", draft_get, true, { 200, 0 }, NULL, NULL, NULL },
    { "get-keyed", draft_get_keyed, true, { 200, 0 }, NULL, NULL, NULL },
    { "get-sas", draft_get_sas, true, { 200, 0 }, NULL, NULL, NULL },
    { "get-apart", draft_get_apart, false, { 200, 0 }, NULL, NULL, NULL },
    { "put", draft_put, true, { 201, 0 }, NULL, NULL, NULL },
    { "put-keyed", draft_put_keyed, true, { 201, 0 }, NULL, NULL, NULL },
    { "fill", draft_put, false, { 201, 0 }, NULL, NULL, NULL },
    { "fill-tagged", draft_put_tagged, false, { 201, 0 }, NULL, NULL, NULL },
    { "list", draft_list, true, { 200, 0 }, NULL, NULL, NULL },
    { "s3-list", draft_s3_list, true, { 200, 0 }, NULL, NULL, NULL },
    { "s3-make", draft_s3_make, false, { 200, 0 }, NULL, NULL, NULL },
    { "s3-put", draft_put, true, { 200, 0 }, NULL, NULL, NULL },
    { "s3-fill", draft_put, false, { 200, 0 }, NULL, NULL, NULL },
    { "find", draft_find, true, { 200, 0 }, NULL, NULL, NULL },
    { "block-list", draft_block_list, false, { 201, 0 }, NULL, NULL, NULL },
    { "metadata", draft_metadata, false, { 200, 201 }, NULL, NULL, NULL },
    { "lease", draft_lease, false, { 200, 201 }, NULL, NULL, NULL },
    { "delete-batch", draft_batch, true, { 202, 0 }, draft_deletion, NULL, NULL },
    { "append", draft_append, false, { 201, 404 }, NULL, NULL, NULL },
    { "fill-ranges", draft_range, false, { 201, 0 }, NULL, NULL, NULL },
    { "page", draft_page, false, { 201, 404 }, NULL, NULL, NULL },
    { "message-put", draft_message_put, false, { 201, 0 }, NULL, NULL, NULL },
    { "message-cycle", draft_message_cycle, false, { 200, 201, 204 }, NULL, NULL, note_message },
    { "entity-get", draft_entity_get, true, { 200, 0 }, NULL, NULL, NULL },
    { "entity-insert", draft_entity_insert, false, { 204, 0 }, NULL, NULL, NULL },
    { "entity-put", draft_entity_put, false, { 204, 0 }, NULL, NULL, NULL },
    { "entity-replace", draft_entity_replace, false, { 204, 0 }, NULL, NULL, NULL },
    { "entity-page", draft_entity_page, true, { 200, 0 }, NULL, NULL, NULL },
    { "file-get", draft_file_get, true, { 200, 0 }, NULL, NULL, NULL },
    { "file-fill", draft_file_put, false, { 201, 0 }, NULL, NULL, NULL },
    { "file-cycle", draft_file_cycle, false, { 201, 202 }, NULL, NULL, NULL },
    { "file-range", draft_file_range, false, { 201, 404 }, NULL, NULL, NULL },
    { "file-list", draft_file_list, true, { 200, 0 }, NULL, NULL, NULL },
    { "path-create", draft_path_create, false, { 200, 201, 202 }, NULL, NULL, NULL },
    { "path-append", draft_path_append, false, { 200, 201, 202 }, NULL, NULL, NULL },
    { "path-list", draft_path_list, true, { 200, 0 }, NULL, NULL, NULL },
    { "block-pair", draft_block_pair, false, { 201, 0 }, NULL, NULL, NULL },
    { "transaction", draft_transaction, false, { 202, 0 }, NULL, "HTTP/1.1 204", NULL },
};

const struct work *work_find(const char *name)
{
    for (size_t i = 0; i < sizeof work_table / sizeof work_table[0]; i++) {
        if (strcmp(work_table[i].name, name) == 0)
            return &work_table[i];
    }
    return NULL;
}
