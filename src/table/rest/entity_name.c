/* Property names: declared in entity_json.h. */
#include "table/rest/entity_json.h"

#include "base/words.h"

/* Characters that may start an XML name, sorted. C# allows fewer, but no additional ASCII
 * characters. xml: NameStartChar, without ':' */
static const struct range {
    uint32_t first, last;
} starts[] = {
    { 'A', 'Z' },       { '_', '_' },       { 'a', 'z' },         { 0xC0, 0xD6 },
    { 0xD8, 0xF6 },     { 0xF8, 0x2FF },    { 0x370, 0x37D },     { 0x37F, 0x1FFF },
    { 0x200C, 0x200D }, { 0x2070, 0x218F }, { 0x2C00, 0x2FEF },   { 0x3001, 0xD7FF },
    { 0xF900, 0xFDCF }, { 0xFDF0, 0xFFFD }, { 0x10000, 0xEFFFF },
};
/* Additional characters allowed after the first. xml: NameChar, without '-' and '.' */
static const struct range others[] = {
    { '0', '9' },
    { 0xB7, 0xB7 },
    { 0x300, 0x36F },
    { 0x203F, 0x2040 },
};

static bool is_in(const struct range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Tests for characters other than ASCII letters, digits and _. */
static word_bytes not_ascii_name(word_bytes text)
{
    return ~(word_between(text | 0x20, 'a', 'z') | word_between(text, '0', '9') |
             word_equal(text, '_'));
}

enum error entity_name_check(struct bytes utf8)
{
    if (utf8.len == 0)
        return E_PropertyNameInvalid;
    if (bytes_utf16_exceed(utf8, ENTITY_NAME_UNITS_MAX))
        return E_PropertyNameTooLong;
    for (bool first = true; utf8.len > 0; first = false) {
        uint32_t c;

        if (!first)
            utf8 = bytes_from(utf8, word_run(utf8, not_ascii_name));
        if (utf8.len == 0)
            return OK;
        c = bytes_take_code_point(&utf8);
        if (!is_in(starts, sizeof starts / sizeof starts[0], c) &&
            (first || !is_in(others, sizeof others / sizeof others[0], c)))
            return E_PropertyNameInvalid;
    }
    return OK;
}
