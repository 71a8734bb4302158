/* Values as texts: what JSON strings and numbers and the literals of $filter share. Pure
 * functions, any thread. rest: Payload-Format-for-Table-Service-Operations */
#ifndef LAGRA_TABLE_EDM_TEXT_H
#define LAGRA_TABLE_EDM_TEXT_H

#include "table/edm.h"

/* Digits with an optional sign, within the bounds. */
bool edm_parse_integer(struct bytes text, int64_t min, int64_t max, int64_t *ret_value);
/* [+-] digits [. digits] [e [+-] digits], finite; what is nearer to 0 than any double is 0. */
bool edm_parse_double(struct bytes text, double *ret_value);

enum edm_parse { EDM_PARSED, EDM_MALFORMED, EDM_OUT_OF_RANGE };
/* yyyy-mm-dd [Thh:mm:ss [.f+]] [Z | +hh:mm | -hh:mm]; without a zone it is UTC. Digits beyond
 * 100 ns round to the nearest, to even between two. Where it is out of range, *ret_time is about
 * it. decision: 163 */
enum edm_parse edm_parse_datetime(struct bytes text, instant *ret_time);

/* A finite double with 15 digits where that is exact, else with 17, always with a '.' or an 'E':
 * "10.0", "123456789012345.12", "4.94065645841247E-324", as recorded. */
#define EDM_DOUBLE_SIZE 32
void edm_double_format(double value, char buffer[EDM_DOUBLE_SIZE]);

#endif
