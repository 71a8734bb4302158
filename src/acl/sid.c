#include "acl/sid.h"

#include "base/endian.h"
#include "acl/security_descriptor.h"

#define AUTHORITY_MAX ((UINT64_C(1) << 48) - 1)

const struct bytes sid_everyone = BYTES("\x01\x01\0\0\0\0\0\x01\0\0\0\0");
const struct bytes sid_creator_owner = BYTES("\x01\x01\0\0\0\0\0\x03\0\0\0\0");
const struct bytes sid_creator_group = BYTES("\x01\x01\0\0\0\0\0\x03\x01\0\0\0");
const struct bytes sid_owner_rights = BYTES("\x01\x01\0\0\0\0\0\x03\x04\0\0\0");
const struct bytes sid_network = BYTES("\x01\x01\0\0\0\0\0\x05\x02\0\0\0");
const struct bytes sid_authenticated_users = BYTES("\x01\x01\0\0\0\0\0\x05\x0B\0\0\0");
const struct bytes sid_system = SID_SYSTEM;
const struct bytes sid_builtin_users = BYTES("\x01\x02\0\0\0\0\0\x05\x20\0\0\0\x21\x02\0\0");

/* A SID of at most six subauthorities, with its alias. */
struct known {
    char name[3];
    uint8_t authority;
    uint8_t count;
    uint32_t numbers[6];
};

#define BUILTIN(number_)                                                                           \
    5, 2,                                                                                          \
    {                                                                                              \
        32, number_                                                                                \
    }
/* [MS-DTYP] 2.5.1.1, without the domain-relative ones: CA, CN, DA, DC, DD, DG, DU, EA, EK, KA,
 * LA, LG, AP, PA, RO, RS, SA. */
static const struct known known[] = {
    { "AA", BUILTIN(579) },
    { "AC", 15, 2, { 2, 1 } },
    { "AN", 5, 1, { 7 } },
    { "AO", BUILTIN(548) },
    { "AS", 18, 1, { 1 } },
    { "AU", 5, 1, { 11 } },
    { "BA", BUILTIN(544) },
    { "BG", BUILTIN(546) },
    { "BO", BUILTIN(551) },
    { "BU", BUILTIN(545) },
    { "CD", BUILTIN(574) },
    { "CG", 3, 1, { 1 } },
    { "CO", 3, 1, { 0 } },
    { "CY", BUILTIN(569) },
    { "ED", 5, 1, { 9 } },
    { "ER", BUILTIN(573) },
    { "ES", BUILTIN(576) },
    { "HA", BUILTIN(578) },
    { "HI", 16, 1, { 12288 } },
    { "IS", BUILTIN(568) },
    { "IU", 5, 1, { 4 } },
    { "LS", 5, 1, { 19 } },
    { "LU", BUILTIN(559) },
    { "LW", 16, 1, { 4096 } },
    { "ME", 16, 1, { 8192 } },
    { "MP", 16, 1, { 8448 } },
    { "MS", BUILTIN(577) },
    { "MU", BUILTIN(558) },
    { "NO", BUILTIN(556) },
    { "NS", 5, 1, { 20 } },
    { "NU", 5, 1, { 2 } },
    { "OW", 3, 1, { 4 } },
    { "PO", BUILTIN(550) },
    { "PS", 5, 1, { 10 } },
    { "PU", BUILTIN(547) },
    { "RA", BUILTIN(575) },
    { "RC", 5, 1, { 12 } },
    { "RD", BUILTIN(555) },
    { "RE", BUILTIN(552) },
    { "RM", BUILTIN(580) },
    { "RU", BUILTIN(554) },
    { "SI", 16, 1, { 16384 } },
    { "SO", BUILTIN(549) },
    { "SS", 18, 1, { 2 } },
    { "SU", 5, 1, { 6 } },
    { "SY", 5, 1, { 18 } },
    { "UD", 5, 6, { 84, 0, 0, 0, 0, 0 } },
    { "WD", 1, 1, { 0 } },
    { "WR", 5, 1, { 33 } },
};

/* ---- reading ---- */

static struct bytes make_sid(struct arena *arena, uint64_t authority, const uint32_t *numbers,
                             size_t count)
{
    char *sid = arena_bytes(arena, 8 + 4 * count);

    be64_put(sid, authority); /* 48 bits, big-endian */
    sid[0] = 1;
    sid[1] = (char)count;
    for (size_t i = 0; i < count; i++)
        le32_put(sid + 8 + 4 * i, numbers[i]);
    return bytes_of(sid, 8 + 4 * count);
}

/* Parses a decimal number, or a hexadecimal one with 0x. */
static bool take_number(struct bytes *text, uint64_t max, bool may_be_hex, uint64_t *ret_value)
{
    bool hex = may_be_hex && text->len > 2 && bytes_is_nocase(bytes_of(text->ptr, 2), "0x");
    unsigned base = hex ? 16 : 10;
    size_t at = hex ? 2 : 0, first = at;
    uint64_t value = 0;

    for (; at < text->len; at++) {
        int digit = bytes_hex_digit(text->ptr[at]);

        if (digit < 0 || (unsigned)digit >= base)
            break;
        if (value > (max - (unsigned)digit) / base)
            return false;
        value = value * base + (unsigned)digit;
    }
    *text = bytes_from(*text, at);
    *ret_value = value;
    return at > first;
}

static bool take_numbers(struct arena *arena, struct bytes *text, struct bytes *ret_sid)
{
    struct bytes rest = bytes_from(*text, 4);
    uint32_t numbers[SID_NUMBERS_MAX];
    uint64_t authority, number;
    size_t count = 0;

    if (!take_number(&rest, AUTHORITY_MAX, true, &authority))
        return false;
    while (rest.len > 0 && rest.ptr[0] == '-') {
        rest = bytes_from(rest, 1);
        if (count == SID_NUMBERS_MAX || !take_number(&rest, UINT32_MAX, false, &number))
            return false;
        numbers[count++] = (uint32_t)number;
    }
    if (count == 0)
        return false;
    *text = rest;
    *ret_sid = make_sid(arena, authority, numbers, count);
    return true;
}

bool sid_take(struct arena *arena, struct bytes *text, struct bytes *ret_sid)
{
    struct bytes name = bytes_of(text->ptr, 2);

    if (text->len >= 4 && bytes_is_nocase(bytes_of(text->ptr, 4), "S-1-"))
        return take_numbers(arena, text, ret_sid);
    for (size_t i = 0; text->len >= 2 && i < sizeof known / sizeof known[0]; i++) {
        if (bytes_is_nocase(name, known[i].name)) {
            *ret_sid = make_sid(arena, known[i].authority, known[i].numbers, known[i].count);
            *text = bytes_from(*text, 2);
            return true;
        }
    }
    return false;
}

/* ---- writing ---- */

static uint64_t authority_of(struct bytes sid)
{
    return be64_get(sid.ptr) & AUTHORITY_MAX;
}

static size_t count_of(struct bytes sid)
{
    return (sid.len - 8) / 4;
}

static uint32_t number_of(struct bytes sid, size_t i)
{
    return le32_get(sid.ptr + 8 + 4 * i);
}

static bool is_known(struct bytes sid, const struct known *k)
{
    if (authority_of(sid) != k->authority || count_of(sid) != k->count)
        return false;
    for (size_t i = 0; i < k->count; i++) {
        if (number_of(sid, i) != k->numbers[i])
            return false;
    }
    return true;
}

void sid_add_text(struct text *out, struct bytes sid)
{
    uint64_t authority = authority_of(sid);

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (is_known(sid, &known[i])) {
            text_add_string(out, known[i].name);
            return;
        }
    }
    /* decimal below 2^32, otherwise hexadecimal */
    text_printf(out, authority <= UINT32_MAX ? "S-1-%llu" : "S-1-0x%012llx",
                (unsigned long long)authority);
    for (size_t i = 0; i < count_of(sid); i++)
        text_printf(out, "-%u", number_of(sid, i));
}
