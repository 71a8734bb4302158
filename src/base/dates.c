/* Dates: formatting and parsing of instants with our own arithmetic, because gmtime() depends on
 * time zone, locale and a lock. */
#include "base/dates.h"

#include <string.h>
#include <time.h>

/* ---- calendar ---- */

#define DAYS_PER_400_YEARS 146097u
#define SECONDS_PER_DAY    86400u

struct civil {
    unsigned year, month, day; /* month and day from 1 */
};

/* Returns the days since 0001-01-01. Years are counted from 1 March of year 0, which is 306 days
 * before 0001-01-01, so that the leap day is the last day of its year. */
static uint64_t days_from_civil(struct civil c)
{
    uint64_t year = c.month <= 2 ? c.year - 1 : c.year;
    unsigned month_from_march = (c.month + 9) % 12;

    return year * 365 + year / 4 - year / 100 + year / 400 + (153 * month_from_march + 2) / 5 +
           c.day - 1 - 306;
}

static struct civil civil_from_days(uint64_t days)
{
    uint64_t from_march = days + 306;
    uint64_t era = from_march / DAYS_PER_400_YEARS;
    unsigned of_era = (unsigned)(from_march % DAYS_PER_400_YEARS);
    unsigned year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned month_from_march = (5 * of_year + 2) / 153;
    struct civil c;

    c.day = of_year - (153 * month_from_march + 2) / 5 + 1;
    c.month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    c.year = (unsigned)(era * 400) + year_of_era + (c.month <= 2 ? 1 : 0);
    return c;
}

static const char day_names[] = "MonTueWedThuFriSatSun"; /* 0001-01-01 was a Monday */
static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

/* Writes two digits of a number below 100. */
static inline char *put_two(char *to, unsigned value)
{
    memcpy(to, digit_pairs + 2 * (size_t)value, 2);
    return to + 2;
}

/* Writes the last four digits. */
static inline char *put_four(char *to, unsigned value)
{
    return put_two(put_two(to, value / 100 % 100), value % 100);
}

static inline char *put_string(char *to, const char *from, size_t len)
{
    memcpy(to, from, len);
    return to + len;
}

/* Writes "08:49:37". */
static char *put_time(char *to, unsigned second_of_day)
{
    to = put_two(to, second_of_day / 3600);
    *to++ = ':';
    to = put_two(to, second_of_day / 60 % 60);
    *to++ = ':';
    return put_two(to, second_of_day % 60);
}

void instant_format_http(instant t, char buffer[INSTANT_HTTP_SIZE])
{
    uint64_t seconds = instant_seconds(t);
    uint64_t days = seconds / SECONDS_PER_DAY;
    struct civil c = civil_from_days(days);
    char *to = buffer;

    to = put_string(to, day_names + 3 * (days % 7), 3);
    to = put_string(to, ", ", 2);
    to = put_two(to, c.day);
    *to++ = ' ';
    to = put_string(to, month_names + 3 * (size_t)(c.month - 1), 3);
    *to++ = ' ';
    to = put_four(to, c.year);
    *to++ = ' ';
    to = put_time(to, (unsigned)(seconds % SECONDS_PER_DAY));
    put_string(to, " GMT", sizeof " GMT");
}

void instant_format_iso(instant t, char buffer[INSTANT_ISO_SIZE])
{
    uint64_t seconds = instant_seconds(t);
    unsigned ticks = (unsigned)(t % TICKS_PER_SECOND);
    struct civil c = civil_from_days(seconds / SECONDS_PER_DAY);
    char *to = buffer;

    to = put_four(to, c.year);
    *to++ = '-';
    to = put_two(to, c.month);
    *to++ = '-';
    to = put_two(to, c.day);
    *to++ = 'T';
    to = put_time(to, (unsigned)(seconds % SECONDS_PER_DAY));
    *to++ = '.';
    to = put_four(to, ticks / 1000);
    to = put_two(to, ticks / 10 % 100);
    *to++ = (char)('0' + ticks % 10);
    put_string(to, "Z", sizeof "Z");
}

/* ---- parsing ---- */

/* The rest of a date being parsed; each step consumes its part or marks it bad. */
struct cursor {
    struct bytes left;
    bool bad;
};

static bool next_is(const struct cursor *at, char c)
{
    return at->left.len > 0 && at->left.ptr[0] == c;
}

/* Inline, because the length of a literal is then a constant. */
static inline void skip(struct cursor *at, const char *expected)
{
    size_t length = strlen(expected);

    if (at->left.len < length || memcmp(at->left.ptr, expected, length) != 0)
        at->bad = true;
    else
        at->left = bytes_of(at->left.ptr + length, at->left.len - length);
}

/* Parses exactly `digits` digits. */
static inline unsigned take_digits(struct cursor *at, size_t digits)
{
    unsigned value = 0;

    if (at->left.len < digits) {
        at->bad = true;
        return 0;
    }
    for (size_t i = 0; i < digits; i++) {
        unsigned digit = (unsigned char)at->left.ptr[i] - (unsigned)'0';

        at->bad |= digit > 9;
        value = value * 10 + digit;
    }
    at->left = bytes_of(at->left.ptr + digits, at->left.len - digits);
    return value;
}

/* Consumes a three-letter name and returns its index in `names`, or `count` if it is not one of
 * them. */
static inline unsigned take_name(struct cursor *at, const char *names, unsigned count)
{
    for (unsigned i = 0; i < count && at->left.len >= 3; i++)
        if (memcmp(at->left.ptr, names + 3 * (size_t)i, 3) == 0) {
            at->left = bytes_of(at->left.ptr + 3, at->left.len - 3);
            return i;
        }
    return count;
}

/* Parses a month name and returns its number from 1. */
static unsigned take_month(struct cursor *at)
{
    unsigned month = take_name(at, month_names, 12);

    at->bad |= month == 12;
    return month + 1;
}

/* Parses a time of day and returns its seconds since midnight. A leap second counts as the second
 * before it. */
static unsigned take_time(struct cursor *at)
{
    unsigned hour, minute, second;

    hour = take_digits(at, 2);
    skip(at, ":");
    minute = take_digits(at, 2);
    skip(at, ":");
    second = take_digits(at, 2);
    if (hour > 23 || minute > 59 || second > 60)
        at->bad = true;
    return hour * 3600 + minute * 60 + (second == 60 ? 59 : second);
}

static bool civil_is_valid(struct civil c)
{
    static const unsigned char month_days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = c.year % 4 == 0 && (c.year % 100 != 0 || c.year % 400 == 0);

    if (c.year < 1 || c.year > 9999 || c.month < 1 || c.month > 12 || c.day < 1)
        return false;
    return c.day <= month_days[c.month - 1] + (c.month == 2 && leap ? 1u : 0u);
}

/* Finishes parsing: sets *ret_instant if everything was valid and consumed. */
static bool finish(const struct cursor *at, struct civil c, unsigned second_of_day, uint64_t ticks,
                   instant *ret_instant)
{
    if (at->bad || at->left.len > 0 || !civil_is_valid(c))
        return false;
    *ret_instant =
        (days_from_civil(c) * SECONDS_PER_DAY + second_of_day) * TICKS_PER_SECOND + ticks;
    return true;
}

/* Parses the rest of "Sun, 06 Nov 1994 08:49:37 GMT" after the day's name. */
static bool parse_imf(struct cursor at, instant *ret_instant)
{
    struct civil c;
    unsigned second_of_day;

    skip(&at, ", ");
    c.day = take_digits(&at, 2);
    skip(&at, " ");
    c.month = take_month(&at);
    skip(&at, " ");
    c.year = take_digits(&at, 4);
    skip(&at, " ");
    second_of_day = take_time(&at);
    skip(&at, " GMT");
    return finish(&at, c, second_of_day, 0, ret_instant);
}

/* Parses the rest of "Sunday, 06-Nov-94 08:49:37 GMT". A year that appears to be more than 50
 * years ahead means the most recent past year with the same last digits. rfc: 9110 5.6.7 */
static bool parse_rfc850(struct cursor at, instant *ret_instant)
{
    instant now = INSTANT_UNIX_EPOCH + (uint64_t)time(NULL) * TICKS_PER_SECOND;
    unsigned this_year = civil_from_days(instant_seconds(now) / SECONDS_PER_DAY).year;
    struct civil c;
    unsigned second_of_day;

    skip(&at, ", ");
    c.day = take_digits(&at, 2);
    skip(&at, "-");
    c.month = take_month(&at);
    skip(&at, "-");
    c.year = take_digits(&at, 2) + this_year / 100 * 100;
    if (c.year > this_year + 50)
        c.year -= 100;
    skip(&at, " ");
    second_of_day = take_time(&at);
    skip(&at, " GMT");
    return finish(&at, c, second_of_day, 0, ret_instant);
}

/* Parses the rest of "Sun Nov 6 08:49:37 1994". */
static bool parse_asctime(struct cursor at, instant *ret_instant)
{
    struct civil c;
    unsigned second_of_day;

    skip(&at, " ");
    c.month = take_month(&at);
    skip(&at, " ");
    if (next_is(&at, ' ')) {
        skip(&at, " ");
        c.day = take_digits(&at, 1);
    } else {
        c.day = take_digits(&at, 2);
    }
    skip(&at, " ");
    second_of_day = take_time(&at);
    skip(&at, " ");
    c.year = take_digits(&at, 4);
    return finish(&at, c, second_of_day, 0, ret_instant);
}

/* Skips the full name of a day. */
static bool skip_long_day(struct cursor *at)
{
    static const struct bytes days[7] = { BYTES("Monday"),   BYTES("Tuesday"), BYTES("Wednesday"),
                                          BYTES("Thursday"), BYTES("Friday"),  BYTES("Saturday"),
                                          BYTES("Sunday") };

    for (int i = 0; i < 7; i++)
        if (bytes_has_prefix(at->left, days[i])) {
            at->left = bytes_from(at->left, days[i].len);
            return true;
        }
    return false;
}

bool instant_parse_http(struct bytes text, instant *ret_instant)
{
    struct cursor at = { .left = text };

    if (take_name(&at, day_names, 7) < 7) {
        if (next_is(&at, ','))
            return parse_imf(at, ret_instant);
        if (next_is(&at, ' '))
            return parse_asctime(at, ret_instant);
    }
    at.left = text;
    return skip_long_day(&at) && parse_rfc850(at, ret_instant);
}

/* Parses ".f" to ".fffffff" as ticks. */
static uint64_t take_fraction(struct cursor *at)
{
    uint64_t ticks = 0;
    size_t digits = 0;

    while (digits < 7 && at->left.len > 0 && at->left.ptr[0] >= '0' && at->left.ptr[0] <= '9') {
        ticks = ticks * 10 + take_digits(at, 1);
        digits++;
    }
    if (digits == 0)
        at->bad = true;
    for (; digits < 7; digits++)
        ticks *= 10;
    return ticks;
}

bool instant_parse_iso(struct bytes text, instant *ret_instant)
{
    struct cursor at = { .left = text };
    unsigned second_of_day = 0, second;
    uint64_t ticks = 0;
    struct civil c;

    c.year = take_digits(&at, 4);
    skip(&at, "-");
    c.month = take_digits(&at, 2);
    skip(&at, "-");
    c.day = take_digits(&at, 2);
    if (at.left.len == 0)
        return finish(&at, c, 0, 0, ret_instant);

    skip(&at, "T");
    second_of_day = take_digits(&at, 2) * 3600;
    skip(&at, ":");
    second = take_digits(&at, 2) * 60;
    if (second_of_day > 23 * 3600 || second > 59 * 60)
        return false;
    second_of_day += second;
    if (next_is(&at, ':')) {
        skip(&at, ":");
        second = take_digits(&at, 2);
        if (second > 59)
            return false;
        second_of_day += second;
        if (next_is(&at, '.')) {
            skip(&at, ".");
            ticks = take_fraction(&at);
        }
    }
    skip(&at, "Z");
    return finish(&at, c, second_of_day, ticks, ret_instant);
}
