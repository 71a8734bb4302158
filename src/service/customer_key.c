/* See customer_key.h. */
#include "service/customer_key.h"

#include "base/encode.h"
#include "service/call.h"

/* rest: Version-2019-02-02 */
#define KEYS_SINCE "2019-02-02"

struct key_headers {
    const char *key, *hash, *algorithm;
};
static const struct key_headers of_blob = { "x-ms-encryption-key", "x-ms-encryption-key-sha256",
                                            "x-ms-encryption-algorithm" };
static const struct key_headers of_source = { "x-ms-source-encryption-key",
                                              "x-ms-source-encryption-key-sha256",
                                              "x-ms-source-encryption-algorithm" };

/* Refuses a key where it cannot be used, without echoing it. */
static enum error check_place(struct call *call, const struct key_headers *names)
{
    bool is_known = call_since(call, KEYS_SINCE);

    /* docs: "a client must establish a secure connection" */
    if (is_known && call->request->secure)
        return OK;
    (void)call_fail_header(call, E_UnsupportedHeader, names->key, bytes_from_string(""));
    return is_known ? call_fail(call, E_UnsupportedHeader, "Keys are accepted over HTTPS only.")
                    : call_fail(call, E_UnsupportedHeader, "Keys are supported since version %s.",
                                KEYS_SINCE);
}

static enum error check_algorithm(struct call *call, const struct key_headers *names,
                                  enum key_use use)
{
    struct bytes algorithm = call_header(call, names->algorithm);

    if (algorithm.len == 0 && use == KEY_READS)
        return OK;
    if (algorithm.len == 0)
        return call_fail_header(call, E_MissingRequiredHeader, names->algorithm, algorithm);
    return bytes_is(algorithm, "AES256")
               ? OK
               : call_fail_header(call, E_InvalidHeaderValue, names->algorithm, algorithm);
}

/* Decodes `size` bytes of base64. */
static enum error read_bytes(struct call *call, const char *name, uint8_t *to, size_t size)
{
    struct bytes text = call_header(call, name), value;

    if (text.len == 0)
        return call_fail_header(call, E_MissingRequiredHeader, name, bytes_of(NULL, 0));
    value = base64_decode(call->arena, text);
    if (!value.ptr || value.len != size)
        return call_fail_header(call, E_InvalidHeaderValue, name, text); /* recorded */
    memcpy(to, value.ptr, size);
    return OK;
}

static enum error read_key(struct call *call, const struct key_headers *names, enum key_use use,
                           const struct customer_key **ret_key)
{
    struct customer_key *key;
    uint8_t hash[KEY_HASH_SIZE];
    enum error e;

    if (!call_header(call, names->key).ptr && !call_header(call, names->hash).ptr)
        return OK;
    e = check_place(call, names);
    if (e)
        return e;
    key = arena_alloc(call->arena, sizeof *key);
    e = read_bytes(call, names->key, key->key, sizeof key->key);
    if (!e)
        e = read_bytes(call, names->hash, key->hash, sizeof key->hash);
    if (!e)
        e = check_algorithm(call, names, use);
    if (e)
        return e;
    key_hash(key->key, hash);
    if (!bytes_equal_secret(bytes_of(hash, sizeof hash), bytes_of(key->hash, sizeof key->hash)))
        return call_fail_header(call, E_InvalidHeaderValue, names->hash,
                                call_header(call, names->hash));
    data_salt_new(key->salt);
    *ret_key = key;
    return OK;
}

enum error customer_key_read(struct call *call, enum key_use use)
{
    enum error e = read_key(call, &of_blob, use, &call->input.key);

    /* Only pieces are encrypted, so no part of the body may be stored in a record. */
    if (!e && call->input.key)
        call->inline_max = 0;
    return e;
}

enum error customer_key_refuse(struct call *call)
{
    if (!call_header(call, of_blob.key).ptr && !call_header(call, of_blob.hash).ptr)
        return OK;
    return call_fail_header(call, E_UnsupportedHeader, of_blob.key, bytes_from_string(""));
}

enum error customer_key_of_source(struct call *call, const struct customer_key **ret_key)
{
    *ret_key = NULL;
    return read_key(call, &of_source, KEY_WRITES, ret_key);
}
