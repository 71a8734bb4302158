/* The string to sign of a request. rest: Authorize-with-Shared-Key, "Constructing the signature
 * string"; semantics 10.3 */
#include "auth/auth_private.h"

#include <assert.h>
#include <stdlib.h>

static const struct bytes ms_prefix = BYTES("x-ms-");

/* The version in which a rule of the string changed. */
#define VERSION_LENGTH_0_EMPTY "2015-02-21" /* a Content-Length of 0 is signed as an empty string */

/* The Table service signs only the date of the x-ms-* headers. */
static bool signs_dates_alone(const struct auth_target *target)
{
    return target->service == 't';
}

/* ---- the headers ---- */

static const struct bytes standard_names[STANDARD_HEADERS] = {
    [CONTENT_ENCODING] = BYTES("content-encoding"),
    [CONTENT_LANGUAGE] = BYTES("content-language"),
    [CONTENT_LENGTH] = BYTES("content-length"),
    [CONTENT_MD5] = BYTES("content-md5"),
    [CONTENT_TYPE] = BYTES("content-type"),
    [DATE] = BYTES("date"),
    [IF_MODIFIED_SINCE_HEADER] = BYTES("if-modified-since"),
    [IF_MATCH_HEADER] = BYTES("if-match"),
    [IF_NONE_MATCH_HEADER] = BYTES("if-none-match"),
    [IF_UNMODIFIED_SINCE_HEADER] = BYTES("if-unmodified-since"),
    [RANGE] = BYTES("range"),
};

/* The first of several headers with the same name is used, as in request_header(). */
static void keep_first(struct bytes *slot, struct bytes value)
{
    if (!slot->ptr)
        *slot = value.ptr ? value : bytes_from_string("");
}

static void read_standard(struct signed_headers *headers, const struct http_header *header)
{
    for (size_t i = 0; i < STANDARD_HEADERS; i++) {
        if (bytes_equal(header->name, standard_names[i])) {
            keep_first(&headers->standard[i], header->value);
            return;
        }
    }
    if (bytes_is(header->name, "authorization"))
        keep_first(&headers->authorization, header->value);
}

static void read_ms(struct signed_headers *headers, const struct http_header *header)
{
    if (headers->ms)
        headers->ms[headers->ms_count++] = header;
    if (bytes_is(header->name, "x-ms-date"))
        keep_first(&headers->ms_date, header->value);
    else if (bytes_is(header->name, "x-ms-version"))
        keep_first(&headers->ms_version, header->value);
}

/* Headers are pointers into one array, so equal names keep the order sent. */
static int by_words(const void *a, const void *b)
{
    const struct http_header *x = *(const struct http_header *const *)a;
    const struct http_header *y = *(const struct http_header *const *)b;
    int order = header_order(x->name, y->name);

    return order != 0 ? order : (x > y) - (x < y);
}

static int by_bytes(const void *a, const void *b)
{
    const struct http_header *x = *(const struct http_header *const *)a;
    const struct http_header *y = *(const struct http_header *const *)b;
    int order = bytes_compare(x->name, y->name);

    return order != 0 ? order : (x > y) - (x < y);
}

/* Most clients send them sorted. */
static bool are_sorted(const struct signed_headers *headers)
{
    for (size_t i = 1; i < headers->ms_count; i++) {
        if (by_words(&headers->ms[i - 1], &headers->ms[i]) > 0)
            return false;
    }
    return true;
}

void signed_headers_read(struct arena *arena, const struct request *request,
                         const struct auth_target *target, struct signed_headers *ret_headers)
{
    struct signed_headers headers = { .ms_count = 0 };

    if (!signs_dates_alone(target))
        headers.ms = arena_array(arena, request->header_count, sizeof headers.ms[0]);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];

        if (bytes_has_prefix(header->name, ms_prefix))
            read_ms(&headers, header);
        else
            read_standard(&headers, header);
    }
    if (!are_sorted(&headers))
        qsort(headers.ms, headers.ms_count, sizeof headers.ms[0], by_words);
    *ret_headers = headers;
}

static bool is_before(const struct signed_headers *headers, const char *version)
{
    return headers->ms_version.ptr &&
           bytes_compare(headers->ms_version, bytes_from_string(version)) < 0;
}

/* Returns the signed value of a header. */
static struct bytes signed_value(const struct signed_headers *headers, enum standard_header which)
{
    static const struct bytes nothing = BYTES("");

    if (which == DATE && headers->ms_date.ptr)
        return nothing;
    if (which == CONTENT_LENGTH && bytes_is(headers->standard[which], "0") &&
        !is_before(headers, VERSION_LENGTH_0_EMPTY))
        return nothing;
    return headers->standard[which];
}

static void add_line(struct text *out, struct bytes value)
{
    text_add(out, value);
    text_add_char(out, '\n');
}

/* ---- x-ms-* headers ---- */

static const struct http_header **sorted_by_bytes(struct arena *arena,
                                                  const struct signed_headers *headers)
{
    const struct http_header **copy = arena_array(arena, headers->ms_count, sizeof copy[0]);

    for (size_t i = 0; i < headers->ms_count; i++)
        copy[i] = headers->ms[i];
    qsort(copy, headers->ms_count, sizeof copy[0], by_bytes);
    return copy;
}

/* Adds a line per header; values of repeated headers are joined by commas. An empty value is signed
 * for every version (documented since 2016-05-31), because otherwise the string would also fit a
 * request without the header. decision: 21 */
static void add_ms_headers(struct text *out, const struct signed_headers *headers, unsigned form)
{
    const struct http_header **ms =
        form & FORM_BYTEWISE ? sorted_by_bytes(out->arena, headers) : headers->ms;
    struct bytes name = { NULL, 0 }; /* of the current line */

    for (size_t i = 0; i < headers->ms_count; i++) {
        if (name.ptr && bytes_equal(name, ms[i]->name)) {
            text_add_char(out, ',');
        } else {
            if (name.ptr)
                text_add_char(out, '\n');
            name = ms[i]->name;
            text_add(out, name);
            text_add_char(out, ':');
        }
        text_add(out, ms[i]->value);
    }
    if (name.ptr)
        text_add_char(out, '\n');
}

/* ---- the string ---- */

unsigned forms_of(const struct signed_headers *headers, const struct auth_target *target)
{
    unsigned forms = 0;

    if (!bytes_equal(headers->standard[CONTENT_ENCODING], headers->standard[CONTENT_LANGUAGE]))
        forms |= FORM_LANGUAGE_FIRST;
    for (size_t i = 1; i < headers->ms_count; i++) {
        if (bytes_compare(headers->ms[i - 1]->name, headers->ms[i]->name) > 0)
            forms |= FORM_BYTEWISE;
    }
    if (resource_has_secondary(target))
        forms |= FORM_SECONDARY;
    return forms;
}

/* Returns true for content codings that are registered or in use. rfc: 9110 8.4.1 */
static bool is_coding(struct bytes value)
{
    static const char *const codings[] = {
        "gzip",     "x-gzip", "compress", "x-compress", "deflate", "br",   "zstd",      "dcb",
        "identity", "dcz",    "exi",      "utf-8",      "utf8",    "none", "aes128gcm", "raw",
    };

    for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++) {
        if (bytes_is_nocase(value, codings[i]))
            return true;
    }
    return false;
}

/* Returns true if the value starts with two or three letters, like a language tag.
 * rfc: 5646 2.2.1 */
static bool is_language(struct bytes value)
{
    size_t letters = 0;

    while (letters < value.len && ((value.ptr[letters] >= 'a' && value.ptr[letters] <= 'z') ||
                                   (value.ptr[letters] >= 'A' && value.ptr[letters] <= 'Z')))
        letters++;
    return letters >= 2 && letters <= 3 &&
           (letters == value.len || value.ptr[letters] == '-' || value.ptr[letters] == ',');
}

/* Decides for the two lines with Content-Encoding and Content-Language whether the language is
 * first. There is one result per pair of values, so each string belongs to only one of the two
 * requests with swapped values. */
static bool language_is_first(struct bytes first, struct bytes second)
{
    if (is_coding(first) || is_coding(second))
        return !is_coding(first);
    return is_language(first) && !is_language(second);
}

bool form_applies(const struct signed_headers *headers, unsigned form)
{
    struct bytes encoding = headers->standard[CONTENT_ENCODING];
    struct bytes language = headers->standard[CONTENT_LANGUAGE];

    if (bytes_equal(encoding, language))
        return !(form & FORM_LANGUAGE_FIRST);
    if (form & FORM_LANGUAGE_FIRST)
        return language_is_first(language, encoding);
    return !language_is_first(encoding, language);
}

static void add_full(struct text *out, const struct request *request,
                     const struct signed_headers *headers, const struct auth_target *target,
                     unsigned form)
{
    bool language_first = form & FORM_LANGUAGE_FIRST;

    add_line(out, request->method_text);
    add_line(out, signed_value(headers, language_first ? CONTENT_LANGUAGE : CONTENT_ENCODING));
    add_line(out, signed_value(headers, language_first ? CONTENT_ENCODING : CONTENT_LANGUAGE));
    for (enum standard_header i = CONTENT_LENGTH; i < STANDARD_HEADERS; i++)
        add_line(out, signed_value(headers, i));
    add_ms_headers(out, headers, form);
    resource_add_path(out, target, form);
    resource_add_parameters(out, request->query);
}

static void add_lite(struct text *out, const struct request *request,
                     const struct signed_headers *headers, const struct auth_target *target,
                     unsigned form)
{
    add_line(out, request->method_text);
    add_line(out, signed_value(headers, CONTENT_MD5));
    add_line(out, signed_value(headers, CONTENT_TYPE));
    add_line(out, signed_value(headers, DATE));
    add_ms_headers(out, headers, form);
    resource_add_path(out, target, form);
    resource_add_component(out, request->query);
}

/* x-ms-date replaces the Date header. */
static void add_table(struct text *out, const struct request *request,
                      const struct signed_headers *headers, const struct auth_target *target,
                      enum auth_scheme scheme, unsigned form)
{
    if (scheme == SHARED_KEY) {
        add_line(out, request->method_text);
        add_line(out, signed_value(headers, CONTENT_MD5));
        add_line(out, signed_value(headers, CONTENT_TYPE));
    }
    add_line(out, headers->ms_date.ptr ? headers->ms_date : headers->standard[DATE]);
    resource_add_path(out, target, form);
    resource_add_component(out, request->query);
}

/* Estimates the string's length, so that it grows at most once. */
static size_t size_hint(const struct request *request, const struct signed_headers *headers,
                        const struct auth_target *target)
{
    size_t size = 256 + target->path.len + request->query.len + ACCOUNT_NAME_MAX;

    for (size_t i = 0; i < headers->ms_count; i++)
        size += headers->ms[i]->name.len + headers->ms[i]->value.len + 2;
    return size;
}

struct bytes string_to_sign(struct arena *arena, const struct request *request,
                            const struct signed_headers *headers, const struct auth_target *target,
                            enum auth_scheme scheme, unsigned form)
{
    struct text out;

    assert(form < FORMS);
    text_init(&out, arena, size_hint(request, headers, target));
    if (signs_dates_alone(target))
        add_table(&out, request, headers, target, scheme, form);
    else if (scheme == SHARED_KEY)
        add_full(&out, request, headers, target, form);
    else
        add_lite(&out, request, headers, target, form);
    return text_bytes(&out);
}

struct bytes shared_key_string(struct arena *arena, const struct request *request,
                               const struct auth_target *target)
{
    struct signed_headers headers;

    signed_headers_read(arena, request, target, &headers);
    return string_to_sign(arena, request, &headers, target, SHARED_KEY, 0);
}

/* The order in which the service sorts the names of x-ms-* headers before signing.
 *
 * It is .NET's order of en-US words. Hyphens and apostrophes are ignored at first; other
 * punctuation sorts before digits, and these before letters. If that finds no difference, the name
 * with the earlier hyphen sorts later: x-ms-copysource < x-ms-copy-source < x-ms-copy-status. Names
 * are lower-case tokens (rfc: 9110 5.6.2). semantics 10.3 */

static bool is_ignored(char c)
{
    return c == '-' || c == '\'';
}

/* Returns the rank of a character that is not ignored; 0 is the end of a name. */
static unsigned rank(char c)
{
    static const char signs[] = "!#$%&*.^_`|~+";
    const char *sign;

    if (c >= 'a' && c <= 'z')
        return 0x40u + (unsigned)(c - 'a');
    if (c >= '0' && c <= '9')
        return 0x20u + (unsigned)(c - '0');
    sign = c != '\0' ? strchr(signs, c) : NULL;
    return sign ? 1u + (unsigned)(sign - signs) : 0x80u;
}

static unsigned next_rank(struct bytes name, size_t *at)
{
    while (*at < name.len && is_ignored(name.ptr[*at]))
        ++*at;
    return *at < name.len ? rank(name.ptr[(*at)++]) : 0;
}

/* Orders names that differ only in ignored characters. */
static int order_of_hyphens(struct bytes a, struct bytes b)
{
    size_t i = 0;
    char x, y;

    while (i < a.len && i < b.len && a.ptr[i] == b.ptr[i])
        i++;
    x = i < a.len ? a.ptr[i] : '\0';
    y = i < b.len ? b.ptr[i] : '\0';
    if (x == y)
        return 0;
    if (x == '-' || y == '-')
        return x == '-' ? 1 : -1;
    return x == '\'' ? 1 : -1;
}

int header_order(struct bytes a, struct bytes b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    size_t i = 0, j;
    unsigned x, y;

    while (i < common && a.ptr[i] == b.ptr[i])
        i++;
    j = i;
    do {
        x = next_rank(a, &i);
        y = next_rank(b, &j);
    } while (x == y && x != 0);
    if (x != y)
        return x < y ? -1 : 1;
    return order_of_hyphens(a, b);
}
