/* rest: Create-service-SAS, Create-account-SAS, Create-user-delegation-SAS */
#include "sas.h"

#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>

#include "roles.h"
#include "sas_terms.h"

#define SAS_SIGNED_VERSION "2020-08-04"
#define USER_TID           "bbbbbbbb-1111-4111-8111-111111111111"

/* A start, and an expiry, of each moment: no expiry lies before its start. */
static const char *const starts[MOMENTS] = { "", "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z" };
static const char *const expiries[MOMENTS] = { "", "2021-01-01T00:00:00Z", "2100-01-01T00:00:00Z" };
static const char *const addresses[] = { "", "127.0.0.1", "126.0.0.0-127.0.0.1", "127.0.0.2",
                                         "127.0.0.2-128.0.0.0" };
static const char *const protocols[] = { "", "https,http", "https" };

/* The parameters before the signature, and what is signed. */
struct unsigned_sas {
    char query[500], plain[600];
};

static void of_container(const struct ask *ask, struct unsigned_sas *sas)
{
    const struct sas_terms *terms = &ask->terms;
    bool by_policy = ask->signature == SIGNED_BY_POLICY;
    const char *letters = sas_letters[by_policy ? terms->letters : ask->sas];
    char policy[8] = "";

    if (by_policy)
        (void)snprintf(policy, sizeof policy, "p%u", ask->sas);
    (void)snprintf(sas->plain, sizeof sas->plain,
                   "%s\n%s\n%s\n/blob/" DEVELOPMENT_ACCOUNT "/%s\n%s\n%s\n%s\n" SAS_SIGNED_VERSION
                   "\nc\n\n\n\n\n\n",
                   letters, starts[terms->start], expiries[terms->expiry],
                   container_names[ask->container], policy, addresses[terms->address],
                   protocols[terms->protocol]);
    (void)snprintf(sas->query, sizeof sas->query, "sr=c%s%s%s%s", policy[0] ? "&si=" : "", policy,
                   letters[0] ? "&sp=" : "", letters);
}

/* Of a user who, in a run without roles, may do everything. */
static void of_user(const struct ask *ask, struct unsigned_sas *sas)
{
    const char *letters = sas_letters[ask->sas];
    const struct sas_terms *terms = &ask->terms;
    const char *start = starts[terms->key_start], *expiry = expiries[terms->key_expiry];
    const char *oid = roles_principal(ask->token);

    (void)snprintf(
        sas->plain, sizeof sas->plain,
        "%s\n%s\n%s\n/blob/" DEVELOPMENT_ACCOUNT "/%s\n%s\n" USER_TID
        "\n%s\n%s\nb\n" SAS_SIGNED_VERSION "\n\n\n\n%s\n%s\n" SAS_SIGNED_VERSION "\nc\n\n\n\n\n\n",
        letters, starts[terms->start], expiries[terms->expiry], container_names[ask->container],
        oid, start, expiry, addresses[terms->address], protocols[terms->protocol]);
    (void)snprintf(sas->query, sizeof sas->query,
                   "sr=c&sp=%s&skoid=%s&sktid=" USER_TID
                   "&skt=%s&ske=%s&sks=b&skv=" SAS_SIGNED_VERSION,
                   letters, oid, start, expiry);
}

static void of_account(const struct ask *ask, struct unsigned_sas *sas)
{
    const char *letters = sas_letters[ask->sas], *types = account_sas_types[ask->sas_types];
    const struct sas_terms *terms = &ask->terms;

    (void)snprintf(sas->plain, sizeof sas->plain,
                   DEVELOPMENT_ACCOUNT "\n%s\nb\n%s\n%s\n%s\n%s\n%s\n" SAS_SIGNED_VERSION "\n",
                   letters, types, starts[terms->start], expiries[terms->expiry],
                   addresses[terms->address], protocols[terms->protocol]);
    (void)snprintf(sas->query, sizeof sas->query, "ss=b&srt=%s&sp=%s", types, letters);
}

/* What Get User Delegation Key gives for these times. */
static struct hmac_sha256_ctx user_key(const struct ask *ask, const struct account *account,
                                       struct arena *arena)
{
    const struct sas_terms *terms = &ask->terms;
    struct delegation_key key = { .oid = bytes_from_string(roles_principal(ask->token)),
                                  .tid = bytes_from_string(USER_TID),
                                  .service = bytes_from_string("b"),
                                  .version = bytes_from_string(SAS_SIGNED_VERSION) };
    uint8_t value[DELEGATION_KEY_SIZE];
    struct hmac_sha256_ctx context;

    (void)instant_parse_iso(bytes_from_string(starts[terms->key_start]), &key.start);
    (void)instant_parse_iso(bytes_from_string(expiries[terms->key_expiry]), &key.expiry);
    account_delegation_key(account, arena, &key, value);
    hmac_sha256_set_key(&context, sizeof value, value);
    return context;
}

static void add_terms(const struct sas_terms *terms, struct text *query)
{
    if (terms->start)
        text_printf(query, "&st=%s", starts[terms->start]);
    if (terms->expiry)
        text_printf(query, "&se=%s", expiries[terms->expiry]);
    if (terms->address)
        text_printf(query, "&sip=%s", addresses[terms->address]);
    if (terms->protocol)
        text_printf(query, "&spr=%s", protocols[terms->protocol]);
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
        context = user_key(ask, account, query->arena);
    } else if (ask->signature == SIGNED_BY_ACCOUNT_SAS) {
        of_account(ask, &sas);
    } else {
        of_container(ask, &sas);
    }
    hmac_sha256_update(&context, strlen(sas.plain), (const uint8_t *)sas.plain);
    hmac_sha256_digest(&context, sizeof digest, digest);
    base64_encode_raw(text64, sizeof digest, digest);
    text64[sizeof text64 - 1] = '\0';
    text_printf(query, "sv=" SAS_SIGNED_VERSION "&%s", sas.query);
    add_terms(&ask->terms, query);
    text_add_string(query, "&sig=");
    for (const char *at = text64; *at; at++) {
        if (*at == '+' || *at == '/' || *at == '=')
            text_printf(query, "%%%02X", (unsigned)*at);
        else
            text_add_char(query, *at);
    }
}

bool sas_is_in_time(const struct ask *ask)
{
    const struct sas_terms *terms = &ask->terms;

    return terms->start != FAR_AHEAD && terms->expiry != LONG_PAST &&
           (ask->signature != SIGNED_BY_USER ||
            (terms->key_start != FAR_AHEAD && terms->key_expiry != LONG_PAST));
}

const char *sas_refuses_peer(const struct ask *ask)
{
    if (ask->terms.protocol == HTTPS_ALONE)
        return "AuthorizationProtocolMismatch";
    return ask->terms.address >= OTHER_ADDRESS ? "AuthorizationSourceIPMismatch" : NULL;
}

void sas_format_policy(const struct stored_policy *policy, bool as_shown, char *to, size_t size)
{
    const char *const dates[] = { starts[policy->start], expiries[policy->expiry] };
    static const char *const names[] = { "Start", "Expiry" };
    int used;

    if (as_shown && !policy->start && !policy->expiry && !policy->letters) {
        (void)snprintf(to, size, "</SignedIdentifier>");
        return;
    }
    used = snprintf(to, size, "<AccessPolicy>");
    for (unsigned i = 0; i < 2; i++) {
        if (dates[i][0])
            used += snprintf(to + used, size - (size_t)used, "<%s>%.19s%s</%s>", names[i], dates[i],
                             as_shown ? ".0000000Z" : "Z", names[i]);
    }
    if (policy->letters > 0)
        used += snprintf(to + used, size - (size_t)used, "<Permission>%s</Permission>",
                         sas_letters[policy->letters]);
    (void)snprintf(to + used, size - (size_t)used, "</AccessPolicy>");
}
