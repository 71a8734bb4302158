/* The order in which the service sorts the names of x-ms-* headers before signing.
 *
 * It is .NET's order of en-US words. Hyphens and apostrophes are ignored at first; other
 * punctuation sorts before digits, and digits before letters. If that finds no difference, the name
 * with the earlier hyphen sorts later: x-ms-copysource < x-ms-copy-source < x-ms-copy-status. Names
 * are lower-case tokens (rfc: 9110 5.6.2). semantics 10.3 */
#include "auth/auth_private.h"

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
