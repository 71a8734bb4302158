/* Days of the civil calendar. */
#include "times.h"

#include <stdio.h>
#include <string.h>

/* From the year 1 on. */
#define UNIX_EPOCH_S   INT64_C(62135596800)
#define FILETIME_EPOCH UINT64_C(504911232000000000) /* the year 1601, in ticks */

uint64_t times_ticks(const char *time)
{
    unsigned year, month, day, hour, minute, second, fraction;
    uint64_t days, y;

    if (sscanf(time, "%4u-%2u-%2uT%2u:%2u:%2u.%7uZ", &year, &month, &day, &hour, &minute, &second,
               &fraction) != 7)
        return 0;
    /* Days of the civil calendar, with years that begin in March. */
    y = month <= 2 ? year - 1 : year;
    days = y * 365 + y / 4 - y / 100 + y / 400 +
           (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1 - 306;
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 10000000 + fraction;
}

void times_format(uint64_t ticks, char to[32])
{
    uint64_t seconds = ticks / 10000000, days = seconds / 86400 + 306, of_day = seconds % 86400;
    /* Eras of 400 years, with years that begin in March. */
    uint64_t era = days / 146097, day = days % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    uint64_t of_year = day - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;

    (void)snprintf(to, 32, "%04u-%02u-%02uT%02u:%02u:%02u.%07uZ",
                   (unsigned)(era * 400 + year + (month >= 10)) % 10000,
                   (unsigned)(month < 10 ? month + 3 : month - 9) % 100,
                   (unsigned)(of_year - (153 * month + 2) / 5 + 1) % 100,
                   (unsigned)(of_day / 3600) % 100, (unsigned)(of_day / 60 % 60),
                   (unsigned)(of_day % 60), (unsigned)(ticks % 10000000));
}

void times_deleted(uint64_t ticks, char to[20])
{
    (void)snprintf(to, 20, "%016llX", (unsigned long long)(ticks - FILETIME_EPOCH));
}

int64_t times_http_seconds(const char *date)
{
    static const char *const months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4] = "", text[40];
    unsigned day, year, hour, minute, second;
    const char *at;

    if (sscanf(date, "%*3s, %2u %3s %4u %2u:%2u:%2u GMT", &day, month, &year, &hour, &minute,
               &second) != 6)
        return 0;
    at = strstr(months, month);
    if (!at)
        return 0;
    (void)snprintf(text, sizeof text, "%04u-%02u-%02uT%02u:%02u:%02u.0000000Z", year % 10000,
                   (unsigned)(at - months) / 3 + 1, day % 100, hour % 100, minute % 100,
                   second % 100);
    return (int64_t)(times_ticks(text) / 10000000) - UNIX_EPOCH_S;
}
