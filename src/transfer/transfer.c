/* See transfer.h. */
#include "transfer/run.h"

static struct source *open_source(struct worker *worker, const struct transfer_options *options)
{
    if (options->from_export)
        return source_export_new(worker, options->from_export);
    if (options->from_azurite)
        return source_azurite_new(worker, options->from_azurite, options->azurite_account);
    return source_server_new(false);
}

static struct sink *open_sink(struct worker *worker, const struct transfer_options *options)
{
    return options->to_export ? sink_export_new(worker, options->to_export)
                              : sink_server_new(worker);
}

static struct source *open_target(struct worker *worker, const struct transfer_options *options)
{
    return options->to_export ? source_export_new(worker, options->to_export)
                              : source_server_new(true);
}

bool transfer_run(const struct transfer_options *options, struct transfer_result *ret_result)
{
    static const struct run_openers openers = { open_source, open_sink, open_target };

    return run_all(options, &openers, ret_result);
}
