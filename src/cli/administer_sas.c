/* `lagra sas`. If a key is given in a file or the environment, this process computes the signature.
 * Otherwise the server that runs on the data directory computes it with the account's key, which it
 * does not reveal. rest: Create-account-SAS, Create-service-SAS, Create-user-delegation-SAS */
#include "cli/administer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/sas_make.h"
#include "base/encode.h"
#include "base/url.h"
#include "base/xml.h"
#include "cli/admin_client.h"
#include "server/credentials.h"

#define ARENA_MAX  ((size_t)16 << 20)
/* Default version, which current SDKs also use. */
#define VERSION    "2026-10-06"
#define XML_LIMITS ((struct xml_limits){ .depth_max = 4, .nodes_max = 64 })

/* ---- the fields ---- */

/* Options and the query fields that they set, in the order used by the SDKs. The fields of a user
 * delegation key and of the signed resource are inserted between the two lists. */
static const struct field {
    const char *option, *field;
} first_fields[] = {
    { "services", "ss" },    { "resource-types", "srt" }, { "https-only", "spr" },
    { "start", "st" },       { "expiry", "se" },          { "ip", "sip" },
    { "policy-name", "si" },
};
static const struct field last_fields[] = {
    { "permissions", "sp" },
    { "cache-control", "rscc" },
    { "content-disposition", "rscd" },
    { "content-encoding", "rsce" },
    { "content-language", "rscl" },
    { "content-type", "rsct" },
    { "start-pk", "spk" },
    { "start-rk", "srk" },
    { "end-pk", "epk" },
    { "end-rk", "erk" },
};

/* Kind of SAS that a command creates. */
static const struct form {
    const char *command;
    char service;
    const char *resource; /* signed resource (sr), or NULL */
} forms[] = {
    { "sas account", 'b', NULL }, { "sas container", 'b', "c" }, { "sas directory", 'b', "d" },
    { "sas blob", 'b', "b" },     { "sas queue", 'q', NULL },    { "sas table", 't', NULL },
    { "sas share", 'f', "s" },    { "sas file", 'f', "f" },
};

static const struct form *form_of(const struct command_call *call)
{
    size_t i = 0;

    while (strcmp(forms[i].command, call->row->name) != 0)
        i++;
    return &forms[i];
}

/* Characters that the SDKs leave unencoded. */
#define KEPT "!*'()"

static void add_field(struct text *query, const char *name, struct bytes value)
{
    if (query->len > 0)
        text_add_char(query, '&');
    text_add_string(query, name);
    text_add_char(query, '=');
    text_add(query, percent_encode(query->arena, value, KEPT));
}

/* ---- the user delegation key ---- */

struct delegated {
    struct xml_node *root; /* or NULL if no key is given */
    struct bytes value;    /* in base64 */
};

/* Returns false after printing why. */
static bool read_delegation(const struct command_call *call, struct arena *arena,
                            struct delegated *ret_key)
{
    const char *path = command_value(call, "delegation-key-file");
    struct xml_error problem;
    struct xml_node *value;
    char *text;

    *ret_key = (struct delegated){ .root = NULL };
    if (!path)
        return true;
    text = read_small_file(path);
    if (!text)
        return false;
    ret_key->root =
        xml_parse(arena, arena_copy(arena, bytes_from_string(text)), XML_LIMITS, &problem);
    free_secret(text);
    value = ret_key->root ? xml_child(ret_key->root, "Value") : NULL;
    if (!value || !bytes_is(ret_key->root->name, "UserDelegationKey")) {
        fprintf(stderr, "lagra: %s: not a response to Get User Delegation Key\n", path);
        return false;
    }
    ret_key->value = value->text;
    return true;
}

static void add_delegation(struct text *query, const struct delegated *key)
{
    static const char *const members[][2] = {
        { "SignedOid", "skoid" },
        { "SignedTid", "sktid" },
        { "SignedStart", "skt" },
        { "SignedExpiry", "ske" },
        { "SignedService", "sks" },
        { "SignedVersion", "skv" },
        { "SignedDelegatedUserTid", "skdutid" },
    };

    for (size_t i = 0; key->root && i < sizeof members / sizeof members[0]; i++) {
        const struct xml_node *member = xml_child(key->root, members[i][0]);

        if (member)
            add_field(query, members[i][1], member->text);
    }
}

/* ---- the query ---- */

static void add_options(const struct command_call *call, struct text *query,
                        const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = command_value(call, fields[i].option);

        if (value && strcmp(fields[i].option, "https-only") == 0)
            value = "https";
        if (value)
            add_field(query, fields[i].field, bytes_from_string(value));
    }
}

static bool is_of_directory(const struct command_call *call)
{
    const char *resource = form_of(call)->resource;

    return resource && strcmp(resource, "d") == 0;
}

/* Returns the name of the blob, file or directory. Removes leading and trailing slashes of a
 * directory's name, which the SDKs do not sign either. */
static struct bytes object_of(const struct command_call *call, struct arena *arena)
{
    struct bytes name = bytes_from_string(call->words[1]);

    if (!is_of_directory(call))
        return name;
    name = url_normalize_path(arena, name);
    while (name.len > 0 && name.ptr[0] == '/')
        name = bytes_from(name, 1);
    while (name.len > 0 && name.ptr[name.len - 1] == '/')
        name.len--;
    return name;
}

/* Adds the depth of the directory (sdd). */
static void add_depth(struct text *query, struct bytes directory)
{
    char digits[DECIMAL_DIGITS];
    uint64_t depth = 1;

    for (size_t i = 0; i < directory.len; i++)
        depth += directory.ptr[i] == '/';
    add_field(query, "sdd", bytes_decimal(depth, digits));
}

/* Writes all query fields except the signature. */
static struct bytes make_fields(const struct command_call *call, struct arena *arena,
                                const struct delegated *key)
{
    const struct form *form = form_of(call);
    const char *version = command_value(call, "version");
    struct text query;

    text_init(&query, arena, 512);
    add_field(&query, "sv", bytes_from_string(version ? version : VERSION));
    add_options(call, &query, first_fields, sizeof first_fields / sizeof first_fields[0]);
    add_delegation(&query, key);
    if (form->resource)
        add_field(&query, "sr",
                  bytes_from_string(command_value(call, "snapshot") ? "bs" : form->resource));
    if (is_of_directory(call))
        add_depth(&query, object_of(call, arena));
    if (form->service == 't')
        add_field(&query, "tn", bytes_from_string(call->words[0]));
    add_options(call, &query, last_fields, sizeof last_fields / sizeof last_fields[0]);
    return text_bytes(&query);
}

/* Adds the snapshot to the string-to-sign; in the URL, it is a separate parameter. */
static struct bytes add_snapshot(const struct command_call *call, struct arena *arena,
                                 struct bytes query)
{
    const char *snapshot = command_value(call, "snapshot");
    struct text all;

    text_init(&all, arena, query.len + 64);
    text_add(&all, query);
    if (snapshot)
        add_field(&all, "snapshot", bytes_from_string(snapshot));
    return text_bytes(&all);
}

/* ---- the key ---- */

/* Returns a member of a connection string, "AccountKey=..;"; ptr NULL if it is missing. */
static struct bytes connection_member(const char *text, const char *name)
{
    struct bytes rest = bytes_from_string(text), pair, key, value;

    while (rest.len > 0) {
        bytes_cut(rest, ';', &pair, &rest);
        bytes_cut(pair, '=', &key, &value);
        if (bytes_is_nocase(key, name))
            return value;
    }
    return bytes_from_string(NULL);
}

/* Account and key. They may come from AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY and
 * AZURE_STORAGE_CONNECTION_STRING, as in the Azure CLI. */
struct signing {
    struct bytes account;
    struct bytes key; /* in base64; ptr NULL if the server signs */
};

static struct bytes from_environment(const char *variable, const char *member)
{
    const char *text = getenv(variable);
    const char *connection = getenv("AZURE_STORAGE_CONNECTION_STRING");

    if (text && *text)
        return bytes_from_string(text);
    return connection_member(connection ? connection : "", member);
}

/* Returns false after printing why. */
static bool find_signing(const struct command_call *call, struct arena *arena,
                         const struct delegated *delegated, struct signing *ret_signing)
{
    const char *account = command_value(call, "account"), *path = command_value(call, "key-file");
    struct bytes known = from_environment("AZURE_STORAGE_ACCOUNT", "AccountName");
    char *text = path ? read_small_line(path) : NULL;

    *ret_signing = (struct signing){ .account = account ? bytes_from_string(account) : known };
    /* A key in the environment is that of the account in the environment. */
    if (bytes_equal(ret_signing->account, known))
        ret_signing->key = from_environment("AZURE_STORAGE_KEY", "AccountKey");
    if (path && !text)
        return false;
    if (text) {
        ret_signing->key = arena_copy(arena, bytes_from_string(text));
        free_secret(text);
    }
    if (delegated->root)
        ret_signing->key = delegated->value;
    if (ret_signing->account.len > 0)
        return true;
    fprintf(stderr, "lagra: %s: specify the account with --account\n", call->row->name);
    return false;
}

/* ---- the signature ---- */

/* Signs with the given key. Returns false after printing an error. */
static bool sign_here(struct arena *arena, const struct signing *signing, struct bytes text,
                      struct bytes *ret_signature)
{
    struct accounts *accounts = accounts_new();
    uint8_t signature[ACCOUNT_SIGNATURE_SIZE];
    const struct stored_account account = {
        .name = signing->account, .keys = { signing->key }, .key_count = 1, .version = 1
    };
    bool has_key = accounts_put_stored(accounts, &account) == ACCOUNT_PUT &&
                   account_sign(accounts_find(accounts, signing->account), 0, text, signature);

    if (has_key)
        *ret_signature = base64_encode(arena, bytes_of(signature, sizeof signature));
    else
        fprintf(stderr, "lagra: the account's name is invalid, or its key is not base64\n");
    accounts_free(accounts);
    return has_key;
}

/* Makes the server sign. Returns false after printing an error. */
static bool sign_there(const struct command_call *call, struct arena *arena,
                       const struct signing *signing, struct bytes text,
                       struct bytes *ret_signature)
{
    const struct client_argument arguments[] = {
        { "name", arena_string(arena, signing->account) },
        { "text", arena_string(arena, text) },
        { "key", command_value(call, "key") },
    };
    struct client_response answer;
    bool asked = client_call(call, "account-sign", arguments, 3, &answer);

    if (asked)
        *ret_signature = arena_copy(arena, client_member(answer.arena, answer.body, "signature"));
    arena_free(answer.arena);
    return asked;
}

static void print_sas(const struct command_call *call, struct arena *arena, struct bytes query)
{
    struct text text;
    struct json_writer out = { .to = &text };

    if (!call->json) {
        printf("%.*s\n", BYTES_ARG(query));
        return;
    }
    text_init(&text, arena, 512);
    json_write_begin(&out, '{');
    json_write_member(&out, "sas", query);
    json_write_end(&out, '}');
    printf("%.*s\n", BYTES_ARG(text_bytes(&text)));
}

/* Returns false after printing why. */
static bool make_sas(const struct command_call *call, struct arena *arena)
{
    struct delegated delegated;
    struct signing signing;
    struct sas_making making;
    struct bytes query, text, problem, signature;

    if (!read_delegation(call, arena, &delegated) ||
        !find_signing(call, arena, &delegated, &signing))
        return false;
    query = make_fields(call, arena, &delegated);
    making = (struct sas_making){
        .query = add_snapshot(call, arena, query),
        .service = form_of(call)->service,
        .account = signing.account,
        .container = bytes_from_string(call->words[0]),
        .object = object_of(call, arena),
        .is_directory = is_of_directory(call),
    };
    text = sas_make_string(arena, &making, &problem);
    if (!text.ptr) {
        fprintf(stderr, "lagra: %s: %.*s\n", call->row->name, BYTES_ARG(problem));
        return false;
    }
    if (!(signing.key.ptr ? sign_here(arena, &signing, text, &signature)
                          : sign_there(call, arena, &signing, text, &signature)))
        return false;
    print_sas(call, arena,
              arena_printf(arena, "%.*s&sig=%.*s", BYTES_ARG(query),
                           BYTES_ARG(percent_encode(arena, signature, KEPT))));
    return true;
}

int administer_sas(const struct command_call *call)
{
    struct arena *arena = arena_new(ARENA_MAX);
    bool made = make_sas(call, arena);

    arena_free_secret(arena); /* wipes copies of keys */
    return made && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
