/* Signature Version 4 of Amazon S3, for radosgw: docs.aws.amazon.com "Authenticating Requests: Using the Authorization
 * Header". Bodies are not signed (UNSIGNED-PAYLOAD), which spares the server their SHA-256. */
#include <nettle/base16.h>
#include <string.h>

#include "base/encode.h"
#include "sign.h"

#define REGION   "us-east-1"
#define SCOPE    "/" REGION "/s3/aws4_request"
#define SIGNED   "host;x-amz-content-sha256;x-amz-date"
#define UNSIGNED "UNSIGNED-PAYLOAD"
#define HEX_SIZE (2 * SHA256_DIGEST_SIZE + 1)

static void mac(const uint8_t *key, size_t key_length, struct bytes text,
                uint8_t ret_mac[SHA256_DIGEST_SIZE])
{
    struct hmac_sha256_ctx context;

    hmac_sha256_set_key(&context, key_length, key);
    hmac_sha256_update(&context, text.len, (const uint8_t *)text.ptr);
    hmac_sha256_digest(&context, SHA256_DIGEST_SIZE, ret_mac);
}

static void to_hex(const uint8_t bytes[SHA256_DIGEST_SIZE], char ret_hex[HEX_SIZE])
{
    base16_encode_update(ret_hex, SHA256_DIGEST_SIZE, bytes);
    ret_hex[HEX_SIZE - 1] = '\0';
}

/* The key of a day. */
static void day_key(const struct signer *signer, struct arena *arena, const char *day,
                    uint8_t ret_key[SHA256_DIGEST_SIZE])
{
    struct bytes secret = arena_printf(arena, "AWS4%s", signer->secret);

    mac((const uint8_t *)secret.ptr, secret.len, bytes_from_string(day), ret_key);
    mac(ret_key, SHA256_DIGEST_SIZE, bytes_from_string(REGION), ret_key);
    mac(ret_key, SHA256_DIGEST_SIZE, bytes_from_string("s3"), ret_key);
    mac(ret_key, SHA256_DIGEST_SIZE, bytes_from_string("aws4_request"), ret_key);
}

static struct bytes query_of(struct arena *arena, const struct draft *draft)
{
    struct text query;

    text_init(&query, arena, 128);
    for (size_t i = 0; i < PAIRS_MAX && draft->query[i].name; i++) {
        text_add_string(&query, i == 0 ? "" : "&");
        text_add_string(&query, draft->query[i].name);
        text_add_string(&query, "=");
        text_add(&query, percent_encode(arena, bytes_from_string(draft->query[i].value), ""));
    }
    return text_bytes(&query);
}

static void signature(const struct signer *signer, struct arena *arena, const char *date,
                      const char *day, struct bytes canonical, char ret_hex[HEX_SIZE])
{
    uint8_t key[SHA256_DIGEST_SIZE], digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;

    sha256_init(&sha);
    sha256_update(&sha, canonical.len, (const uint8_t *)canonical.ptr);
    sha256_digest(&sha, sizeof digest, digest);
    to_hex(digest, ret_hex);
    day_key(signer, arena, day, key);
    mac(key, sizeof key,
        arena_printf(arena, "AWS4-HMAC-SHA256\n%s\n%s" SCOPE "\n%s", date, day, ret_hex), digest);
    to_hex(digest, ret_hex);
}

void signer_init_s3(struct signer *signer, const char *host, const char *access_key,
                    const char *secret)
{
    *signer = (struct signer){ .host = host, .account = access_key, .secret = secret };
}

struct bytes s3_request(const struct signer *signer, struct arena *arena, const struct draft *draft)
{
    time_t now = time(NULL);
    struct tm utc;
    char date[20], day[12], hex[HEX_SIZE];
    struct bytes query = query_of(arena, draft), canonical;

    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &utc);
    strftime(day, sizeof day, "%Y%m%d", &utc);
    canonical =
        arena_printf(arena,
                     "%s\n/%s\n%.*s\nhost:%s\nx-amz-content-sha256:" UNSIGNED
                     "\nx-amz-date:%s\n\n" SIGNED "\n" UNSIGNED,
                     draft->method, draft->path, (int)query.len, query.ptr, signer->host, date);
    signature(signer, arena, date, day, canonical, hex);
    return arena_printf(
        arena,
        "%s /%s%s%.*s HTTP/1.1\r\nHost: %s\r\nx-amz-content-sha256: " UNSIGNED
        "\r\nx-amz-date: %s\r\nAuthorization: AWS4-HMAC-SHA256 Credential=%s/%s" SCOPE
        ",SignedHeaders=" SIGNED ",Signature=%s\r\nContent-Length: %zu\r\n\r\n",
        draft->method, draft->path, query.len > 0 ? "?" : "", (int)query.len, query.ptr,
        signer->host, date, signer->account, day, hex, draft->body.len);
}
