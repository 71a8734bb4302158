/* From an ask to headers and a signature, through the application's callbacks, to an answer. */
#include "request.h"

#include <assert.h>
#include <inttypes.h>
#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "cluster/folder.h"
#include "commits.h"
#include "origins.h"
#include "draft.h"
#include "fleet.h"
#include "files.h"
#include "fs_blobs.h"
#include "judge.h"
#include "kept.h"
#include "malformed.h"
#include "pooled.h"
#include "protect.h"
#include "recorded.h"
#include "remote.h"
#include "roles.h"
#include "sas.h"
#include "sas_terms.h"
#include "scheduler.h"
#include "request/request.h"
#include "services.h"
#include "sm_link.h"
#include "sm_request.h"
#include "throttle.h"
#include "times.h"
#include "wire.h"
#include "store/master_keys.h"
#include "world.h"

#define HEADERS_MAX    24
#define BATCH_BOUNDARY "batch_1"
#define ARENA_MAX      (64u << 20)
#define HTTP_PORT      80u

const char *const op_names[OPS] = {
    [OP_CREATE_CONTAINER] = "Create Container",
    [OP_DELETE_CONTAINER] = "Delete Container",
    [OP_GET_CONTAINER] = "Get Container",
    [OP_SET_CONTAINER_METADATA] = "Set Container Metadata",
    [OP_GET_ACL] = "Get ACL",
    [OP_SET_ACL] = "Set ACL",
    [OP_LEASE_CONTAINER] = "Lease Container",
    [OP_RESTORE_CONTAINER] = "Restore Container",
    [OP_PROTECT] = "Protect Container",
    [OP_SHOW_PROTECTION] = "Show Protection",
    [OP_FIND] = "Find Blobs",
    [OP_LIST_BLOBS] = "List Blobs",
    [OP_LIST_CONTAINERS] = "List Containers",
    [OP_SET_SERVICE] = "Set Service Properties",
    [OP_GET_SERVICE] = "Get Service Properties",
    [OP_BATCH] = "Blob Batch",
    [OP_PUT_BLOB] = "Put Blob",
    [OP_GET_BLOB] = "Get Blob",
    [OP_HEAD_BLOB] = "Get Blob Properties",
    [OP_SET_METADATA] = "Set Metadata",
    [OP_GET_METADATA] = "Get Metadata",
    [OP_SET_PROPERTIES] = "Set Properties",
    [OP_LEASE_BLOB] = "Lease Blob",
    [OP_SNAPSHOT] = "Snapshot",
    [OP_DELETE_BLOB] = "Delete Blob",
    [OP_PUT_BLOCK] = "Put Block",
    [OP_PUT_BLOCK_LIST] = "Put Block List",
    [OP_GET_BLOCK_LIST] = "Get Block List",
    [OP_SET_TAGS] = "Set Tags",
    [OP_GET_TAGS] = "Get Tags",
    [OP_APPEND_BLOCK] = "Append Block",
    [OP_SEAL] = "Seal",
    [OP_PUT_PAGE] = "Put Page",
    [OP_CLEAR_PAGE] = "Clear Pages",
    [OP_PAGE_RANGES] = "Get Page Ranges",
    [OP_SET_TIER] = "Set Tier",
    [OP_COPY] = "Copy Blob",
    [OP_ABORT_COPY] = "Abort Copy",
    [OP_UNDELETE] = "Undelete Blob",
    [OP_SET_POLICY] = "Set Policy",
    [OP_DELETE_POLICY] = "Delete Policy",
    [OP_SET_HOLD] = "Set Legal Hold",
};
const char *const container_names[CONTAINERS] = { "one", "two-2", "three" };
const char *const blob_names[BLOBS] = { "a", "dir/b", "dir/c", "x y", "~z" };
static const char *const blob_paths[BLOBS] = { "a", "dir/b", "dir/c", "x%20y", "~z" };
const char *const list_prefixes[LIST_PREFIXES] = { "", "a", "d", "dir/", "t", "zz" };
const char *const lease_texts[LEASE_IDS + 1] = { "", "11111111-1111-4111-8111-111111111111",
                                                 "22222222-2222-4222-8222-222222222222",
                                                 "33333333-3333-4333-8333-333333333333" };
const char *const type_texts[4] = { "application/octet-stream", "text/plain", "image/png",
                                    "text/html; charset=utf-8" };
const char *const kind_texts[3] = { "BlockBlob", "AppendBlob", "PageBlob" };
const char *const tier_texts[TIERS] = { "", "Hot", "Cool", "Cold", "Archive" };

/* ---- the server ---- */

struct server {
    struct endpoint endpoints[2]; /* of the run's service, and of the one beside it */
    struct endpoint_set all;
    struct server_options options;
    struct accounts *accounts;
    struct task_runner *tasks;
};
static const struct account *development_account;

/* Each finds the other by its port. */
static void open_beside(struct server *server)
{
    server->endpoints[1] = server->endpoints[0];
    server->endpoints[1].service = sim_service()->beside;
    server->all.count = 2;
    atomic_store(&server->all.ports[0], HTTP_PORT);
    atomic_store(&server->all.ports[1], FS_BLOB_PORT);
    server->endpoints[0].all = server->endpoints[1].all = &server->all;
}

struct server *server_of_clients(void)
{
    struct server *server = calloc(1, sizeof *server);

    server->accounts = accounts_new();
    accounts_add_development(server->accounts);
    development_account = accounts_find(server->accounts, bytes_from_string(DEVELOPMENT_ACCOUNT));
    return server;
}

static const char *location(void)
{
    return world->plan.fronts > 0 ? cluster_data_path(FLEET_FOLDER, commits_cell())
                                  : SIM_ROOT "/data";
}

/* The store of every fourth seed is encrypted at rest. */
static const struct master_keys *keys_of_run(void)
{
    static struct master_keys *keys;
    const char *problem = NULL;

    if (world->plan.seed % 4 != 3)
        return NULL;
    if (!keys)
        keys = master_keys_parse(bytes_from_string("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
                                 &problem);
    return keys;
}

struct server *server_open(const char **ret_problem)
{
    struct server *server = calloc(1, sizeof *server);
    struct store_options options = { .location = location(),
                                     .sync = true,
                                     .master_keys = keys_of_run() };
    struct store *store = NULL;
    static const struct service *served[2];
    size_t count = sim_service()->beside ? 2 : 1;
    struct trust_holder *trust;

    *ret_problem = "";
    served[0] = sim_service()->service;
    served[1] = sim_service()->beside;
    if (store_open_embedded(&options, &store, ret_problem)) {
        free(server);
        return NULL;
    }
    server->options.product_style_url = true;
    server->options.rehydrate_seconds = REHYDRATE_S;
    server->accounts = accounts_new();
    accounts_add_development(server->accounts);
    development_account = accounts_find(server->accounts, bytes_from_string(DEVELOPMENT_ACCOUNT));
    account_set_hierarchical(development_account, world->plan.service == SIM_PATH);
    server->endpoints[0] = (struct endpoint){ .service = served[0],
                                              .store = store,
                                              .accounts = server->accounts,
                                              .options = &server->options };
    trust = trust_holder_new(roles_begin_life());
    server->endpoints[0].trust = trust;
    server->endpoints[0].pool = pooled_new();
    server->endpoints[0].fetcher = remote_new();
    server->endpoints[0].background = background_new(2, (struct pool_shares){ .account = 0 });
    server->all.endpoints = server->endpoints;
    server->all.count = 1;
    if (count > 1)
        open_beside(server);
    if (recorded_is_used())
        server->endpoints[0].all = &server->all;
    sm_link_begin_epoch(store);
    server->tasks = task_runner_start(store, served, server->endpoints, count);
    assert(server->tasks);
    sm_link_open(&server->endpoints[0]);
    roles_start(trust);
    recorded_start(&server->all, store, server->accounts, development_account);
    return server;
}

static struct endpoint *endpoint_of(struct server *server, const struct ask *ask)
{
    return &server->endpoints[sim_service()->beside && sim_service()->is_beside(ask)];
}

const struct account *server_account(void)
{
    return development_account;
}

bool server_healthy(const struct server *server)
{
    return store_healthy(server->endpoints[0].store) &&
           !store_wants_reopening(server->endpoints[0].store);
}

struct store *server_store(const struct server *server)
{
    return server->endpoints[0].store;
}

void *server_tag(struct server *server)
{
    return &server->endpoints[0];
}

void server_join(struct server *server, const struct endpoint *like)
{
    for (size_t i = 0; i < server->all.count; i++) {
        server->endpoints[i].peers = like->peers;
        server->endpoints[i].places = like->places;
        server->endpoints[i].cells = like->cells;
    }
}

struct endpoint_set *server_endpoints(struct server *server)
{
    return &server->all;
}

struct decision_pool *server_pool(struct server *server)
{
    return server->endpoints[0].pool;
}

void server_open_wire(struct server *server)
{
    wire_open(&server->endpoints[0]);
}

void server_close(struct server *server)
{
    if (wire_is_open())
        wire_close();
    sm_link_close();
    background_stop(server->endpoints[0].background);
    decision_pool_free(server->endpoints[0].pool);
    task_runner_stop(server->tasks);
    background_free(server->endpoints[0].background);
    store_close(server->endpoints[0].store);
}

/* ---- an exchange, whose connection is this program ---- */

struct sent {
    struct exchange exchange; /* first: the application knows this alone */
    unsigned slot;
    bool resumed;
    struct http_header headers[HEADERS_MAX];
    const struct ask *ask;
    struct draft draft; /* of other services than blobs */
    struct framing framing;
    unsigned char *body;
};

static _Thread_local int current_slot = -1;

int request_slot(void)
{
    return current_slot;
}

void request_set_slot(int slot)
{
    current_slot = slot;
}

/* The http room's own functions are for the exchanges that came by a socket. */
static const char direct_peer[] = "127.0.0.1:1";

static struct sent *direct(struct exchange *exchange)
{
    return exchange->request.peer.ptr == direct_peer ? (struct sent *)(void *)exchange : NULL;
}

void __real_exchange_suspend(struct exchange *exchange);
void __wrap_exchange_suspend(struct exchange *exchange);
void __wrap_exchange_suspend(struct exchange *exchange)
{
    if (!direct(exchange))
        __real_exchange_suspend(exchange);
}

void __real_exchange_resume(struct exchange *exchange);
void __wrap_exchange_resume(struct exchange *exchange);
void __wrap_exchange_resume(struct exchange *exchange)
{
    struct sent *sent = direct(exchange);

    if (!sent) {
        __real_exchange_resume(exchange);
        return;
    }
    sent->resumed = true;
    sched_wake(WAIT_EVENT, sent, 1);
    sched_point();
}

bool __real_exchange_charge(struct exchange *exchange);
bool __wrap_exchange_charge(struct exchange *exchange);
bool __wrap_exchange_charge(struct exchange *exchange)
{
    return direct(exchange) || __real_exchange_charge(exchange);
}

void __real_exchange_drop_scratch(struct exchange *exchange, struct arena_mark mark);
void __wrap_exchange_drop_scratch(struct exchange *exchange, struct arena_mark mark);
void __wrap_exchange_drop_scratch(struct exchange *exchange, struct arena_mark mark)
{
    if (!direct(exchange))
        __real_exchange_drop_scratch(exchange, mark);
}

bool __real_exchange_take_file(struct exchange *exchange);
bool __wrap_exchange_take_file(struct exchange *exchange);
bool __wrap_exchange_take_file(struct exchange *exchange)
{
    return direct(exchange) || __real_exchange_take_file(exchange);
}

void __real_exchange_authenticate(struct exchange *exchange);
void __wrap_exchange_authenticate(struct exchange *exchange);
void __wrap_exchange_authenticate(struct exchange *exchange)
{
    if (!direct(exchange))
        __real_exchange_authenticate(exchange);
}

void __real_exchange_serves_for(struct exchange *exchange, const void *whose);
void __wrap_exchange_serves_for(struct exchange *exchange, const void *whose);
void __wrap_exchange_serves_for(struct exchange *exchange, const void *whose)
{
    if (!direct(exchange))
        __real_exchange_serves_for(exchange, whose);
}

/* Sizes that are not sent, but are recorded. */
struct exchange_sent __real_exchange_sent(const struct exchange *exchange);
struct exchange_sent __wrap_exchange_sent(const struct exchange *exchange);
struct exchange_sent __wrap_exchange_sent(const struct exchange *exchange)
{
    if (!direct((struct exchange *)(uintptr_t)exchange))
        return __real_exchange_sent(exchange);
    return (struct exchange_sent){ .head_bytes = 100 + exchange->response.header_count,
                                   .body_bytes = exchange->response.body.len,
                                   .is_whole = true };
}

static void wait_for_resume(struct sent *sent)
{
    while (!sent->resumed)
        sched_wait(WAIT_EVENT, sent, 0);
    sent->resumed = false;
}

/* ---- bytes ---- */

void pattern_fill(uint64_t seed, uint64_t from, unsigned char *to, size_t size)
{
    uint64_t word = 0;

    for (size_t i = 0; i < size; i++) {
        uint64_t at = from + i;

        if (i == 0 || at % 8 == 0)
            word = world_mix(seed + at / 8);
        to[i] = (unsigned char)(word >> at % 8 * 8);
    }
}

static void encode64(const void *from, size_t size, char *to)
{
    base64_encode_raw(to, size, from);
    to[BASE64_ENCODE_RAW_LENGTH(size)] = '\0';
}

void block_name(unsigned block, char to[16])
{
    char plain[6] = "blk00";

    plain[4] = (char)('0' + block);
    encode64(plain, 5, to);
}

static const struct hmac_sha256_ctx *prepared_key(void);

/* ---- headers ---- */

static void add(struct sent *sent, const char *name, struct bytes value)
{
    struct request *request = &sent->exchange.request;

    assert(request->header_count < HEADERS_MAX);
    if (malformed_header(sent->ask, name))
        value = bytes_from_string(sent->ask->malformed->value);
    sent->headers[request->header_count++] = (struct http_header){
        .name = bytes_from_string(name), .value = value, .name_as_sent = bytes_from_string(name)
    };
}

static void add_text(struct sent *sent, const char *name, const char *value)
{
    add(sent, name, arena_copy(sent->exchange.arena, bytes_from_string(value)));
}

static void add_number(struct sent *sent, const char *name, int64_t value)
{
    add(sent, name, arena_printf(sent->exchange.arena, "%" PRId64, value));
}

/* Unix seconds; 0: not sent. */
static void add_date(struct sent *sent, const char *name, int64_t seconds)
{
    char date[INSTANT_HTTP_SIZE];

    if (seconds == 0)
        return;
    instant_format_http(INSTANT_UNIX_EPOCH + (uint64_t)seconds * TICKS_PER_SECOND, date);
    add_text(sent, name, date);
}

static void add_condition(struct sent *sent)
{
    const struct ask *ask = sent->ask;
    struct bytes tag = arena_printf(sent->exchange.arena, "%s\"0x%" PRIX64 "\"",
                                    ask->is_weak ? "W/" : "", ask->etag);

    switch (ask->condition) {
    case IF_NOTHING:
        break;
    case IF_MATCH_TAG:
        add(sent, "if-match", tag);
        break;
    case IF_MATCH_ANY:
        add_text(sent, "if-match", "*");
        break;
    case IF_NONE_MATCH_TAG:
        add(sent, "if-none-match", tag);
        break;
    case IF_NONE_MATCH_ANY:
        add_text(sent, "if-none-match", "*");
        break;
    }
    if (ask->if_tag > 0)
        add(sent, "x-ms-if-tags", arena_printf(sent->exchange.arena, "\"k\"='%u'", ask->if_tag));
    add_date(sent, "if-modified-since", sent->ask->modified_since);
    add_date(sent, "if-unmodified-since", sent->ask->unmodified_since);
}

static void add_lease_headers(struct sent *sent)
{
    static const char *const acts[ACTS] = { "acquire", "renew", "change", "release", "break" };
    const struct ask *ask = sent->ask;

    add_text(sent, "x-ms-lease-action", acts[ask->act]);
    if (ask->act == ACT_ACQUIRE)
        add_number(sent, "x-ms-lease-duration", ask->duration_s);
    if (ask->proposed > 0 && (ask->act == ACT_ACQUIRE || ask->act == ACT_CHANGE))
        add_text(sent, "x-ms-proposed-lease-id", lease_texts[ask->proposed]);
    if (ask->act == ACT_BREAK && ask->break_s >= 0)
        add_number(sent, "x-ms-lease-break-period", ask->break_s);
}

/* What only append and page blobs have. */
static void add_of_kind(struct sent *sent)
{
    static const char *const acts[] = { NULL, "max", "update", "increment" };
    static const char *const conditions[] = { NULL, "x-ms-if-sequence-number-le",
                                              "x-ms-if-sequence-number-lt",
                                              "x-ms-if-sequence-number-eq" };
    const struct ask *ask = sent->ask;

    if (ask->op == OP_PUT_PAGE || ask->op == OP_CLEAR_PAGE)
        add_text(sent, "x-ms-page-write", ask->op == OP_PUT_PAGE ? "update" : "clear");
    if (ask->has_size)
        add_number(sent, "x-ms-blob-content-length", ask->size);
    if (ask->sequence_act != SEQUENCE_KEPT)
        add_text(sent, "x-ms-sequence-number-action", acts[ask->sequence_act]);
    if ((ask->op == OP_PUT_BLOB && ask->kind == KIND_PAGES) || ask->sequence_act == SEQUENCE_MAX ||
        ask->sequence_act == SEQUENCE_UPDATE)
        add_number(sent, "x-ms-blob-sequence-number", (int64_t)ask->sequence);
    if (ask->sequence_condition != IF_ANY_SEQUENCE)
        add_number(sent, conditions[ask->sequence_condition], (int64_t)ask->if_sequence);
    if (ask->has_position)
        add_number(sent, "x-ms-blob-condition-appendpos", ask->position);
    if (ask->has_size_max)
        add_number(sent, "x-ms-blob-condition-maxsize", ask->size_max);
}

/* "?" with the signature of who may read, where the URL has to say it. */
static struct bytes source_url(struct sent *sent)
{
    const struct ask *ask = sent->ask;
    const struct ask reads = { .container = ask->source_container,
                               .signature = SIGNED_BY_SAS,
                               .sas = 1,
                               .terms = { .expiry = FAR_AHEAD } };
    const struct remote remote = { .kind = ask->kind,
                                   .fate = ask->fate,
                                   .seed = ask->content.seed,
                                   .length = ask->content.length,
                                   .filled = ask->content.length };
    struct text url;

    if (ask->is_remote)
        return remote_url(&remote, sent->exchange.arena);
    text_init(&url, sent->exchange.arena, 512);
    text_printf(&url, "http://127.0.0.1/" DEVELOPMENT_ACCOUNT "/%s/%s",
                container_names[ask->source_container], blob_paths[ask->source_blob]);
    if (ask->source_snapshot[0])
        text_printf(&url, "?%s=%s", ask->source_is_version ? "versionid" : "snapshot",
                    ask->source_snapshot);
    if (ask->is_sync) {
        text_add_char(&url, ask->source_snapshot[0] ? '&' : '?');
        sas_add(&reads, prepared_key(), development_account, &url);
    }
    return text_bytes(&url);
}

static void add_of_copy(struct sent *sent)
{
    const struct ask *ask = sent->ask;

    if (ask->op == OP_ABORT_COPY)
        add_text(sent, "x-ms-copy-action", "abort");
    if (ask->op != OP_COPY)
        return;
    add(sent, "x-ms-copy-source", source_url(sent));
    if (ask->is_sync)
        add_text(sent, "x-ms-requires-sync", "true");
    else if (ask->is_fast)
        add_text(sent, "x-ms-rehydrate-priority", "High");
    if (ask->source_etag)
        add(sent, "x-ms-source-if-match",
            arena_printf(sent->exchange.arena, "\"0x%" PRIX64 "\"", ask->source_etag));
}

static void add_protection(struct sent *sent)
{
    struct http_header headers[PROTECT_HEADERS];
    unsigned count = protect_headers(sent->ask, sent->exchange.arena, headers);

    for (unsigned i = 0; i < count; i++)
        add(sent, headers[i].name.ptr, headers[i].value);
}

static void add_particular(struct sent *sent)
{
    const struct ask *ask = sent->ask;
    static const char *const access[] = { NULL, "blob", "container" };

    if (ask->op == OP_PUT_BLOB) {
        add_text(sent, "x-ms-blob-type", kind_texts[ask->kind]);
        if (ask->type > 0)
            add_text(sent, ask->kind == KIND_BLOCKS ? "content-type" : "x-ms-blob-content-type",
                     type_texts[ask->type]);
    }
    add_of_kind(sent);
    add_of_copy(sent);
    if (ask->op == OP_SET_TIER) {
        add_text(sent, "x-ms-access-tier", tier_texts[ask->tier]);
        if (ask->is_fast)
            add_text(sent, "x-ms-rehydrate-priority", "High");
    }
    if (ask->op == OP_BATCH)
        add_text(sent, "content-type", "multipart/mixed; boundary=" BATCH_BOUNDARY);
    if ((ask->op == OP_PUT_BLOCK_LIST || ask->op == OP_SET_PROPERTIES) && ask->type > 0)
        add_text(sent, "x-ms-blob-content-type", type_texts[ask->type]);
    if (ask->op == OP_SET_ACL && ask->access > 0)
        add_text(sent, "x-ms-blob-public-access", access[ask->access]);
    if (ask->op == OP_DELETE_BLOB && ask->delete_mode != DELETE_BASE)
        add_text(sent, "x-ms-delete-snapshots",
                 ask->delete_mode == DELETE_INCLUDE ? "include" : "only");
    if (ask->op == OP_RESTORE_CONTAINER) {
        add_text(sent, "x-ms-deleted-container-name", container_names[ask->container]);
        add_text(sent, "x-ms-deleted-container-version", ask->deleted);
    }
    if (ask->op == OP_LEASE_BLOB || ask->op == OP_LEASE_CONTAINER)
        add_lease_headers(sent);
    if (ask->metadata > 0)
        add_number(sent, "x-ms-meta-v", ask->metadata);
    if (ask->tag > 0 && ask->op != OP_SET_TAGS && ask->op != OP_FIND)
        add(sent, "x-ms-tags", arena_printf(sent->exchange.arena, "k=%u", ask->tag));
    if (ask->lease_id > 0)
        add_text(sent, "x-ms-lease-id", lease_texts[ask->lease_id]);
    if (ask->has_range)
        add(sent, "range",
            arena_printf(sent->exchange.arena, "bytes=%u-%u", ask->range_from, ask->range_to));
    add_protection(sent);
}

/* ---- method, target, body ---- */

static const struct {
    enum http_method method;
    const char *text;
    bool of_blob;
    const char *query; /* NULL: none */
} forms[OPS] = {
    [OP_CREATE_CONTAINER] = { METHOD_PUT, "PUT", false, "restype=container" },
    [OP_DELETE_CONTAINER] = { METHOD_DELETE, "DELETE", false, "restype=container" },
    [OP_GET_CONTAINER] = { METHOD_HEAD, "HEAD", false, "restype=container" },
    [OP_SET_CONTAINER_METADATA] = { METHOD_PUT, "PUT", false, "restype=container&comp=metadata" },
    [OP_GET_ACL] = { METHOD_GET, "GET", false, "restype=container&comp=acl" },
    [OP_SET_ACL] = { METHOD_PUT, "PUT", false, "restype=container&comp=acl" },
    [OP_LEASE_CONTAINER] = { METHOD_PUT, "PUT", false, "restype=container&comp=lease" },
    [OP_RESTORE_CONTAINER] = { METHOD_PUT, "PUT", false, "restype=container&comp=undelete" },
    [OP_FIND] = { METHOD_GET, "GET", false, "restype=container&comp=blobs" },
    [OP_BATCH] = { METHOD_POST, "POST", false, "restype=container&comp=batch" },
    [OP_SET_TIER] = { METHOD_PUT, "PUT", true, "comp=tier" },
    [OP_COPY] = { METHOD_PUT, "PUT", true, NULL },
    [OP_ABORT_COPY] = { METHOD_PUT, "PUT", true, "comp=copy" },
    [OP_UNDELETE] = { METHOD_PUT, "PUT", true, "comp=undelete" },
    [OP_SET_POLICY] = { METHOD_PUT, "PUT", true, "comp=immutabilityPolicies" },
    [OP_DELETE_POLICY] = { METHOD_DELETE, "DELETE", true, "comp=immutabilityPolicies" },
    [OP_SET_HOLD] = { METHOD_PUT, "PUT", true, "comp=legalhold" },
    [OP_LIST_BLOBS] = { METHOD_GET, "GET", false, "restype=container&comp=list" },
    [OP_LIST_CONTAINERS] = { METHOD_GET, "GET", false, "comp=list" },
    [OP_SET_SERVICE] = { METHOD_PUT, "PUT", false, "restype=service&comp=properties" },
    [OP_GET_SERVICE] = { METHOD_GET, "GET", false, "restype=service&comp=properties" },
    [OP_PUT_BLOB] = { METHOD_PUT, "PUT", true, NULL },
    [OP_GET_BLOB] = { METHOD_GET, "GET", true, NULL },
    [OP_HEAD_BLOB] = { METHOD_HEAD, "HEAD", true, NULL },
    [OP_SET_METADATA] = { METHOD_PUT, "PUT", true, "comp=metadata" },
    [OP_GET_METADATA] = { METHOD_GET, "GET", true, "comp=metadata" },
    [OP_SET_PROPERTIES] = { METHOD_PUT, "PUT", true, "comp=properties" },
    [OP_LEASE_BLOB] = { METHOD_PUT, "PUT", true, "comp=lease" },
    [OP_SNAPSHOT] = { METHOD_PUT, "PUT", true, "comp=snapshot" },
    [OP_DELETE_BLOB] = { METHOD_DELETE, "DELETE", true, NULL },
    [OP_PUT_BLOCK] = { METHOD_PUT, "PUT", true, "comp=block" },
    [OP_PUT_BLOCK_LIST] = { METHOD_PUT, "PUT", true, "comp=blocklist" },
    [OP_GET_BLOCK_LIST] = { METHOD_GET, "GET", true, "comp=blocklist&blocklisttype=all" },
    [OP_SET_TAGS] = { METHOD_PUT, "PUT", true, "comp=tags" },
    [OP_GET_TAGS] = { METHOD_GET, "GET", true, "comp=tags" },
    [OP_APPEND_BLOCK] = { METHOD_PUT, "PUT", true, "comp=appendblock" },
    [OP_SEAL] = { METHOD_PUT, "PUT", true, "comp=seal" },
    [OP_PUT_PAGE] = { METHOD_PUT, "PUT", true, "comp=page" },
    [OP_CLEAR_PAGE] = { METHOD_PUT, "PUT", true, "comp=page" },
    [OP_PAGE_RANGES] = { METHOD_GET, "GET", true, "comp=pagelist" },
};

static void add_page_query(const struct ask *ask, struct text *query)
{
    static const char *const words[] = { "snapshots",
                                         "metadata",
                                         "uncommittedblobs",
                                         "deleted",
                                         "versions",
                                         "deletedwithversions",
                                         "immutabilitypolicy,legalhold" };
    const struct page_ask *page = &ask->page;
    const char *before = "&include=";

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!(page->include >> i & 1))
            continue;
        text_printf(query, "%s%s", before, words[i]);
        before = ",";
    }
    if (page->prefix > 0)
        text_printf(query, "&prefix=%s", list_prefixes[page->prefix]);
    if (page->by_delimiter)
        text_add_string(query, "&delimiter=/");
    if (page->max > 0)
        text_printf(query, "&maxresults=%u", page->max);
    if (page->marker[0])
        text_printf(query, "&marker=%s", page->marker);
}

static void add_copy_id(const struct ask *ask, struct text *query)
{
    char text[GUID_TEXT_SIZE];
    struct guid id;

    memcpy(id.b, ask->copy_id.bytes, sizeof id.b);
    guid_format(&id, text);
    text_printf(query, "&copyid=%s", text);
}

static struct bytes make_query(const struct sent *sent)
{
    const struct ask *ask = sent->ask;
    struct text query;

    text_init(&query, sent->exchange.arena, 256);
    if (ask->wants_key)
        text_add_string(&query, "restype=service&comp=userdelegationkey");
    else if (forms[ask->op].query)
        text_add_string(&query, ask->is_of_account ? "comp=batch" : forms[ask->op].query);
    if (ask->op == OP_PUT_BLOCK && !malformed_query(ask, "blockid")) {
        char name[16];

        block_name(ask->content.block - 1u, name);
        text_printf(&query, "&blockid=%s", name);
    } else if (ask->op == OP_LIST_BLOBS || ask->op == OP_LIST_CONTAINERS || ask->op == OP_FIND) {
        add_page_query(ask, &query);
    } else if (ask->snapshot[0]) {
        text_printf(&query, "%s%s=%s", query.len > 0 ? "&" : "",
                    ask->is_version ? "versionid" : "snapshot", ask->snapshot);
    }
    if (ask->is_permanent)
        text_add_string(&query, "&deletetype=permanent");
    if (ask->previous[0])
        text_printf(&query, "&prevsnapshot=%s", ask->previous);
    if (ask->op == OP_FIND && !malformed_query(ask, "where"))
        text_printf(&query, "&where=%%22k%%22%%3D%%27%u%%27", ask->tag);
    if (ask->op == OP_ABORT_COPY)
        add_copy_id(ask, &query);
    if (ask->signature >= SIGNED_BY_SAS) {
        if (query.len > 0)
            text_add_char(&query, '&');
        sas_add(ask, prepared_key(), development_account, &query);
    }
    if (ask->malformed && ask->malformed->in_query)
        text_printf(&query, "%s%s=%s", query.len > 0 ? "&" : "", ask->malformed->name,
                    ask->malformed->value);
    return query.len > 0 ? text_bytes(&query) : (struct bytes){ NULL, 0 };
}

static void set_target(struct sent *sent)
{
    const struct ask *ask = sent->ask;
    struct request *request = &sent->exchange.request;
    struct arena *arena = sent->exchange.arena;

    request->method = ask->wants_key ? METHOD_POST : forms[ask->op].method;
    request->method_text = bytes_from_string(ask->wants_key ? "POST" : forms[ask->op].text);
    if ((ask->op >= OP_LIST_CONTAINERS && ask->op <= OP_GET_SERVICE) || ask->is_of_account)
        request->path = bytes_from_string("/" DEVELOPMENT_ACCOUNT "/");
    else if (forms[ask->op].of_blob)
        request->path = arena_printf(arena, "/" DEVELOPMENT_ACCOUNT "/%s/%s",
                                     container_names[ask->container], blob_paths[ask->blob]);
    else
        request->path =
            arena_printf(arena, "/" DEVELOPMENT_ACCOUNT "/%s", container_names[ask->container]);
    request->query = make_query(sent);
}

static void copy_body(struct sent *sent, struct bytes body, size_t *ret_size)
{
    sent->body = malloc(body.len + 1);
    if (body.len > 0)
        memcpy(sent->body, body.ptr, body.len);
    *ret_size = body.len;
}

static bool has_content(const struct ask *ask)
{
    return (ask->op == OP_PUT_BLOB && ask->kind == KIND_BLOCKS) || ask->op == OP_PUT_BLOCK ||
           ask->op == OP_APPEND_BLOCK || ask->op == OP_PUT_PAGE;
}

/* rest: Set-Container-ACL */
static void add_policies(const struct ask *ask, struct text *text)
{
    text_add_string(text, "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>");
    for (unsigned i = 0; i < POLICIES; i++) {
        char policy[300];

        if (!ask->policies[i].exists)
            continue;
        sas_format_policy(&ask->policies[i], false, policy, sizeof policy);
        text_printf(text, "<SignedIdentifier><Id>p%u</Id>%s</SignedIdentifier>", i, policy);
    }
    text_add_string(text, "</SignedIdentifiers>");
}

static void make_head(struct sent *sent, uint64_t length, bool is_part);

/* One request of a batch, signed by itself. */
static void add_part(const struct sent *sent, unsigned number, struct text *text)
{
    struct sent part = { .ask = &sent->ask->parts[number],
                         .exchange = { .arena = sent->exchange.arena } };
    const struct request *request = &part.exchange.request;

    make_head(&part, 0, true);
    text_printf(text,
                "--" BATCH_BOUNDARY "\r\nContent-Type: application/http\r\n"
                "Content-Transfer-Encoding: binary\r\nContent-ID: %u\r\n\r\n%.*s %.*s%s%.*s "
                "HTTP/1.1\r\n",
                number, BYTES_ARG(request->method_text), BYTES_ARG(request->path),
                request->query.len > 0 ? "?" : "", BYTES_ARG(request->query));
    for (size_t i = 0; i < request->header_count; i++)
        text_printf(text, "%.*s: %.*s\r\n", BYTES_ARG(part.headers[i].name),
                    BYTES_ARG(part.headers[i].value));
    text_add_string(text, "\r\n\r\n");
}

static void make_body(struct sent *sent, size_t *ret_size)
{
    static const char *const names[] = { "Committed", "Uncommitted", "Latest" };
    const struct ask *ask = sent->ask;
    struct text text;

    *ret_size = 0;
    if (ask->wants_key) {
        copy_body(sent, roles_key_body(sent->exchange.arena), ret_size);
    } else if (has_content(ask)) {
        sent->body = malloc(ask->content.length + 1u);
        pattern_fill(ask->content.seed, 0, sent->body, ask->content.length);
        *ret_size = ask->content.length;
    } else if (ask->op == OP_PUT_BLOCK_LIST) {
        text_init(&text, sent->exchange.arena, 512);
        text_add_string(&text, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
        for (unsigned i = 0; i < ask->list_count; i++) {
            char name[16];

            block_name(ask->list[i].block, name);
            text_printf(&text, "<%s>%s</%s>", names[ask->list[i].source], name,
                        names[ask->list[i].source]);
        }
        text_add_string(&text, "</BlockList>");
        copy_body(sent, text_bytes(&text), ret_size);
    } else if (ask->op == OP_SET_TAGS) {
        text_init(&text, sent->exchange.arena, 512);
        text_add_string(&text, "<?xml version=\"1.0\" encoding=\"utf-8\"?><Tags><TagSet>");
        if (ask->tag > 0)
            text_printf(&text, "<Tag><Key>k</Key><Value>%u</Value></Tag>", ask->tag);
        text_add_string(&text, "</TagSet></Tags>");
        copy_body(sent, text_bytes(&text), ret_size);
    } else if (ask->op == OP_SET_ACL) {
        text_init(&text, sent->exchange.arena, 512);
        add_policies(ask, &text);
        copy_body(sent, text_bytes(&text), ret_size);
    } else if (ask->op == OP_SET_SERVICE) {
        char retention[600], rules[1200];

        kept_format(ask, retention, sizeof retention);
        origins_format(ask->origin, retention, rules, sizeof rules);
        copy_body(sent, bytes_from_string(rules), ret_size);
    } else if (ask->op == OP_BATCH) {
        text_init(&text, sent->exchange.arena, 4096);
        for (unsigned i = 0; i < ask->part_count; i++)
            add_part(sent, i, &text);
        text_add_string(&text, "--" BATCH_BOUNDARY "--\r\n");
        copy_body(sent, text_bytes(&text), ret_size);
    }
}

/* ---- the signature. rest: Authorize-with-Shared-Key ---- */

static struct bytes header_value(const struct sent *sent, const char *name)
{
    for (size_t i = 0; i < sent->exchange.request.header_count; i++) {
        if (bytes_is(sent->headers[i].name, name))
            return sent->headers[i].value;
    }
    return bytes_from_string("");
}

static int compare_headers(const void *left, const void *right)
{
    const struct http_header *a = *(const struct http_header *const *)left;
    const struct http_header *b = *(const struct http_header *const *)right;

    return bytes_compare(a->name, b->name);
}

static int compare_parts(const void *left, const void *right)
{
    return bytes_compare(*(const struct bytes *)left, *(const struct bytes *)right);
}

static void add_canonical_query(const struct sent *sent, struct text *text)
{
    struct bytes parts[12], rest = sent->exchange.request.query;
    size_t count = 0;

    while (rest.ptr && rest.len > 0) {
        bytes_cut(rest, '&', &parts[count], &rest);
        count++;
    }
    qsort(parts, count, sizeof parts[0], compare_parts);
    for (size_t i = 0; i < count; i++) {
        struct bytes name, value;

        bytes_cut(parts[i], '=', &name, &value);
        text_printf(text, "\n%.*s:", BYTES_ARG(name));
        for (size_t j = 0; j < value.len; j++) {
            if (value.ptr[j] == '%') {
                char digits[3] = { value.ptr[j + 1], value.ptr[j + 2] };

                text_add_char(text, (char)strtoul(digits, NULL, 16));
                j += 2;
            } else {
                text_add_char(text, value.ptr[j]);
            }
        }
    }
}

static void add_string_to_sign(const struct sent *sent, struct text *text)
{
    static const char *const names[] = { "content-encoding",
                                         "content-language",
                                         "content-length",
                                         "content-md5",
                                         "content-type",
                                         "date",
                                         "if-modified-since",
                                         "if-match",
                                         "if-none-match",
                                         "if-unmodified-since",
                                         "range" };
    const struct request *request = &sent->exchange.request;
    const struct http_header *sorted[HEADERS_MAX];
    size_t count = 0;

    text_printf(text, "%.*s\n", BYTES_ARG(request->method_text));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct bytes value = header_value(sent, names[i]);

        if (!(strcmp(names[i], "content-length") == 0 && bytes_is(value, "0")))
            text_add(text, value);
        text_add_char(text, '\n');
    }
    for (size_t i = 0; i < request->header_count; i++) {
        if (bytes_has_prefix(sent->headers[i].name, bytes_from_string("x-ms-")))
            sorted[count++] = &sent->headers[i];
    }
    qsort(sorted, count, sizeof(sorted[0]), compare_headers);
    for (size_t i = 0; i < count; i++)
        text_printf(text, "%.*s:%.*s\n", BYTES_ARG(sorted[i]->name), BYTES_ARG(sorted[i]->value));
    text_printf(text, "/" DEVELOPMENT_ACCOUNT "%.*s", BYTES_ARG(request->path));
    add_canonical_query(sent, text);
}

/* rest: Authorize-with-Shared-Key "Table service (Shared Key authorization)" */
static void add_table_string_to_sign(const struct sent *sent, struct text *text)
{
    const struct request *request = &sent->exchange.request;

    text_printf(text, "%.*s\n\n%.*s\n%.*s\n/" DEVELOPMENT_ACCOUNT "%.*s",
                BYTES_ARG(request->method_text), BYTES_ARG(header_value(sent, "content-type")),
                BYTES_ARG(header_value(sent, "x-ms-date")), BYTES_ARG(request->path));
    if (bytes_has_prefix(request->query, bytes_from_string("comp=")))
        text_printf(text, "?%.*s", BYTES_ARG(request->query));
}

const char request_account_key[] = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"
                                   "K1SZFPTOtr/KBHBeksoGMGw==";

static const struct hmac_sha256_ctx *prepared_key(void)
{
    static struct hmac_sha256_ctx context;
    static bool is_ready;
    struct base64_decode_ctx decoder;
    uint8_t key[BASE64_DECODE_LENGTH(sizeof request_account_key)];
    size_t size = sizeof key;

    if (is_ready)
        return &context;
    base64_decode_init(&decoder);
    base64_decode_update(&decoder, &size, key, sizeof request_account_key - 1, request_account_key);
    hmac_sha256_set_key(&context, size, key);
    is_ready = true;
    return &context;
}

static void sign(struct sent *sent)
{
    struct hmac_sha256_ctx context = *prepared_key();
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text64[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1];
    struct text text;

    text_init(&text, sent->exchange.arena, 512);
    if (sim_service()->signs_as_table)
        add_table_string_to_sign(sent, &text);
    else
        add_string_to_sign(sent, &text);
    hmac_sha256_update(&context, text.len, (const uint8_t *)text.ptr);
    hmac_sha256_digest(&context, sizeof digest, digest);
    if (sent->ask->signature == SIGNED_WRONGLY)
        digest[0] ^= 1;
    encode64(digest, sizeof digest, text64);
    add(sent, "authorization",
        arena_printf(sent->exchange.arena, "SharedKey " DEVELOPMENT_ACCOUNT ":%s", text64));
}

static void take_draft(struct sent *sent)
{
    struct request *request = &sent->exchange.request;

    request->method = sent->draft.method;
    request->method_text = bytes_from_string(sent->draft.method_text);
    request->path = sent->draft.path;
    request->query = sent->draft.query;
}

void request_mac(const char *text, char *to, size_t size)
{
    struct hmac_sha256_ctx context = *prepared_key();
    uint8_t digest[SHA256_DIGEST_SIZE];

    assert(size > BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE));
    hmac_sha256_update(&context, strlen(text), (const uint8_t *)text);
    hmac_sha256_digest(&context, sizeof digest, digest);
    encode64(digest, sizeof digest, to);
}

static bool goes_by_wire(unsigned slot, const struct ask *ask)
{
    bool is_beside = sim_service()->beside && sim_service()->is_beside(ask);

    return wire_is_open() && slot != SLOTS_MAX - 1 && !is_beside;
}

static void add_framing(struct sent *sent, uint64_t length)
{
    if (sent->framing.form != NOT_CHUNKED)
        add_text(sent, "transfer-encoding", "chunked");
    else if (sent->exchange.request.method &
             (METHOD_PUT | METHOD_POST | METHOD_PATCH | METHOD_MERGE))
        add_number(sent, "content-length", (int64_t)length);
    if (sent->framing.expectation != EXPECTS_NOTHING)
        add_text(sent, "expect",
                 sent->framing.expectation == EXPECTS_ELSE ? "100-continue, 200-ok"
                                                           : "100-continue");
}

/* Parts of a batch are of the host and version of the whole. */
static void make_head(struct sent *sent, uint64_t length, bool is_part)
{
    struct request *request = &sent->exchange.request;
    int64_t now_s = ((int64_t)world->now_ns + world->wall_ns) / 1000000000;
    enum signature signature = sent->ask->signature;

    request->headers = sent->headers;
    if (sim_service()->write)
        take_draft(sent);
    else
        set_target(sent);
    request->content_length = length;
    if (!is_part && goes_by_wire(sent->slot, sent->ask))
        sent->framing = framing_of(&sent->ask->framing, request->method == METHOD_PUT,
                                   request->method == METHOD_POST, length);
    if (!is_part) {
        add_text(sent, "host", "127.0.0.1");
        request->authority = bytes_from_string("127.0.0.1"); /* as http/ has it of the head */
    }
    /* The server believes a signature for a quarter of an hour. */
    add_date(sent, "x-ms-date", signature == SIGNED_LONG_AGO ? now_s - 902 : now_s);
    if (!is_part) {
        add_text(sent, "x-ms-version", "2021-12-02");
        add_number(sent, "x-ms-client-request-id", sent->slot);
        if (sent->ask->origin > 0 && sent->ask->op != OP_SET_SERVICE)
            add(sent, "origin",
                arena_printf(sent->exchange.arena, "http://o%u", sent->ask->origin));
    }
    add_framing(sent, length);
    if (sim_service()->write) {
        for (unsigned i = 0; i < sent->draft.header_count; i++)
            add(sent, sent->draft.headers[i].name, sent->draft.headers[i].value);
    } else {
        add_condition(sent);
        add_particular(sent);
    }
    if (malformed_is_missing(sent->ask, sent->headers, request->header_count))
        add_text(sent, sent->ask->malformed->name, sent->ask->malformed->value);
    if (signature == SIGNED && sent->ask->token > 0)
        add(sent, "authorization", roles_authorization(sent->ask, sent->exchange.arena));
    else if (signature != UNSIGNED && signature < SIGNED_BY_SAS)
        sign(sent);
}

static void make_request(struct sent *sent, struct server *server, size_t *ret_size)
{
    struct request *request = &sent->exchange.request;

    request->peer = bytes_of(direct_peer, sizeof direct_peer - 1);
    request->listener_tag = endpoint_of(server, sent->ask);
    request->secure = (sent->ask->token > 0 && sent->ask->signature == SIGNED &&
                       roles_sends_securely(sent->ask)) ||
                      sent->ask->protect.key > 0;
    if (sim_service()->write) {
        sim_service()->write(sent->ask, sent->exchange.arena, &sent->draft);
        copy_body(sent, sent->draft.body, ret_size);
    } else {
        make_body(sent, ret_size);
    }
    make_head(sent, *ret_size, false);
}

/* ---- the answer ---- */

static void copy(char *to, size_t size, struct bytes from)
{
    (void)snprintf(to, size, "%.*s", BYTES_ARG(from));
}

static void read_etag(struct bytes text, struct reply *answer)
{
    char form[40];

    copy(form, sizeof form, text);
    answer->etag = strtoull(text.len > 3 ? form + 3 : "", NULL, 16);
    (void)snprintf(form, sizeof form, "\"0x%" PRIX64 "\"", answer->etag);
    answer->etag_is_odd = !bytes_is(text, form);
}

static void read_header(const struct http_header *header, struct reply *answer)
{
    const struct {
        const char *name;
        char *to;
        size_t size;
    } texts[] = {
        { "x-ms-error-code", answer->code, sizeof answer->code },
        { "content-type", answer->type, sizeof answer->type },
        { "x-ms-lease-status", answer->lease_status, sizeof answer->lease_status },
        { "x-ms-lease-state", answer->lease_state, sizeof answer->lease_state },
        { "x-ms-lease-duration", answer->lease_duration, sizeof answer->lease_duration },
        { "x-ms-lease-id", answer->lease_id, sizeof answer->lease_id },
        { "x-ms-blob-public-access", answer->access, sizeof answer->access },
        { "x-ms-snapshot", answer->snapshot, sizeof answer->snapshot },
        { "x-ms-version-id", answer->version, sizeof answer->version },
        { "content-range", answer->range, sizeof answer->range },
        { "access-control-allow-origin", answer->origin, sizeof answer->origin },
        { "x-ms-blob-type", answer->kind, sizeof answer->kind },
        { "x-ms-access-tier", answer->tier, sizeof answer->tier },
        { "x-ms-archive-status", answer->archive_status, sizeof answer->archive_status },
        { "x-ms-copy-status", answer->copy_status, sizeof answer->copy_status },
    };
    char number[40];

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (bytes_is_nocase(header->name, texts[i].name))
            copy(texts[i].to, texts[i].size, header->value);
    }
    copy(number, sizeof number, header->value);
    if (bytes_is_nocase(header->name, "etag"))
        read_etag(header->value, answer);
    else if (bytes_is_nocase(header->name, "last-modified"))
        answer->modified_s = times_http_seconds(number);
    else if (bytes_is_nocase(header->name, "x-ms-is-current-version"))
        answer->is_current = strcmp(number, "true") == 0;
    else if (bytes_is_nocase(header->name, "x-ms-meta-v"))
        answer->metadata = (unsigned)strtoul(number, NULL, 10);
    else if (bytes_is_nocase(header->name, "x-ms-tag-count"))
        answer->tag_count = (unsigned)strtoul(number, NULL, 10);
    else if (bytes_is_nocase(header->name, "x-ms-lease-time"))
        answer->lease_time = (int)strtol(number, NULL, 10);
    else if (bytes_is_nocase(header->name, "x-ms-blob-append-offset"))
        answer->append_offset = strtoull(number, NULL, 10);
    else if (bytes_is_nocase(header->name, "x-ms-blob-committed-block-count"))
        answer->block_count = (unsigned)strtoul(number, NULL, 10);
    else if (bytes_is_nocase(header->name, "x-ms-blob-sequence-number"))
        answer->sequence = strtoull(number, NULL, 10);
    else if (bytes_is_nocase(header->name, "x-ms-blob-sealed"))
        answer->sealed = bytes_is(header->value, "true");
    else if (bytes_is_nocase(header->name, "x-ms-blob-content-length")) {
        answer->blob_length = strtoull(number, NULL, 10);
        answer->has_blob_length = true;
    }
    if (protect_is_on() || world->plan.service == SIM_PATH)
        protect_read_header(header, answer);
    if (sim_service()->read_header)
        sim_service()->read_header(header, answer);
}

static void read_head(const struct response *response, struct reply *answer)
{
    answer->status = response->status;
    for (size_t i = 0; i < response->header_count; i++)
        read_header(&response->headers[i], answer);
    switch (response->body_kind) {
    case BODY_NONE: /* of HEAD: what GET would have */
        answer->length = response->body_length;
        break;
    case BODY_BYTES:
        answer->length = response->body.len;
        break;
    case BODY_FILE:
    case BODY_SOURCE:
        answer->length = response->body_length;
        break;
    }
}

/* False: the connection is cut. */
static bool read_source(struct sent *sent, struct reply *answer)
{
    struct body_source *source = sent->exchange.response.source;
    unsigned pieces = 0;

    while (answer->body_size < answer->length) {
        size_t most = 32768;
        size_t room = (size_t)answer->length - answer->body_size;
        long got = source->read(source, answer->body_size, (char *)answer->body + answer->body_size,
                                room > most ? most : room);

        if (got == BODY_FAILED) {
            answer->was_cut = true;
            return false;
        }
        if (got == BODY_WAIT) {
            wait_for_resume(sent);
            continue;
        }
        assert((size_t)got <= room);
        answer->body_size += (size_t)got;
        if (sent->ask->stops_after > 0 && ++pieces >= sent->ask->stops_after)
            return true;
        if (sent->ask->pause_ns > 0)
            sched_sleep(sent->ask->pause_ns);
    }
    return true;
}

static bool read_body(struct sent *sent, struct reply *answer)
{
    const struct response *response = &sent->exchange.response;

    bool is_head = sent->exchange.request.method == METHOD_HEAD;

    if (!is_head && answer->length > (64u << 20))
        world_fail("an answer of %" PRIu64 " bytes", answer->length);
    answer->body = malloc(is_head ? 1 : (size_t)answer->length + 1);
    if (is_head)
        return true;
    if (response->body_kind == BODY_BYTES && answer->length > 0) {
        memcpy(answer->body, response->body.ptr, response->body.len);
        answer->body_size = response->body.len;
    } else if (response->body_kind == BODY_FILE) {
        if (sent->ask->pause_ns > 0)
            sched_sleep(sent->ask->pause_ns);
        else
            sched_point();
        if (files_peek(response->fd, answer->body, (size_t)answer->length,
                       (off_t)response->fd_offset) != (ssize_t)answer->length)
            world_fail("a body is to be sent from a file that does not have it");
        answer->body_size = (size_t)answer->length;
    } else if (response->body_kind == BODY_SOURCE) {
        return read_source(sent, answer);
    }
    return true;
}

/* The Table service says it in JSON alone. */
static void read_code(struct reply *answer)
{
    static const struct bytes before = BYTES("{\"odata.error\":{\"code\":\"");
    struct bytes body = bytes_of(answer->body, answer->body_size), code, rest;

    if (answer->code[0] || !answer->body || !bytes_has_prefix(body, before))
        return;
    bytes_cut(bytes_from(body, before.len), '"', &code, &rest);
    copy(answer->code, sizeof answer->code, code);
}

/* ---- the way through ---- */

static enum http_step send_body(struct sent *sent, size_t size)
{
    struct bytes left = bytes_of(sent->body, size);
    enum http_step step = HTTP_WANT_BODY;

    while (left.len > 0) {
        size_t piece = sent->ask->in_pieces && left.len > 9000 ? 9000 : left.len;
        size_t taken = 0;

        step = service_application.body(&sent->exchange, bytes_of(left.ptr, piece), &taken);
        left = bytes_from(left, taken);
        if (step == HTTP_WAIT) {
            wait_for_resume(sent);
            step = HTTP_WANT_BODY;
        } else if (step != HTTP_WANT_BODY) {
            return step;
        }
        if (sent->ask->in_pieces && sent->ask->goes_away && left.len > 0)
            return HTTP_CUT;
        if (sent->ask->in_pieces && sent->ask->pause_ns > 0)
            sched_sleep(sent->ask->pause_ns);
    }
    return HTTP_WANT_BODY;
}

/* After the last byte of the body end() follows, whether or not body() waited. */
static enum http_step run_steps(struct sent *sent, size_t size, bool *ret_gone)
{
    const struct http_application *application = &service_application;
    bool ending = false;
    enum http_step step = application->head(&sent->exchange);

    while (step == HTTP_WAIT) {
        wait_for_resume(sent);
        step = application->head(&sent->exchange);
    }
    if (step == HTTP_WANT_BODY) {
        step = send_body(sent, size);
        ending = step == HTTP_WANT_BODY;
    }
    if (ending)
        step = application->end(&sent->exchange);
    while (step == HTTP_WAIT) {
        wait_for_resume(sent);
        if (sent->ask->goes_away) {
            *ret_gone = true;
            return step;
        }
        step = application->end(&sent->exchange);
    }
    return step;
}

/* Through the application's callbacks: behind the http room. */
static void send_directly(struct sent *sent, size_t size, struct reply *answer)
{
    enum http_step step;
    bool gone = false;

    response_init(&sent->exchange.response, sent->exchange.arena);
    framing_begin(sent->slot, true);
    current_slot = (int)sent->slot;
    step = run_steps(sent, size, &gone);
    if (step == HTTP_RESPOND || gone)
        read_head(&sent->exchange.response, answer);
    if (step == HTTP_RESPOND && !gone)
        answer->came = read_body(sent, answer);
    service_application.done(&sent->exchange);
    current_slot = -1;
}

void request_send(struct server *server, unsigned slot, const struct ask *ask,
                  struct reply *ret_answer)
{
    struct sent *sent;
    struct reply answer = { .began_ns = world->now_ns, .commits_before = world->commits };
    size_t size;

    if (ask->smb.op != SM_NOTHING) {
        sm_request_send(slot, ask, ret_answer);
        return;
    }
    if (protect_is_of_operator(ask)) {
        protect_send(server, slot, ask, &answer);
        answer.body_whole = true;
        answer.commits_after = world->commits;
        answer.ended_ns = world->now_ns;
        *ret_answer = answer;
        return;
    }
    sent = calloc(1, sizeof *sent);
    sent->slot = slot;
    sent->ask = ask;
    sent->exchange.arena = arena_new(ARENA_MAX);
    make_request(sent, server, &size);
    throttle_sends(slot, size, sent->exchange.request.method & (METHOD_GET | METHOD_HEAD));
    if (goes_by_wire(slot, ask))
        wire_exchange(slot, ask, &sent->exchange.request, &sent->framing,
                      bytes_of(sent->body, size), read_header, &answer);
    else
        send_directly(sent, size, &answer);
    answer.body_whole = answer.body_size == answer.length;
    read_code(&answer);
    if (goes_by_wire(slot, ask))
        framing_judge(&sent->framing, ask, &answer);
    answer.commits_after = world->commits;
    answer.ended_ns = world->now_ns;
    arena_free(sent->exchange.arena);
    free(sent->body);
    free(sent);
    *ret_answer = answer;
}

void request_think(unsigned slot, uint64_t ns)
{
    if (sm_is_client(slot))
        sm_link_sleep(slot, ns);
    else
        sched_sleep(ns);
}

void request_leave(unsigned slot)
{
    if (sm_is_client(slot))
        sm_link_end(slot);
}

void answer_release(struct reply *answer)
{
    free(answer->body);
    answer->body = NULL;
}

static void format_page(const struct page_ask *page, char *to, size_t size)
{
    (void)snprintf(to, size, " include=%u prefix='%s'%s max=%u from=%u@%s%s", page->include,
                   list_prefixes[page->prefix], page->by_delimiter ? " by /" : "", page->max,
                   page->from, page->from_snapshot, page->marker[0] ? " by marker" : "");
}

void ask_format(const struct ask *ask, char *to, size_t size)
{
    size_t length;

    roles_format(ask, to, size);
    length = strlen(to);
    sim_service()->format(ask, to + length, size - length);
}

void ask_format_blob(const struct ask *ask, char *to, size_t size)
{
    static const char *const conditions[] = { "", " If-Match:tag", " If-Match:*",
                                              " If-None-Match:tag", " If-None-Match:*" };
    static const char *const signatures[] = {
        "",        " unsigned",  " signed wrongly",  " signed long ago",
        " by SAS", " by policy", " by a user's SAS", " by an account's SAS"
    };
    bool lists = ask->op == OP_LIST_BLOBS || ask->op == OP_LIST_CONTAINERS || ask->op == OP_FIND;
    char page[160] = "", dates[80] = "", range[160] = "", protection[120];

    if (lists)
        format_page(&ask->page, page, sizeof page);
    if (ask->has_range)
        (void)snprintf(range, sizeof range, " range=%u-%u", ask->range_from, ask->range_to);
    if (ask->op == OP_PUT_BLOB)
        (void)snprintf(range, sizeof range, " %s size=%u", kind_texts[ask->kind], ask->size);
    if (ask->op == OP_APPEND_BLOCK)
        (void)snprintf(range, sizeof range, " position=%d max=%d",
                       ask->has_position ? (int)ask->position : -1,
                       ask->has_size_max ? (int)ask->size_max : -1);
    if (ask->previous[0])
        (void)snprintf(range, sizeof range, " since %s", ask->previous);
    if (ask->op == OP_SET_ACL)
        (void)snprintf(range, sizeof range, " access=%u policies=%s,%s", ask->access,
                       sas_letters[ask->policies[0].letters],
                       sas_letters[ask->policies[1].letters]);
    if (ask->op == OP_COPY)
        (void)snprintf(range, sizeof range, " from %s/%s%s%s %" PRIX64 "%s",
                       ask->is_remote ? "elsewhere" : container_names[ask->source_container],
                       blob_names[ask->source_blob],
                       ask->source_is_version    ? "#"
                       : ask->source_snapshot[0] ? "@"
                                                 : "",
                       ask->source_snapshot, ask->source_etag,
                       ask->is_sync   ? " at once"
                       : ask->is_fast ? " fast"
                                      : "");
    if (ask->op == OP_SET_SERVICE)
        (void)snprintf(range, sizeof range, " keeps=%u versions=%d containers=%u", ask->retention,
                       ask->is_versioned, ask->container_retention);
    if (ask->op == OP_RESTORE_CONTAINER)
        (void)snprintf(range, sizeof range, " of %s", ask->deleted);
    if (ask->is_permanent)
        (void)snprintf(range, sizeof range, " for good");
    if (ask->op == OP_SET_TIER)
        (void)snprintf(range, sizeof range, " %s%s", tier_texts[ask->tier],
                       ask->is_fast ? " fast" : "");
    if (ask->modified_since || ask->unmodified_since)
        (void)snprintf(dates, sizeof dates, " since=%" PRId64 " unmodified=%" PRId64,
                       ask->modified_since, ask->unmodified_since);
    protect_format(ask, protection, sizeof protection);
    (void)snprintf(to, size,
                   "%s %s/%s%s%s%s%s%s%s%s%s%s%s sas=%u if_tag=%u tag=%u lease=%u meta=%u act=%d "
                   "proposed=%u dur=%d len=%u "
                   "block=%u",
                   op_names[ask->op], container_names[ask->container], blob_names[ask->blob],
                   ask->is_version    ? "#"
                   : ask->snapshot[0] ? "@"
                                      : "",
                   ask->snapshot, conditions[ask->condition], dates, range, protection,
                   signatures[ask->signature], ask->malformed ? " malformed:" : "",
                   ask->malformed ? ask->malformed->name : "", page, ask->sas, ask->if_tag,
                   ask->tag, ask->lease_id, ask->metadata, (int)ask->act, ask->proposed,
                   ask->duration_s, ask->content.length, ask->content.block);
}
