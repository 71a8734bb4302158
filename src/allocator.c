/* What jemalloc, which the program is linked with, reads when it starts. A thread of its own returns
 * memory that nobody uses to the system, so that what a crowd of clients took is not kept after they
 * left. Without jemalloc (sanitizers) nothing reads it. jemalloc(3), "TUNING" */
extern const char *malloc_conf;
const char *malloc_conf = "background_thread:true,dirty_decay_ms:2000,muzzy_decay_ms:0";
