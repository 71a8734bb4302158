/* Strings to sign are made as the documentation has them. */
#include "sign.h"

#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/encode.h"

#define VERSION "2026-10-06"

bool signer_init(struct signer *signer, const char *host, const char *account, const char *key64)
{
    struct arena *arena;
    struct bytes key;

    *signer = (struct signer){ .host = host, .account = account };
    if (!account)
        return true;
    arena = arena_new(4096);
    key = base64_decode(arena, bytes_from_string(key64));
    if (key.ptr)
        hmac_sha256_set_key(&signer->key, key.len, (const uint8_t *)key.ptr);
    arena_free(arena);
    return key.ptr != NULL;
}

static const char *date_of(struct signer *signer)
{
    time_t now = time(NULL);
    struct tm utc;

    if (now != signer->date_of) {
        gmtime_r(&now, &utc);
        strftime(signer->date, sizeof signer->date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
        signer->date_of = now;
    }
    return signer->date;
}

/* x-ms-date and x-ms-version stand where the order of names puts them. */
static size_t all_ms(struct signer *signer, const struct draft *draft, struct pair *to)
{
    const struct pair own[] = { { "x-ms-date", date_of(signer) }, { "x-ms-version", VERSION } };
    size_t count = 0, next = 0;

    for (size_t i = 0; i < PAIRS_MAX && draft->ms[i].name; i++) {
        while (next < 2 && strcmp(own[next].name, draft->ms[i].name) < 0)
            to[count++] = own[next++];
        to[count++] = draft->ms[i];
    }
    while (next < 2)
        to[count++] = own[next++];
    return count;
}

/* printf() would cost as much as the rest of a request. */
static void add_all(struct text *text, const char *const *strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_add_string(text, strings[i]);
}
#define ADD(text, ...)                                                                             \
    add_all(text, (const char *const[]){ __VA_ARGS__ },                                            \
            sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static const char *or_empty(const char *string)
{
    return string ? string : "";
}

static struct bytes string_to_sign(const struct signer *signer, struct arena *arena,
                                   const struct draft *draft, const struct pair *ms, size_t count)
{
    struct text text;

    text_init(&text, arena, 512);
    ADD(&text, draft->method, "\n\n\n");
    if (draft->body.len > 0)
        text_add_u64(&text, draft->body.len);
    ADD(&text, "\n\n", or_empty(draft->content_type), "\n\n\n", or_empty(draft->if_match),
        "\n\n\n\n");
    for (size_t i = 0; i < count; i++)
        ADD(&text, ms[i].name, ":", ms[i].value, "\n");
    ADD(&text, "/", signer->account, "/", signer->account, "/", draft->path);
    for (size_t i = 0; i < PAIRS_MAX && draft->query[i].name; i++)
        ADD(&text, "\n", draft->query[i].name, ":", draft->query[i].value);
    return text_bytes(&text);
}

/* rest: Authorize-with-Shared-Key "Table service (Shared Key authorization)" */
static struct bytes table_string_to_sign(const struct signer *signer, struct arena *arena,
                                         const struct draft *draft)
{
    struct text text;

    text_init(&text, arena, 512);
    ADD(&text, draft->method, "\n\n", or_empty(draft->content_type), "\n", signer->date, "\n/",
        signer->account, "/", signer->account, "/", draft->path);
    return text_bytes(&text);
}

static void add_signature(struct signer *signer, struct arena *arena, struct text *head,
                          struct bytes string)
{
    uint8_t mac[SHA256_DIGEST_SIZE];

    hmac_sha256_update(&signer->key, string.len, (const uint8_t *)string.ptr);
    hmac_sha256_digest(&signer->key, sizeof mac, mac);
    ADD(head, "Authorization: SharedKey ", signer->account, ":");
    text_add(head, base64_encode(arena, bytes_of(mac, sizeof mac)));
    text_add_string(head, "\r\n");
}

/* rest: Create-account-SAS "Construct the signature string" */
static void add_sas(struct signer *signer, struct arena *arena, struct text *head)
{
    uint8_t mac[SHA256_DIGEST_SIZE];
    struct bytes string =
        arena_printf(arena, "%s\nr\nb\no\n\n2099-01-01\n\n\n" VERSION "\n\n", signer->account);

    hmac_sha256_update(&signer->key, string.len, (const uint8_t *)string.ptr);
    hmac_sha256_digest(&signer->key, sizeof mac, mac);
    text_add_string(head, "?sv=" VERSION "&ss=b&srt=o&se=2099-01-01&sp=r&sig=");
    text_add(head, percent_encode(arena, base64_encode(arena, bytes_of(mac, sizeof mac)), ""));
}

static void add_request_line(struct signer *signer, struct arena *arena, struct text *head,
                             const struct draft *draft)
{
    ADD(head, draft->method, " /");
    if (signer->account)
        ADD(head, signer->account, "/");
    text_add_string(head, draft->path);
    for (size_t i = 0; i < PAIRS_MAX && draft->query[i].name; i++) {
        ADD(head, i == 0 ? "?" : "&", draft->query[i].name, "=");
        text_add(head, percent_encode(arena, bytes_from_string(draft->query[i].value), ""));
    }
    if (draft->sas)
        add_sas(signer, arena, head);
    ADD(head, " HTTP/1.1\r\nHost: ", signer->host, "\r\n");
}

struct bytes signed_request(struct signer *signer, struct arena *arena, const struct draft *draft)
{
    struct pair ms[PAIRS_MAX + 2];
    size_t count;
    struct text head;

    if (signer->secret)
        return s3_request(signer, arena, draft);
    count = all_ms(signer, draft, ms);
    text_init(&head, arena, 768);
    add_request_line(signer, arena, &head, draft);
    if (signer->account && !draft->sas) {
        for (size_t i = 0; i < count; i++)
            ADD(&head, ms[i].name, ": ", ms[i].value, "\r\n");
        struct bytes string = draft->of_table ? table_string_to_sign(signer, arena, draft)
                                              : string_to_sign(signer, arena, draft, ms, count);

        add_signature(signer, arena, &head, string);
    }
    if (draft->content_type)
        ADD(&head, "Content-Type: ", draft->content_type, "\r\n");
    if (draft->if_match)
        ADD(&head, "If-Match: ", draft->if_match, "\r\n");
    for (size_t i = 0; i < OTHERS_MAX && draft->others[i].name; i++)
        ADD(&head, draft->others[i].name, ": ", draft->others[i].value, "\r\n");
    if (strcmp(draft->method, "GET") != 0) {
        text_add_string(&head, "Content-Length: ");
        text_add_u64(&head, draft->body.len);
        text_add_string(&head, "\r\n");
    }
    text_add_string(&head, "\r\n");
    return text_bytes(&head);
}
