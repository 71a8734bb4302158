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

static struct bytes string_to_sign(const struct signer *signer, struct arena *arena,
                                   const struct draft *draft, const struct pair *ms, size_t count)
{
    struct text text;

    text_init(&text, arena, 512);
    text_printf(&text, "%s\n\n\n", draft->method);
    if (draft->body.len > 0)
        text_add_u64(&text, draft->body.len);
    text_printf(&text, "\n\n%s\n\n\n%s\n\n\n\n", draft->content_type ? draft->content_type : "",
                draft->if_match ? draft->if_match : "");
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s:%s\n", ms[i].name, ms[i].value);
    text_printf(&text, "/%s/%s/%s", signer->account, signer->account, draft->path);
    for (size_t i = 0; i < PAIRS_MAX && draft->query[i].name; i++)
        text_printf(&text, "\n%s:%s", draft->query[i].name, draft->query[i].value);
    return text_bytes(&text);
}

/* rest: Authorize-with-Shared-Key "Table service (Shared Key authorization)" */
static struct bytes table_string_to_sign(const struct signer *signer, struct arena *arena,
                                         const struct draft *draft)
{
    return arena_printf(arena, "%s\n\n%s\n%s\n/%s/%s/%s", draft->method,
                        draft->content_type ? draft->content_type : "", signer->date,
                        signer->account, signer->account, draft->path);
}

static void add_signature(struct signer *signer, struct arena *arena, struct text *head,
                          struct bytes string)
{
    uint8_t mac[SHA256_DIGEST_SIZE];

    hmac_sha256_update(&signer->key, string.len, (const uint8_t *)string.ptr);
    hmac_sha256_digest(&signer->key, sizeof mac, mac);
    text_printf(head, "Authorization: SharedKey %s:", signer->account);
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
    text_printf(head, "%s /", draft->method);
    if (signer->account)
        text_printf(head, "%s/", signer->account);
    text_add_string(head, draft->path);
    for (size_t i = 0; i < PAIRS_MAX && draft->query[i].name; i++) {
        text_printf(head, "%c%s=", i == 0 ? '?' : '&', draft->query[i].name);
        text_add(head, percent_encode(arena, bytes_from_string(draft->query[i].value), ""));
    }
    if (draft->sas)
        add_sas(signer, arena, head);
    text_printf(head, " HTTP/1.1\r\nHost: %s\r\n", signer->host);
}

struct bytes signed_request(struct signer *signer, struct arena *arena, const struct draft *draft)
{
    struct pair ms[PAIRS_MAX + 2];
    size_t count = all_ms(signer, draft, ms);
    struct text head;

    text_init(&head, arena, 768);
    add_request_line(signer, arena, &head, draft);
    if (signer->account && !draft->sas) {
        for (size_t i = 0; i < count; i++)
            text_printf(&head, "%s: %s\r\n", ms[i].name, ms[i].value);
        struct bytes string = draft->of_table ? table_string_to_sign(signer, arena, draft)
                                              : string_to_sign(signer, arena, draft, ms, count);

        add_signature(signer, arena, &head, string);
    }
    if (draft->content_type)
        text_printf(&head, "Content-Type: %s\r\n", draft->content_type);
    if (draft->if_match)
        text_printf(&head, "If-Match: %s\r\n", draft->if_match);
    for (size_t i = 0; i < OTHERS_MAX && draft->others[i].name; i++)
        text_printf(&head, "%s: %s\r\n", draft->others[i].name, draft->others[i].value);
    if (strcmp(draft->method, "GET") != 0)
        text_printf(&head, "Content-Length: %zu\r\n", draft->body.len);
    text_add_string(&head, "\r\n");
    return text_bytes(&head);
}
