/* Text forms of values, shared by JSON and the literals of $filter. Pure functions. Thread-safe.
 * rest: Payload-Format-for-Table-Service-Operations */
#ifndef LAGRA_TABLE_EDM_TEXT_H
#define LAGRA_TABLE_EDM_TEXT_H

#include "table/edm.h"

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
