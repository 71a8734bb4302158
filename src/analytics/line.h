/* A line of a log of Storage Analytics. Pure. rest: Storage-Analytics-Log-Format */
#ifndef LAGRA_ANALYTICS_LINE_H
#define LAGRA_ANALYTICS_LINE_H

#include "service/analytics_event.h"

/* Status messages: "SASClientOtherError", names of columns of metrics, too. */
void outcome_write(struct text *to, enum analytics_who who, enum analytics_outcome outcome);

/* Writes the lines of a request, each with its end: one, or three of a copy.
 * event    with its texts behind it
 * version  1 or 2: of the format */
void line_write(const struct analytics_event *event, unsigned version, struct text *to);
#define LINES_BYTES_MAX ((size_t)512 << 10)

#endif
