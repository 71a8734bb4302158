/* rest: Create-service-SAS, Create-account-SAS, Create-user-delegation-SAS */
#include "sas.h"

#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>

#define SAS_SIGNED_VERSION "2020-08-04"
#define SAS_EXPIRY         "2100-01-01T00:00:00Z"
#define KEY_START          "2020-01-01T00:00:00Z"
#define USER_OID           "aaaaaaaa-1111-4111-8111-111111111111"
#define USER_TID           "bbbbbbbb-1111-4111-8111-111111111111"

/* The parameters before the signature, and what is signed. */
struct unsigned_sas {
    char query[400], plain[600];
};

static void of_container(const struct ask *ask, struct unsigned_sas *sas)
{
    const char *letters = ask->signature == SIGNED_BY_SAS ? sas_letters[ask->sas] : "";
    char policy[8] = "";

    if (ask->signature == SIGNED_BY_POLICY)
        (void)snprintf(policy, sizeof policy, "p%u", ask->sas);
    (void)snprintf(sas->plain, sizeof sas->plain,
                   "%s\n\n" SAS_EXPIRY "\n/blob/" DEVELOPMENT_ACCOUNT
                   "/%s\n%s\n\n\n" SAS_SIGNED_VERSION "\nc\n\n\n\n\n\n",
                   letters, container_names[ask->container], policy);
    (void)snprintf(sas->query, sizeof sas->query, "sr=c&%s=%s", policy[0] ? "si" : "sp",
                   policy[0] ? policy : letters);
}

/* Of a user who, as the server is set up, may do everything. */
static void of_user(const struct ask *ask, struct unsigned_sas *sas)
{
    const char *letters = sas_letters[ask->sas];

    (void)snprintf(sas->plain, sizeof sas->plain,
                   "%s\n\n" SAS_EXPIRY "\n/blob/" DEVELOPMENT_ACCOUNT "/%s\n" USER_OID "\n" USER_TID
                   "\n" KEY_START "\n" SAS_EXPIRY "\nb\n" SAS_SIGNED_VERSION
                   "\n\n\n\n\n\n" SAS_SIGNED_VERSION "\nc\n\n\n\n\n\n",
                   letters, container_names[ask->container]);
    (void)snprintf(sas->query, sizeof sas->query,
                   "sr=c&sp=%s&skoid=" USER_OID "&sktid=" USER_TID "&skt=" KEY_START
                   "&ske=" SAS_EXPIRY "&sks=b&skv=" SAS_SIGNED_VERSION,
                   letters);
}

static void of_account(const struct ask *ask, struct unsigned_sas *sas)
{
    const char *letters = sas_letters[ask->sas], *types = account_sas_types[ask->sas_types];

    (void)snprintf(sas->plain, sizeof sas->plain,
                   DEVELOPMENT_ACCOUNT "\n%s\nb\n%s\n\n" SAS_EXPIRY "\n\n\n" SAS_SIGNED_VERSION
                                       "\n",
                   letters, types);
    (void)snprintf(sas->query, sizeof sas->query, "ss=b&srt=%s&sp=%s", types, letters);
}

/* What Get User Delegation Key gives for these times. */
static struct hmac_sha256_ctx user_key(const struct account *account, struct arena *arena)
{
    struct delegation_key key = { .oid = bytes_from_string(USER_OID),
                                  .tid = bytes_from_string(USER_TID),
                                  .service = bytes_from_string("b"),
                                  .version = bytes_from_string(SAS_SIGNED_VERSION) };
    uint8_t value[DELEGATION_KEY_SIZE];
    struct hmac_sha256_ctx context;

    (void)instant_parse_iso(bytes_from_string(KEY_START), &key.start);
    (void)instant_parse_iso(bytes_from_string(SAS_EXPIRY), &key.expiry);
    account_delegation_key(account, arena, &key, value);
    hmac_sha256_set_key(&context, sizeof value, value);
    return context;
}

void sas_add(const struct ask *ask, const struct hmac_sha256_ctx *key,
             const struct account *account, struct text *query)
{
    struct hmac_sha256_ctx context = *key;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text64[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1];
    struct unsigned_sas sas;

    if (ask->signature == SIGNED_BY_USER) {
        of_user(ask, &sas);
        context = user_key(account, query->arena);
    } else if (ask->signature == SIGNED_BY_ACCOUNT_SAS) {
        of_account(ask, &sas);
    } else {
        of_container(ask, &sas);
    }
    hmac_sha256_update(&context, strlen(sas.plain), (const uint8_t *)sas.plain);
    hmac_sha256_digest(&context, sizeof digest, digest);
    base64_encode_raw(text64, sizeof digest, digest);
    text64[sizeof text64 - 1] = '\0';
    text_printf(query, "sv=" SAS_SIGNED_VERSION "&se=" SAS_EXPIRY "&%s&sig=", sas.query);
    for (const char *at = text64; *at; at++) {
        if (*at == '+' || *at == '/' || *at == '=')
            text_printf(query, "%%%02X", (unsigned)*at);
        else
            text_add_char(query, *at);
    }
}
