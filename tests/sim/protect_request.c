/* Headers of protection and of keys, and the operator's requests, which go through no connection. */
#include "protect.h"

#include <inttypes.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "base/dates.h"
#include "base/errors.h"
#include "request/cell_request.h"
#include "request/internal_request.h"
#include "times.h"
#include "world.h"

#define ARENA_MAX (1u << 20)

static const char *const mode_texts[] = { "", "unlocked", "locked" };
static const char *const append_texts[] = { "none", "append-blobs", "all" };
static const char *const change_texts[PROTECT_CHANGES] = {
    "versions", "policy", "lock", "extend", "remove", "hold", "release", "close", "open",
};

/* ---- headers ---- */

static struct http_header header(const char *name, struct bytes value)
{
    const struct bytes text = bytes_from_string(name);

    return (struct http_header){ .name = text, .value = value, .name_as_sent = text };
}

/* 32 bytes in base64. */
static struct bytes encoded(struct arena *arena, const uint8_t bytes[32])
{
    char *text = arena_bytes(arena, BASE64_ENCODE_RAW_LENGTH(32));

    base64_encode_raw(text, 32, bytes);
    return bytes_of(text, BASE64_ENCODE_RAW_LENGTH(32));
}

static void make_key(unsigned number, uint8_t to[32])
{
    for (unsigned i = 0; i < 32; i++)
        to[i] = (uint8_t)(world_mix(number * 32 + i + 77) >> 11);
}

static unsigned add_key(unsigned number, bool writes, struct arena *arena, struct http_header *to)
{
    uint8_t key[32], hash[SHA256_DIGEST_SIZE];
    struct sha256_ctx context;
    unsigned count = 0;

    make_key(number, key);
    sha256_init(&context);
    sha256_update(&context, sizeof key, key);
    sha256_digest(&context, sizeof hash, hash);
    to[count++] = header("x-ms-encryption-key", encoded(arena, key));
    to[count++] = header("x-ms-encryption-key-sha256", encoded(arena, hash));
    if (writes)
        to[count++] = header("x-ms-encryption-algorithm", bytes_from_string("AES256"));
    return count;
}

static struct bytes date(struct arena *arena, int64_t unix_s)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(INSTANT_UNIX_EPOCH + (uint64_t)unix_s * TICKS_PER_SECOND, text);
    return arena_copy(arena, bytes_from_string(text));
}

static bool is_read(enum op op)
{
    return op == OP_GET_BLOB || op == OP_HEAD_BLOB || op == OP_GET_METADATA;
}

unsigned protect_headers(const struct ask *ask, struct arena *arena, struct http_header *to)
{
    const struct protect_ask *p = &ask->protect;
    unsigned count = 0;

    if (p->has_policy)
        to[count++] = header("x-ms-immutability-policy-until-date", date(arena, p->until_s));
    if (p->has_policy && p->has_mode)
        to[count++] =
            header("x-ms-immutability-policy-mode", bytes_from_string(mode_texts[p->mode]));
    if (p->has_hold)
        to[count++] = header("x-ms-legal-hold", bytes_from_string(p->hold ? "true" : "false"));
    if (p->key > 0)
        count += add_key(p->key, !is_read(ask->op), arena, to + count);
    return count;
}

void protect_read_header(const struct http_header *header, struct reply *reply)
{
    struct protect_reply *p = &reply->protect;
    bool is_true = bytes_is(header->value, "true");
    char text[40];

    (void)snprintf(text, sizeof text, "%.*s", BYTES_ARG(header->value));
    if (bytes_is_nocase(header->name, "x-ms-immutability-policy-until-date"))
        p->until_s = times_http_seconds(text);
    else if (bytes_is_nocase(header->name, "x-ms-immutability-policy-mode"))
        p->mode = strcmp(text, mode_texts[LOCKED]) == 0 ? LOCKED : UNLOCKED;
    else if (bytes_is_nocase(header->name, "x-ms-legal-hold"))
        p->has_hold = is_true;
    else if (bytes_is_nocase(header->name, "x-ms-has-immutability-policy"))
        p->container_has_policy = is_true;
    else if (bytes_is_nocase(header->name, "x-ms-has-legal-hold"))
        p->container_has_hold = is_true;
    else if (bytes_is_nocase(header->name, "x-ms-immutable-storage-with-versioning-enabled"))
        p->container_has_versions = is_true;
    else if (bytes_is_nocase(header->name, "x-ms-encryption-key-sha256"))
        p->has_key = true;
}

/* ---- the operator ---- */

bool protect_is_of_operator(const struct ask *ask)
{
    return ask->op == OP_PROTECT || ask->op == OP_SHOW_PROTECTION || ask->protect.by_operator ||
           ask->path.op == PATH_HOLD;
}

static const char *container_of(const struct ask *ask)
{
    return ask->path.op == PATH_HOLD ? path_filesystems[path_filesystem_of(ask->path.place)]
                                     : container_names[ask->container];
}

static struct bytes tags_of(struct arena *arena, unsigned bits)
{
    struct text text;

    text_init(&text, arena, 64);
    for (unsigned i = 0; i < HOLD_TAGS; i++)
        if (bits >> i & 1)
            text_printf(&text, "%scase%u", text.len > 0 ? "," : "", i);
    return text_bytes(&text);
}

static size_t add_change(const struct protect_ask *ask, struct arena *arena, struct http_header *to)
{
    bool has_days = ask->change == CHANGE_POLICY || ask->change == CHANGE_EXTEND;
    bool has_tags = ask->change == CHANGE_HOLD || ask->change == CHANGE_RELEASE;
    size_t count = 0;

    to[count++] = header("x-ms-protection-change", bytes_from_string(change_texts[ask->change]));
    if (has_days)
        to[count++] = header("x-ms-protection-days", arena_printf(arena, "%u", ask->days));
    if (ask->change == CHANGE_POLICY || ask->change == CHANGE_HOLD)
        to[count++] =
            header("x-ms-protection-append", bytes_from_string(append_texts[ask->append]));
    if (has_tags)
        to[count++] = header("x-ms-protection-tags", tags_of(arena, ask->tags));
    return count;
}

static void read_response(const struct internal_response *response, struct reply *reply)
{
    struct bytes body = response->response.body;

    reply->came = true;
    reply->status = response->error ? error_status(response->error) : response->response.status;
    if (response->error)
        (void)snprintf(reply->code, sizeof reply->code, "%s", error_code(response->error));
    reply->body_size = response->error ? 0 : body.len;
    reply->length = reply->body_size;
    reply->body = malloc(reply->body_size + 1);
    if (reply->body_size > 0)
        memcpy(reply->body, body.ptr, body.len);
}

void protect_send(struct server *server, unsigned slot, const struct ask *ask, struct reply *reply)
{
    struct arena *arena = arena_new(ARENA_MAX);
    const bool changes = ask->op == OP_PROTECT || ask->path.op == PATH_HOLD;
    struct http_header headers[4];
    struct internal_request asked = {
        .method = changes                          ? METHOD_PUT
                  : ask->op == OP_DELETE_CONTAINER ? METHOD_DELETE
                                                   : METHOD_GET,
        .path = arena_printf(arena, "/" DEVELOPMENT_ACCOUNT "/%s", container_of(ask)),
        .query =
            bytes_from_string(ask->op == OP_DELETE_CONTAINER ? "restype=container"
                                                             : "restype=container&comp=protection"),
        .headers = headers,
    };
    struct internal_response response;

    if (changes)
        asked.header_count = add_change(&ask->protect, arena, headers);
    framing_begin(slot, true);
    request_set_slot((int)slot);
    cell_request_run(server_tag(server), arena, &asked, &response);
    request_set_slot(-1);
    read_response(&response, reply);
    arena_free(arena);
}

/* ---- for failures and verbose runs ---- */

void protect_format(const struct ask *ask, char *to, size_t size)
{
    const struct protect_ask *p = &ask->protect;
    size_t length = 0;

    to[0] = '\0';
    if (ask->op == OP_PROTECT)
        length =
            (size_t)snprintf(to, size, " %s days=%u append=%s tags=%x", change_texts[p->change],
                             p->days, append_texts[p->append], p->tags);
    if (p->by_operator)
        length = (size_t)snprintf(to, size, " by the operator");
    if (p->has_policy)
        length += (size_t)snprintf(to + length, size - length, " until %" PRId64 " %s", p->until_s,
                                   p->has_mode ? mode_texts[p->mode] : "");
    if (p->has_hold)
        length += (size_t)snprintf(to + length, size - length, " hold=%d", p->hold);
    if (p->key > 0)
        (void)snprintf(to + length, size - length, " key=%u", p->key);
}
