/* Request and response of Get Account Information. rest: Get-Account-Information */
#include "blob/service_operations.h"
#include "service/answer.h"

OPERATION_CHECKS_NOTHING(get_account_information)

void get_account_information_answer(struct answer *a,
                                    const struct get_account_information_parameters *p,
                                    const struct get_account_information_result *r)
{
    (void)p;
    (void)r;
    answer_string(a, "x-ms-sku-name", "Standard_LRS");
    answer_string(a, "x-ms-account-kind", "StorageV2");
    if (call_since(a->call, "2019-07-07"))
        answer_string(a, "x-ms-is-hns-enabled", "false");
}
