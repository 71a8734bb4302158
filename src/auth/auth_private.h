/* Inside of auth/ only: strings to sign, and the keys they are signed with. */
#ifndef LAGRA_AUTH_AUTH_PRIVATE_H
#define LAGRA_AUTH_AUTH_PRIVATE_H

#include "auth/auth.h"

/* ---- keys (account.c) ---- */

/* Was `signature` (raw bytes) made over `text` with one of the account's keys? False for NULL. */
bool account_signed(const struct account *account, struct bytes text, struct bytes signature);
/* The same with a user delegation key. */
bool account_delegate_signed(const struct account *account, struct arena *arena,
                             const struct delegation_key *key, struct bytes text,
                             struct bytes signature);

/* ---- what is signed (string_to_sign.c) ---- */

enum auth_scheme { SHARED_KEY, SHARED_KEY_LITE };

/* The documentation leaves room, and clients that all work with the service differ. Each bit is one
 * such difference; 0 is the documented form. A request is accepted in any form that applies to it.
 * No two requests that mean different things have a string in common. semantics 10.3;
 * decision: 21 */
enum {
    FORM_LANGUAGE_FIRST = 1, /* Content-Language before Content-Encoding (JavaScript clients) */
    FORM_BYTEWISE = 2,       /* x-ms-* headers in byte order, not in .NET's order of en-US words */
    FORM_SECONDARY = 4,      /* the path as it was sent, with "-secondary" in it */
    FORMS = 8
};

/* The headers of the string to sign that have a line of their own, in its order. */
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

/* The headers of a request that are signed, collected in one pass. All in the request or the
 * arena. */
struct signed_headers {
    struct bytes standard[STANDARD_HEADERS]; /* ptr NULL when absent */
    struct bytes authorization;
    struct bytes ms_date;
    struct bytes ms_version;
    /* x-ms-*, in .NET's order; of equal names in the order sent. The Table service signs none. */
    const struct http_header **ms;
    size_t ms_count;
};
void signed_headers_read(struct arena *arena, const struct request *request,
                         const struct auth_target *target, struct signed_headers *ret_headers);

/* Which FORM_ bits change the string to sign of this request: mostly none. */
unsigned forms_of(const struct signed_headers *headers, const struct auth_target *target);

/* Does the string of Shared Key in this form belong to this request? Both orders of
 * Content-Encoding and Content-Language are accepted, so a string whose two lines are (a, b) could
 * be of the request with encoding a and of the one with encoding b: the values decide which. */
bool form_applies(const struct signed_headers *headers, unsigned form);

/* The string to sign in a form: any combination of the FORM_ bits. */
struct bytes string_to_sign(struct arena *arena, const struct request *request,
                            const struct signed_headers *headers, const struct auth_target *target,
                            enum auth_scheme scheme, unsigned form);

/* ---- the canonicalized resource (resource.c) ---- */

/* Is the account named with "-secondary" in the path? */
bool resource_has_secondary(const struct auth_target *target);

/* "/account/path", the path as it was sent, but without "-secondary" unless FORM_SECONDARY. */
void resource_add_path(struct text *out, const struct auth_target *target, unsigned form);

/* Can the query be read in one way only, once it is decoded and joined by line feeds? A name with a
 * colon or a control character, a value with a control character, what is not well encoded, and a
 * parameter other than `include` that is given twice cannot. Of values for tables comp's alone is
 * signed, and looked at. */
bool resource_is_unambiguous(struct arena *arena, const struct auth_target *target,
                             struct bytes query);

/* "\nname:value" for each parameter, sorted and decoded; of several with one name
 * "\nname:value1,value2". */
void resource_add_parameters(struct text *out, struct bytes query);

/* "?comp=value", when there is one: all that the shorter strings have of the query. */
void resource_add_component(struct text *out, struct bytes query);

/* ---- the order of header names (header_order.c) ---- */

/* As strcmp: the order in which .NET sorts words of en-US, which the service uses for header names.
 * Both in lower case. */
int header_order(struct bytes a, struct bytes b);

#endif
