/* A RADOS in memory that goes on by itself: a fake (fake.h) with a thread that steps it, for tests of what
 * has threads of its own. Pauses are real ones. */
#ifndef LAGRA_TESTS_RADOS_LIVE_H
#define LAGRA_TESTS_RADOS_LIVE_H

#include "fake.h"

struct live;
struct live *live_new(struct fake_options options);
/* Of one client. */
struct port *live_port(struct live *live);
/* Nothing may be in flight that somebody waits for. */
void live_free(struct live *live);

#endif
