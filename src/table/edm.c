/* Property values: see edm.h. */
#include "table/edm.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* size: 0 for types with a variable size */
static const struct {
    const char *name;
    size_t size;
} types[EDM_TYPES] = {
    [EDM_STRING] = { "Edm.String", 0 },   [EDM_INT32] = { "Edm.Int32", 4 },
    [EDM_INT64] = { "Edm.Int64", 8 },     [EDM_DOUBLE] = { "Edm.Double", 8 },
    [EDM_BOOLEAN] = { "Edm.Boolean", 1 }, [EDM_DATETIME] = { "Edm.DateTime", 8 },
    [EDM_GUID] = { "Edm.Guid", 16 },      [EDM_BINARY] = { "Edm.Binary", 0 },
};

const char *edm_type_name(enum edm_type type)
{
    assert(type < EDM_TYPES);
    return types[type].name;
}

bool edm_type_parse(struct bytes name, enum edm_type *ret_type)
{
    for (unsigned i = 0; i < EDM_TYPES; i++)
        if (bytes_is(name, types[i].name)) {
            *ret_type = (enum edm_type)i;
            return true;
        }
    return false;
}

int edm_compare_text(struct bytes a, struct bytes b)
{
    size_t common = a.len < b.len ? a.len : b.len;

    for (size_t i = 0; i < common; i++) {
        uint8_t x = (uint8_t)a.ptr[i], y = (uint8_t)b.ptr[i];

        if (x == y)
            continue;
        /* U+E000..U+FFFF (EE and EF) sort after surrogate pairs (F0 to F4). */
        if ((x == 0xEE || x == 0xEF) != (y == 0xEE || y == 0xEF) && x >= 0xEE && y >= 0xEE)
            return x < 0xF0 ? 1 : -1;
        return x < y ? -1 : 1;
    }
    return (a.len > b.len) - (a.len < b.len);
}

/* The size of a String or Binary includes its length. */
#define LENGTH_SIZE 4

size_t edm_text_size(size_t units)
{
    return 2 * units + LENGTH_SIZE;
}

size_t edm_value_size(const struct edm_value *value)
{
    assert(value->type < EDM_TYPES);
    if (value->type == EDM_STRING)
        return edm_text_size(bytes_utf16_units(value->as.bytes));
    if (value->type == EDM_BINARY)
        return value->as.bytes.len + LENGTH_SIZE;
    return types[value->type].size;
}

size_t edm_datetime_format(instant t, char buffer[EDM_DATETIME_SIZE])
{
    size_t end = sizeof "2017-01-05T03:26:33" - 1;

    instant_format_iso(t, buffer);
    if (t % TICKS_PER_SECOND != 0) {
        end = INSTANT_ISO_SIZE - sizeof "Z";
        while (buffer[end - 1] == '0')
            end--;
    }
    memcpy(buffer + end, "Z", sizeof "Z");
    return end + 1;
}

/* ---- edm text ---- */

bool edm_parse_integer(struct bytes text, int64_t min, int64_t max, int64_t *ret_value)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    struct bytes digits = bytes_from(text, text.len > 0 && (negative || text.ptr[0] == '+'));
    uint64_t magnitude;

    if (!bytes_parse_u64(digits, negative ? -(uint64_t)min : (uint64_t)max, &magnitude))
        return false;
    *ret_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* ---- doubles ---- */

static size_t digits_at(struct bytes text, size_t at)
{
    size_t begin = at;

    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
        at++;
    return at - begin;
}

static bool is_decimal(struct bytes text)
{
    size_t at = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
    size_t digits = digits_at(text, at);

    if (digits == 0)
        return false;
    at += digits;
    if (at < text.len && text.ptr[at] == '.') {
        digits = digits_at(text, at + 1);
        if (digits == 0)
            return false;
        at += 1 + digits;
    }
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        at++;
        at += at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+');
        digits = digits_at(text, at);
        if (digits == 0)
            return false;
        at += digits;
    }
    return at == text.len;
}

/* More digits than any double needs */
#define DECIMAL_MAX 1100

/* Powers of ten that are exact as doubles. */
static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7 };
#define POWER_MAX    7u
/* Integers with this many digits are exact as doubles. */
#define SHORT_DIGITS 15u

/* Parses digits with an optional point. Both the integer that they form and the power of ten to
 * divide it by are exact, so the quotient is the double nearest to the text. Returns false if the
 * text has another form. */
static bool parse_short(struct bytes text, double *ret_value)
{
    uint64_t digits = 0;
    size_t point = text.len;
    size_t decimals;

    if (text.len > SHORT_DIGITS + 1)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= '0' && text.ptr[i] <= '9')
            digits = digits * 10 + (uint64_t)(text.ptr[i] - '0');
        else if (text.ptr[i] == '.' && point == text.len)
            point = i;
        else
            return false;
    }
    decimals = point < text.len ? text.len - point - 1 : 0;
    if (point == 0 || point + 1 == text.len || decimals > POWER_MAX ||
        text.len - (decimals > 0) > SHORT_DIGITS)
        return false;
    *ret_value = (double)digits / powers[decimals];
    return true;
}

bool edm_parse_double(struct bytes text, double *ret_value)
{
    char buffer[DECIMAL_MAX + 1];
    double value;

    if (parse_short(text, ret_value))
        return true;
    if (text.len > DECIMAL_MAX || !is_decimal(text))
        return false;
    memcpy(buffer, text.ptr, text.len);
    buffer[text.len] = '\0';
    value = strtod(buffer, NULL); /* no locale is ever set */
    if (!isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

/* Formats a double with at most 4 decimals and 15 digits. An integer of d digits divided by a power
 * of ten yields the nearest double; so if that equals the value, these are the digits that printing
 * with 15 digits would produce. Returns false for other values, and for 0, whose sign would be
 * lost. */
static bool format_short(double value, char buffer[EDM_DOUBLE_SIZE])
{
    const size_t decimals_max = 4;
    double magnitude = fabs(value);
    size_t decimals = 0, at = EDM_DOUBLE_SIZE;
    uint64_t digits;

    if (!(magnitude >= 1e-4 && magnitude < 1e11))
        return false;
    while ((double)(digits = (uint64_t)(magnitude * powers[decimals] + 0.5)) / powers[decimals] !=
           magnitude)
        if (decimals++ == decimals_max)
            return false;
    buffer[--at] = '\0';
    if (decimals == 0)
        buffer[--at] = '0';
    for (size_t i = 0; i < decimals; i++, digits /= 10)
        buffer[--at] = (char)('0' + digits % 10);
    buffer[--at] = '.';
    do {
        buffer[--at] = (char)('0' + digits % 10);
        digits /= 10;
    } while (digits > 0);
    if (value < 0)
        buffer[--at] = '-';
    memmove(buffer, buffer + at, EDM_DOUBLE_SIZE - at);
    return true;
}

void edm_double_format(double value, char buffer[EDM_DOUBLE_SIZE])
{
    char *exponent;

    assert(isfinite(value));
    if (format_short(value, buffer))
        return;
    snprintf(buffer, EDM_DOUBLE_SIZE, "%.15g", value);
    if (memcmp(&(double){ strtod(buffer, NULL) }, &value, sizeof value) != 0)
        snprintf(buffer, EDM_DOUBLE_SIZE, "%.17g", value);
    exponent = strchr(buffer, 'e');
    if (exponent)
        *exponent = 'E';
    else if (!strchr(buffer, '.'))
        memcpy(buffer + strlen(buffer), ".0", sizeof ".0");
}

/* ---- dates ---- */

#define MINUTE_TICKS (60 * TICKS_PER_SECOND)

/* Removes Z, +hh:mm or -hh:mm from the end; a date without zone has two dashes of its own. */
static bool take_zone(struct bytes *text, int64_t *ret_minutes)
{
    static const size_t zone_length = sizeof "+hh:mm" - 1, date_length = sizeof "yyyy-mm-dd" - 1;
    const char *zone;
    uint64_t hours, minutes;

    *ret_minutes = 0;
    if (bytes_has_suffix(*text, bytes_of("Z", 1))) {
        text->len--;
        return true;
    }
    if (text->len < date_length + zone_length)
        return true;
    zone = text->ptr + text->len - zone_length;
    if (zone[0] != '+' && zone[0] != '-')
        return true;
    if (!bytes_parse_u64(bytes_of(zone + 1, 2), 14, &hours) || zone[3] != ':' ||
        !bytes_parse_u64(bytes_of(zone + 4, 2), 59, &minutes))
        return false;
    *ret_minutes = (int64_t)(hours * 60 + minutes) * (zone[0] == '-' ? -1 : 1);
    text->len -= zone_length;
    return true;
}

/* Converts the digits of a fraction to ticks, which rounding up may make a full second. */
static bool round_fraction(struct bytes digits, uint64_t *ret_ticks)
{
    uint64_t ticks = 0;
    bool more = false;

    if (digits.len == 0 || digits_at(digits, 0) != digits.len)
        return false;
    for (size_t i = 0; i < 7; i++)
        ticks = ticks * 10 + (i < digits.len ? (uint64_t)(digits.ptr[i] - '0') : 0);
    for (size_t i = 8; i < digits.len; i++)
        more = more || digits.ptr[i] != '0';
    if (digits.len > 7)
        ticks += digits.ptr[7] > '5' || (digits.ptr[7] == '5' && (more || ticks % 2 == 1));
    *ret_ticks = ticks;
    return true;
}

enum edm_parse edm_parse_datetime(struct bytes text, instant *ret_time)
{
    static const size_t seconds_length = sizeof "yyyy-mm-ddThh:mm:ss" - 1;
    char buffer[INSTANT_ISO_SIZE];
    struct bytes whole = text, fraction = { NULL, 0 };
    uint64_t ticks = 0;
    int64_t minutes;
    instant t;

    if (!take_zone(&whole, &minutes))
        return EDM_MALFORMED;
    bytes_cut(whole, '.', &whole, &fraction);
    /* A time without seconds is valid as an instant but not as an xsd:dateTime. */
    if (whole.len != seconds_length && (fraction.ptr || whole.len != sizeof "yyyy-mm-dd" - 1))
        return EDM_MALFORMED;
    if (fraction.ptr && !round_fraction(fraction, &ticks))
        return EDM_MALFORMED;
    memcpy(buffer, whole.ptr, whole.len);
    if (whole.len == seconds_length)
        buffer[whole.len++] = 'Z';
    if (!instant_parse_iso(bytes_of(buffer, whole.len), &t))
        return EDM_MALFORMED;
    t += ticks;
    /* Values this far below the range remain below it in any time zone; the subtraction would
     * underflow. */
    if (t >= EDM_DATETIME_MIN / 2)
        t -= (uint64_t)(minutes * (int64_t)MINUTE_TICKS);
    *ret_time = t;
    return t < EDM_DATETIME_MIN || t > EDM_DATETIME_MAX ? EDM_OUT_OF_RANGE : EDM_PARSED;
}
