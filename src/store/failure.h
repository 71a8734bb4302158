/* Failures of a store whose data another process may take over (base/tenure.h). Such a store fails
 * to read before the process knows that it has lost the data. */
#ifndef LAGRA_STORE_FAILURE_H
#define LAGRA_STORE_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

struct store;
struct tenure;
struct waiter;

/* Sets the tenure, which outlives the store, or NULL if no other process can take over the data.
 * Called at startup. */
void store_use_tenure(struct store *store, struct tenure *tenure);
/* Returns true if STORE_CORRUPT or STORE_IO, returned before `failed_ns` (clock_boot_ns()), may be
 * reported to clients. Otherwise stores the waiter until the tenure has been renewed. It is never
 * woken if the data was lost. Thread-safe. */
bool store_failure_stands(struct store *store, uint64_t failed_ns, struct waiter *waiter);

#endif
