/* Methods, names and values as HTTP spells them, wherever a head of a request is read. */
#include "http/tokens.h"

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

/* The characters of a token in lower case; 0: not one of them. rfc: 9110 5.6.2 */
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

size_t http_lower_token(struct bytes line, char *to)
{
    size_t i = 0;

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

bool http_has_control(struct bytes text, char allowed)
{
    size_t i = 0;

    for (; text.len - i >= WORD_BYTES; i += WORD_BYTES) {
        word_bytes many = word_load(text.ptr + i);
        word_bytes control = word_below(many, 0x20) | word_equal(many, 0x7F);

        if (word_any(control & ~word_equal(many, allowed)))
            return true;
    }
    for (; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if ((c < 0x20 || c == 0x7F) && text.ptr[i] != allowed)
            return true;
    }
    return false;
}
