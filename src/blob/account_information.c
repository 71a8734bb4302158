/* Get Account Information, of the service, a container or a blob: the same everywhere.
 * rest: Get-Account-Information */
#include "blob/blob.h"

enum error get_account_information(struct decision *d)
{
    answer(d, 200);
    answer_string(d, "x-ms-sku-name", "Standard_LRS");
    answer_string(d, "x-ms-account-kind", "StorageV2");
    if (call_since(d->call, "2019-07-07"))
        answer_string(d, "x-ms-is-hns-enabled", "false");
    return OK;
}
