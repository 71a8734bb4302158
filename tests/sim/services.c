/* The table of services. */
#include "services.h"

#include <string.h>

#include "fs_blobs.h"
#include "fs_judge.h"
#include "fs_model.h"
#include "fs_request.h"
#include "fs_script.h"
#include "origins.h"
#include "judge.h"
#include "kept.h"
#include "linear.h"
#include "model.h"
#include "path_judge.h"
#include "path_request.h"
#include "path_script.h"
#include "pending.h"
#include "queue_judge.h"
#include "queue_model.h"
#include "queue_request.h"
#include "queue_script.h"
#include "script.h"
#include "table_judge.h"
#include "table_model.h"
#include "table_request.h"
#include "table_script.h"
#include "world.h"

/* Of the server. Their headers have names that the models have too. */
extern const struct service blob_service, queue_service, table_service, file_service, dfs_service;

static void begin_blobs(void)
{
    model_begin();
    origins_begin();
    kept_begin();
    linear_begin();
}

static void end_blobs(struct server *server)
{
    (void)server;
    linear_check();
}

/* The service of blobs, by the name of its runs. */
#define BLOBS_AS(name_)                                                                            \
    {                                                                                              \
        .name = name_, .service = &blob_service, .names = container_names,                         \
        .name_count = CONTAINERS, .cell_of = model_cell_of, .draw = script_draw,                   \
        .format = ask_format_blob, .begin = begin_blobs, .begin_life = judge_begin_life,           \
        .asked = judge_asked, .committed = judge_committed, .committed_behind = pending_committed, \
        .has_committed = judge_has_committed, .answered = judge_answered,                          \
        .take_stock = judge_take_stock, .return_to = model_return_to, .check_end = end_blobs       \
    }

static const struct sim_service services[SIM_SERVICES] = {
    [SIM_BLOB] = BLOBS_AS("blob"),
    [SIM_QUEUE] = { .name = "queue",
                    .service = &queue_service,
                    .names = container_names,
                    .name_count = QUEUES,
                    .cell_of = queue_cell_of,
                    .draw = queue_draw,
                    .format = queue_format,
                    .write = queue_write_request,
                    .read_header = queue_read_header,
                    .begin = queue_judge_begin,
                    .begin_life = queue_begin_life,
                    .asked = queue_requested,
                    .committed = queue_committed,
                    .committed_move = queue_committed_move,
                    .has_committed = queue_has_committed,
                    .answered = queue_answered,
                    .take_stock = queue_take_stock,
                    .return_to = queue_return_to,
                    .check_end = queue_check_end },
    [SIM_TABLE] = { .name = "table",
                    .service = &table_service,
                    .names = table_names,
                    .name_count = TABLES,
                    .cell_of = table_cell_of,
                    .draw = table_script_draw,
                    .format = table_request_format,
                    .write = table_request_write,
                    .signs_as_table = true,
                    .read_header = table_request_read_header,
                    .begin = table_judge_begin,
                    .begin_life = table_judge_begin_life,
                    .asked = table_judge_asked,
                    .committed = table_judge_committed,
                    .has_committed = table_judge_has_committed,
                    .answered = table_judge_answered,
                    .take_stock = table_judge_take_stock,
                    .return_to = table_return_to },
    [SIM_FILE] = { .name = "file",
                   .service = &file_service,
                   .beside = &blob_service,
                   .is_beside = fs_is_beside,
                   .names = fs_shares,
                   .name_count = 1,
                   .cell_of = fs_cell_of,
                   .draw = fs_script_draw,
                   .format = fs_request_format,
                   .write = fs_request_write,
                   .read_header = fs_request_read_header,
                   .begin = fs_judge_begin,
                   .begin_life = fs_judge_begin_life,
                   .asked = fs_judge_asked,
                   .committed = fs_judge_committed,
                   .committed_behind = fs_judge_committed_behind,
                   .has_committed = fs_judge_has_committed,
                   .answered = fs_judge_answered,
                   .take_stock = fs_judge_take_stock,
                   .check_end = fs_judge_check_end },
    [SIM_PATH] = { .name = "path",
                   .service = &dfs_service,
                   .beside = &blob_service,
                   .is_beside = path_request_is_by_blob,
                   .names = path_filesystems,
                   .name_count = 1,
                   .cell_of = path_cell_of,
                   .draw = path_script_draw,
                   .format = path_request_format,
                   .write = path_request_write,
                   .read_header = path_request_read_header,
                   .begin = path_judge_begin,
                   .begin_life = path_judge_begin_life,
                   .asked = path_judge_asked,
                   .committed = path_judge_committed,
                   .has_committed = path_judge_has_committed,
                   .answered = path_judge_answered,
                   .take_stock = path_judge_take_stock },
    [SIM_PROTECT] = BLOBS_AS("protect"),
};

/* Seeds draw one of these; files and paths are asked for by name. */
static const unsigned drawn[4] = {
    SIM_BLOB,
    SIM_BLOB,
    SIM_QUEUE,
    SIM_TABLE,
};

const struct sim_service *sim_service(void)
{
    return &services[world->plan.service];
}

bool sim_is_of_blobs(void)
{
    return world->plan.service == SIM_BLOB || world->plan.service == SIM_PROTECT;
}

unsigned sim_service_named(const char *name)
{
    unsigned number = 0;

    while (number < SIM_SERVICES && strcmp(services[number].name, name) != 0)
        number++;
    return number;
}

const char *sim_service_name(unsigned number)
{
    return services[number].name;
}

unsigned sim_service_of(uint64_t random)
{
    return drawn[random % 4];
}
