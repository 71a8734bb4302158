/* Where the requests of Storage Analytics end (recorded.h): log blobs and entities of metrics, in
 * the world, and the events that they must contain. */
#ifndef LAGRA_SIM_RECORDED_SINK_H
#define LAGRA_SIM_RECORDED_SINK_H

#include "observe/analytics_event.h"
#include "world.h"

/* Begins a life of the server. What the previous one recorded this long before its end must be
 * there. */
void sink_begin_life(uint64_t late_ns);
/* Records an event, with the lines that must be in a log; empty if it is not logged. Returns its
 * index. */
size_t sink_record(const struct analytics_event *event, struct bytes lines);
/* The event was taken. is_sure: the settings have not changed since it was recorded */
void sink_taken(size_t index, bool is_sure);
/* From now on no request fails. */
void sink_calm(void);
/* Fails if an event of this life is missing, or if there are fewer than answered requests. */
void sink_check_all(size_t answered, bool in_hours, bool in_minutes);

#endif
