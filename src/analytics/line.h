/* Formats a line of a Storage Analytics log. Pure. rest: Storage-Analytics-Log-Format */
#ifndef LAGRA_ANALYTICS_LINE_H
#define LAGRA_ANALYTICS_LINE_H

#include "observe/analytics_event.h"

/* Writes a status message such as "SASClientOtherError", which is also the name of a metrics
 * column. */
void outcome_write(struct text *to, enum analytics_who who, enum analytics_outcome outcome);

/* Writes the lines of a request with their line ends: one, or three for a copy.
 * event    followed by its strings
 * version  of the format: 1 or 2 */
void line_write(const struct analytics_event *event, unsigned version, struct text *to);
#define LINES_BYTES_MAX ((size_t)512 << 10)

#endif
