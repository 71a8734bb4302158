/* Property values: the eight primitive types of the Entity Data Model in the Table service, their
 * names, their sizes, and DateTime as text. Pure functions. Thread-safe.
 * rest: Understanding-the-Table-Service-Data-Model "Property Types" */
#ifndef LAGRA_TABLE_EDM_H
#define LAGRA_TABLE_EDM_H

#include "base/clock.h"
#include "base/ids.h"

/* Stored in records: never change the numbers */
enum edm_type {
    EDM_STRING = 0,
    EDM_INT32 = 1,
    EDM_INT64 = 2,
    EDM_DOUBLE = 3,
    EDM_BOOLEAN = 4,
    EDM_DATETIME = 5,
    EDM_GUID = 6,
    EDM_BINARY = 7,
    EDM_TYPES,
};

struct edm_value {
    enum edm_type type;
    union {
        struct bytes bytes; /* EDM_STRING: UTF-8; EDM_BINARY */
        int64_t integer;    /* EDM_INT32 (within its range), EDM_INT64 */
        double real;        /* EDM_DOUBLE, including NaN and infinities */
        bool boolean;       /* EDM_BOOLEAN */
        instant time;       /* EDM_DATETIME: EDM_DATETIME_MIN .. EDM_DATETIME_MAX */
        struct guid guid;   /* EDM_GUID */
    } as;
};

/* 1601-01-01T00:00:00Z and the last tick of the year 9999. */
#define EDM_DATETIME_MIN    504911232000000000ull
#define EDM_DATETIME_MAX    3155378975999999999ull
/* Maximum size of a String (as UTF-16) or Binary. */
#define EDM_VALUE_BYTES_MAX (64u << 10)

/* Returns "Edm.Int64" and so on. */
const char *edm_type_name(enum edm_type type);
/* Parses a type name, case-sensitively. Returns false for any other name. */
bool edm_type_parse(struct bytes name, enum edm_type *ret_type);

/* Compares two UTF-8 texts by UTF-16 code units, like .NET's ordinal comparison: <0, 0, >0. */
int edm_compare_text(struct bytes a, struct bytes b);
/* Returns the size that counts towards an entity's limit: for a String 4 plus 2 bytes per code
 * unit, for a Binary its length plus 4, otherwise the size of the type. decision: 160 */
size_t edm_value_size(const struct edm_value *value);
/* Returns the size of a String with this number of code units. */
size_t edm_text_size(size_t units);

/* Writes "2017-01-05T03:26:33.347125Z", without trailing zeros or a zero fraction, as in the real
 * service. Returns its length. */
#define EDM_DATETIME_SIZE INSTANT_ISO_SIZE
size_t edm_datetime_format(instant t, char buffer[EDM_DATETIME_SIZE]);

/* Text forms of values, shared by JSON and the literals of $filter. Pure functions. Thread-safe.
 * rest: Payload-Format-for-Table-Service-Operations */

/* Parses digits with an optional sign, within the bounds. */
bool edm_parse_integer(struct bytes text, int64_t min, int64_t max, int64_t *ret_value);
/* Parses [+-] digits [. digits] [e [+-] digits]; the value must be finite, and may underflow to
 * 0. */
bool edm_parse_double(struct bytes text, double *ret_value);

enum edm_parse { EDM_PARSED, EDM_MALFORMED, EDM_OUT_OF_RANGE };
/* Parses yyyy-mm-dd [Thh:mm:ss [.f+]] [Z | +hh:mm | -hh:mm]; UTC without a zone. Digits beyond 100
 * ns are rounded half to even. If out of range, *ret_time is approximate. decision: 163 */
enum edm_parse edm_parse_datetime(struct bytes text, instant *ret_time);

/* Formats a finite double with 15 digits if that is exact, else with 17, always with a '.' or an
 * 'E': "10.0", "123456789012345.12", "4.94065645841247E-324", as in the real service. */
#define EDM_DOUBLE_SIZE 32
void edm_double_format(double value, char buffer[EDM_DOUBLE_SIZE]);

#endif
