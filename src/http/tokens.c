/* Methods, names and values in HTTP syntax, for all parsers of header sections. */
#include "http/tokens.h"

#include <arpa/inet.h>

#include "base/words.h"

static const struct {
    const char *name;
    enum http_method method;
} methods[] = {
    { "GET", METHOD_GET },         { "PUT", METHOD_PUT },     { "HEAD", METHOD_HEAD },
    { "DELETE", METHOD_DELETE },   { "POST", METHOD_POST },   { "MERGE", METHOD_MERGE },
    { "OPTIONS", METHOD_OPTIONS }, { "PATCH", METHOD_PATCH },
};

enum http_method http_method_of(struct bytes name)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (bytes_is(name, methods[i].name))
            return methods[i].method;
    }
    return METHOD_OTHER;
}

/* Token characters in lower case; 0 for other characters. rfc: 9110 5.6.2 */
/* clang-format off */
static const char token_lower[256] = {
    ['!'] = '!', ['#'] = '#', ['$'] = '$', ['%'] = '%', ['&'] = '&', ['\''] = '\'', ['*'] = '*', ['+'] = '+',
    ['-'] = '-', ['.'] = '.', ['^'] = '^', ['_'] = '_', ['`'] = '`', ['|'] = '|', ['~'] = '~',
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',
    ['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9',
    ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i',
    ['J'] = 'j', ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r',
    ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y', ['Z'] = 'z',
    ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i',
    ['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r',
    ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y', ['z'] = 'z',
};
/* clang-format on */

/* Returns a mask of bytes other than letters, digits and '-', which most names consist of. */
static word_bytes not_of_name(word_bytes text)
{
    return ~(word_between(text | 0x20, 'a', 'z') | word_between(text, '0', '9') |
             word_equal(text, '-'));
}

size_t http_lower_token(struct bytes line, char *to)
{
    size_t i = 0;

    while (line.len - i >= WORD_BYTES) {
        /* digits and '-' already have that bit */
        word_bytes text = word_load(line.ptr + i), lower = text | 0x20;
        unsigned run = word_first(not_of_name(text));

        memcpy(to + i, &lower, sizeof lower);
        i += run;
        if (run < WORD_BYTES)
            break;
    }
    while (i < line.len && (to[i] = token_lower[(unsigned char)line.ptr[i]]) != '\0')
        i++;
    return i;
}

bool http_lower_name(struct bytes name, char *to)
{
    return name.len > 0 && http_lower_token(name, to) == name.len;
}

bool http_is_token(struct bytes text)
{
    size_t i = 0;

    while (i < text.len && token_lower[(unsigned char)text.ptr[i]] != '\0')
        i++;
    return i > 0 && i == text.len;
}

static word_bytes control(word_bytes text, char allowed)
{
    return (word_below(text, 0x20) | word_equal(text, 0x7F)) & ~word_equal(text, allowed);
}

/* Short values are common (a request and its response have about twenty), so the last bytes are
 * checked without a loop. */
bool http_has_control(struct bytes text, char allowed)
{
    if (text.len < WORD_BYTES)
        return word_first(control(word_load_part(text), allowed)) < text.len;
    for (size_t i = 0; i < text.len - WORD_BYTES; i += WORD_BYTES) {
        if (word_any(control(word_load(text.ptr + i), allowed)))
            return true;
    }
    return word_any(control(word_load(text.ptr + text.len - WORD_BYTES), allowed));
}

/* ---- hosts ---- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* unreserved or sub-delims. rfc: 3986 2.2, 2.3 */
static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c != '\0' && strchr("-._~!$&'()*+,;=", c));
}

/* Returns a mask of bytes other than letters, digits, '-' and '.', which most hosts consist of. */
static word_bytes not_common(word_bytes text)
{
    return ~(word_between(text | 0x20, 'a', 'z') | word_between(text, '0', '9') |
             word_equal(text, '-') | word_equal(text, '.'));
}

/* Checks for a reg-name, which includes IPv4 addresses. */
static bool is_name(struct bytes text)
{
    for (size_t i = word_run(text, not_common); i < text.len; i++) {
        if (is_name_char(text.ptr[i]))
            continue;
        if (text.ptr[i] != '%' || text.len - i < 3 || !is_hex(text.ptr[i + 1]) ||
            !is_hex(text.ptr[i + 2]))
            return false;
        i += 2;
    }
    return text.len > 0;
}

/* Checks for "v1.x": IPvFuture. */
static bool is_future_address(struct bytes text)
{
    struct bytes version, address;

    bytes_cut(text, '.', &version, &address);
    if (version.len < 2 || (version.ptr[0] | 0x20) != 'v' || address.len == 0)
        return false;
    for (size_t i = 1; i < version.len; i++)
        if (!is_hex(version.ptr[i]))
            return false;
    for (size_t i = 0; i < address.len; i++)
        if (!is_name_char(address.ptr[i]) && address.ptr[i] != ':')
            return false;
    return true;
}

/* Checks the address between brackets. */
static bool is_address(struct bytes text)
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (text.len < sizeof copy && !memchr(text.ptr, '\0', text.len)) {
        memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
        if (inet_pton(AF_INET6, copy, &address) == 1)
            return true;
    }
    return is_future_address(text);
}

bool http_is_host(struct bytes text)
{
    bool has_brackets = text.len > 0 && text.ptr[0] == '[';
    const char *end = text.len > 0 ? memchr(text.ptr, has_brackets ? ']' : ':', text.len) : NULL;
    size_t length = end ? (size_t)(end - text.ptr) : text.len;
    struct bytes port;

    if (has_brackets && (!end || !is_address(bytes_of(text.ptr + 1, length - 1))))
        return false;
    if (!has_brackets && !is_name(bytes_of(text.ptr, length)))
        return false;
    port = bytes_from(text, has_brackets ? length + 1 : length);
    for (size_t i = 1; i < port.len; i++)
        if (port.ptr[i] < '0' || port.ptr[i] > '9')
            return false;
    return port.len == 0 || port.ptr[0] == ':';
}
