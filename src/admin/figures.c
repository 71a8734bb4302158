/* Prints values that are measured on request: see management_answer.h. */
#include "admin/management_answer.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/metrics.h"

/* A family with a single series, and its value. */
struct figure {
    struct metric_family family;
    double value;
};

#define GAUGE(name, help)                                                                          \
    {                                                                                              \
        name, help, METRIC_GAUGE                                                                   \
    }
#define COUNTER(name, help)                                                                        \
    {                                                                                              \
        name, help, METRIC_COUNTER                                                                 \
    }

static void print_all(struct text *to, const struct figure *figures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        metric_print_value(to, &figures[i].family, figures[i].value);
}

/* ---- the process ---- */

/* Reads the number of pages, and of pages in memory. man: proc(5), /proc/self/statm */
static void read_pages(double *ret_all, double *ret_resident)
{
    FILE *file = fopen("/proc/self/statm", "re");

    *ret_all = *ret_resident = 0;
    if (!file)
        return;
    if (fscanf(file, "%lf %lf", ret_all, ret_resident) != 2)
        *ret_all = *ret_resident = 0;
    fclose(file);
}

static double count_entries(const char *folder)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    double count = 0;

    if (!directory)
        return 0;
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static double cpu_seconds(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double descriptors_max(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}

static void print_process(struct text *to, const struct management *management)
{
    double page = (double)sysconf(_SC_PAGESIZE), all, resident;

    read_pages(&all, &resident);
    const struct figure figures[] = {
        { COUNTER("process_cpu_seconds_total", "User and system CPU time."), cpu_seconds() },
        { GAUGE("process_resident_memory_bytes", "Resident memory."), resident * page },
        { GAUGE("process_virtual_memory_bytes", "Virtual memory."), all * page },
        { GAUGE("process_open_fds", "Number of open file descriptors."),
          count_entries("/proc/self/fd") },
        { GAUGE("process_max_fds", "Limit of open file descriptors."), descriptors_max() },
        { GAUGE("process_threads", "Number of threads."), count_entries("/proc/self/task") },
        { GAUGE("process_start_time_seconds", "Unix time at which the process was started."),
          (double)management->started_s },
    };
    print_all(to, figures, sizeof figures / sizeof figures[0]);
}

/* The memory budget. docs/monitoring.md */
static void print_memory(struct text *to)
{
    const struct figure figures[] = {
        { GAUGE("lagra_memory_budget_bytes",
                "Memory that all requests and background tasks together can use."),
          (double)MEMORY_BUDGET_BYTES },
        { GAUGE("lagra_memory_large_request_bytes", "Memory used beyond the budget by the only "
                                                    "large request that is admitted at a time."),
          (double)memory_large_held() },
        { COUNTER("lagra_memory_refused_total",
                  "Refused charges to the memory budget, whose requests failed with 503."),
          (double)memory_budget_refusals() },
    };

    print_all(to, figures, sizeof figures / sizeof figures[0]);
    text_printf(to, "# HELP lagra_memory_held_bytes Memory charged to the memory budget, by use.\n"
                    "# TYPE lagra_memory_held_bytes gauge\n");
    for (enum memory_use use = 0; use < MEMORY_USES; use++)
        text_printf(to, "lagra_memory_held_bytes{use=\"%s\"} %zu\n", memory_use_name(use),
                    memory_budget_held(use));
}

/* ---- connections ---- */

static void print_connections(struct text *to, const struct management *management)
{
    text_printf(to, "# HELP lagra_connections Number of connections of each worker.\n"
                    "# TYPE lagra_connections gauge\n");
    for (size_t i = 0; i < management->endpoints->count; i++) {
        struct http_server *server = management->servers[i];
        int count;

        for (unsigned k = 0; server && (count = http_worker_connections(server, k)) >= 0; k++)
            text_printf(to, "lagra_connections{service=\"%s\",worker=\"%u\"} %d\n",
                        management->endpoints->endpoints[i].service->name, k, count);
    }
}

/* ---- the store ---- */

static void print_store(struct text *to, struct store *store)
{
    const struct figure states[] = {
        { GAUGE("lagra_store_healthy", "1, or 0 after a write or sync of the store has failed."),
          store_healthy(store) },
        { GAUGE("lagra_store_full", "1 while requests that need disk space are refused."),
          store_is_full(store) },
    };
    struct store_figures now;

    print_all(to, states, sizeof states / sizeof states[0]);
    if (!store_figures(store, &now))
        return;
    const struct figure figures[] = {
        { GAUGE("lagra_disk_free_bytes", "Free space on the disk of the data directory."),
          (double)now.disk_free_bytes },
        { GAUGE("lagra_disk_reserve_bytes",
                "Free disk space below which requests that need disk space are refused."),
          (double)now.disk_reserve_bytes },
        { GAUGE("lagra_store_piece_bytes", "Total size of the contents that records refer to."),
          (double)now.piece_bytes },
        { GAUGE("lagra_store_extents", "Number of files that hold contents."),
          (double)now.extents },
        { GAUGE("lagra_store_extents_open", "Number of open files that hold contents."),
          (double)now.extents_open },
        { GAUGE("lagra_store_record_bytes", "Total size of the files that hold records."),
          (double)now.record_bytes },
        { GAUGE("lagra_store_memory_table_bytes",
                "Size of the memtables, whose data is also in the log."),
          (double)now.memory_table_bytes },
        { GAUGE("lagra_store_compaction_pending_bytes",
                "Size of the records that wait for compaction."),
          (double)now.compaction_bytes },
        { COUNTER("lagra_record_cache_hits_total", "Lookups of records that were found in memory."),
          (double)now.cache_hits },
        { COUNTER("lagra_record_cache_misses_total", "Lookups of records that had to read files."),
          (double)now.cache_misses },
        { GAUGE("lagra_block_cache_bytes",
                "Size of the cache for blocks of the files that hold records."),
          (double)now.block_cache_bytes },
        { GAUGE("lagra_store_stalled",
                "1 while commits are slowed down because compactions are behind."),
          now.is_stalled },
    };
    print_all(to, figures, sizeof figures / sizeof figures[0]);
}

void figures_print(struct text *to, const struct management *management)
{
    print_process(to, management);
    print_memory(to);
    print_connections(to, management);
    print_store(to, management->store);
    text_printf(to, "# HELP lagra_build_info Version of the server, as a label; always 1.\n# TYPE "
                    "lagra_build_info gauge\n"
                    "lagra_build_info{version=\"" LAGRA_VERSION "\"} 1\n");
}
