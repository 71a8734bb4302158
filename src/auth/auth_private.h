/* Internal to auth/: strings to sign, and the keys they are signed with. */
#ifndef LAGRA_AUTH_AUTH_PRIVATE_H
#define LAGRA_AUTH_AUTH_PRIVATE_H

#include "auth/auth.h"

/* ---- keys (account.c) ---- */

/* Checks `signature` (raw bytes) over `text` with each of the account's keys. Returns false for
 * NULL. */
bool account_signed(const struct account *account, struct bytes text, struct bytes signature);
/* Like account_signed(), with a user delegation key. */
bool account_delegate_signed(const struct account *account, struct arena *arena,
                             const struct delegation_key *key, struct bytes text,
                             struct bytes signature);

/* ---- string to sign (string_to_sign.c) ---- */

enum auth_scheme { SHARED_KEY, SHARED_KEY_LITE };

/* The documentation is ambiguous, and clients that all work with the service differ. Each bit is
 * one such difference; 0 is the documented form. A request is accepted in any form that applies to
 * it. No two requests with different meanings share a string. semantics 10.3; decision: 21 */
enum {
    FORM_LANGUAGE_FIRST = 1, /* Content-Language before Content-Encoding (JavaScript clients) */
    FORM_BYTEWISE = 2,       /* x-ms-* headers in byte order, not in .NET's en-US word order */
    FORM_SECONDARY = 4,      /* the path as sent, with "-secondary" */
    FORMS = 8
};

/* The headers with a line of their own in the string to sign, in its order. */
enum standard_header {
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_LENGTH,
    CONTENT_MD5,
    CONTENT_TYPE,
    DATE,
    IF_MODIFIED_SINCE_HEADER,
    IF_MATCH_HEADER,
    IF_NONE_MATCH_HEADER,
    IF_UNMODIFIED_SINCE_HEADER,
    RANGE,
    STANDARD_HEADERS
};

/* The signed headers of a request, collected in one pass. All are in the request or the arena. */
struct signed_headers {
    struct bytes standard[STANDARD_HEADERS]; /* ptr NULL when absent */
    struct bytes authorization;
    struct bytes ms_date;
    struct bytes ms_version;
    /* x-ms-*, in .NET's order, equal names in the order sent. The Table service signs none. */
    const struct http_header **ms;
    size_t ms_count;
};
void signed_headers_read(struct arena *arena, const struct request *request,
                         const struct auth_target *target, struct signed_headers *ret_headers);

/* Returns the FORM_ bits that change this request's string to sign: usually none. */
unsigned forms_of(const struct signed_headers *headers, const struct auth_target *target);

/* Checks whether the Shared Key string in this form belongs to this request. Both orders of
 * Content-Encoding and Content-Language are accepted, so a string with the lines (a, b) could
 * belong to a request with encoding a or with encoding b; the values decide which. */
bool form_applies(const struct signed_headers *headers, unsigned form);

/* Builds the string to sign in any combination of the FORM_ bits. */
struct bytes string_to_sign(struct arena *arena, const struct request *request,
                            const struct signed_headers *headers, const struct auth_target *target,
                            enum auth_scheme scheme, unsigned form);

/* ---- the canonicalized resource (resource.c) ---- */

/* Returns true if the account in the path has the suffix "-secondary". */
bool resource_has_secondary(const struct auth_target *target);

/* Appends "/account/path", the path as sent, but without "-secondary" unless FORM_SECONDARY. */
void resource_add_path(struct text *out, const struct auth_target *target, unsigned form);

/* Checks whether the query can be read in only one way once it is decoded and joined by line feeds.
 * That excludes names with a colon or control character, values with a control character, invalid
 * encoding, and repeated parameters other than `include`. For tables only the value of comp is
 * signed and checked. */
bool resource_is_unambiguous(struct arena *arena, const struct auth_target *target,
                             struct bytes query);

/* Appends "\nname:value" for each parameter, sorted and decoded; for repeated names
 * "\nname:value1,value2". */
void resource_add_parameters(struct text *out, struct bytes query);

/* Appends "?comp=value" if present, the only part of the query in the shorter strings. */
void resource_add_component(struct text *out, struct bytes query);

/* ---- order of header names (string_to_sign.c) ---- */

/* Compares like strcmp() in the order in which .NET sorts en-US words, which the service uses for
 * header names. Both must be in lower case. */
int header_order(struct bytes a, struct bytes b);

#endif
