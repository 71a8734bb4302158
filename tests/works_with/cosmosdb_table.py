"""azure-cosmosdb-table: every write, queries, transactions (with LF line ends), through kills."""
import datetime
import os
import uuid
from concurrent.futures import ThreadPoolExecutor

from azure.common import AzureException, AzureHttpError
from azure.cosmosdb.table.models import EdmType, EntityProperty, TablePermissions
from azure.cosmosdb.table.common.models import AccessPolicy
from azure.cosmosdb.table.common.retry import LinearRetry, no_retry
from azure.cosmosdb.table.tablebatch import TableBatch
from azure.cosmosdb.table.tableservice import TableService
from requests.exceptions import RequestException

KILLS = 2
TRANSACTIONS = 240
TABLE = "t" + uuid.uuid4().hex

service = TableService(connection_string=os.environ["AZURE_STORAGE_CONNECTION_STRING"])
service.retry = no_retry


def entity(row, **more):
    return {"PartitionKey": "p", "RowKey": row, **more}


def refused(status, call, *args, **named):
    try:
        call(*args, **named)
    except AzureHttpError as error:
        assert error.status_code == status, error
    else:
        raise AssertionError("it is not refused")


def rows(**query):
    return [found.RowKey for found in service.query_entities(TABLE, **query)]


def writes():
    assert service.create_table(TABLE)
    assert not service.create_table(TABLE)
    assert TABLE in [table.name for table in service.list_tables()]
    expiry = datetime.datetime.utcnow() + datetime.timedelta(hours=1)
    service.set_table_acl(TABLE, {"one": AccessPolicy(permission=TablePermissions.QUERY, expiry=expiry)})
    assert service.get_table_acl(TABLE)["one"].permission == "r"

    given = entity(
        "a'b ü", text="ä\"\n€", yes=True, long=2**53 + 1, int=EntityProperty(EdmType.INT32, -5),
        double=1.5, when=datetime.datetime(2020, 2, 3, 4, 5, 6),
        guid=EntityProperty(EdmType.GUID, "c9da6455-213d-42c9-9a79-3e9149a57833"),
        bytes=EntityProperty(EdmType.BINARY, b"\0\xff\n"))
    etag = service.insert_entity(TABLE, given)
    back = service.get_entity(TABLE, "p", "a'b ü")
    assert back.etag == etag
    assert (back.text, back.yes, back.long, back.double) == (given["text"], True, 2**53 + 1, 1.5), back
    assert back.when.replace(tzinfo=None) == given["when"]
    assert (back.int.value if hasattr(back.int, "value") else back.int) == -5
    assert back.bytes.value == b"\0\xff\n" and back.guid.value == given["guid"].value

    refused(409, service.insert_entity, TABLE, given)
    service.merge_entity(TABLE, entity("a'b ü", more=1), if_match=etag)
    refused(412, service.update_entity, TABLE, given, if_match=etag)
    service.insert_or_merge_entity(TABLE, entity("new", a=1))
    service.insert_or_replace_entity(TABLE, entity("new", b=2))
    assert "a" not in service.get_entity(TABLE, "p", "new")
    assert rows(filter="PartitionKey eq 'p' and long ge 9007199254740993L") == ["a'b ü"]
    assert rows(filter="b lt 3", select="RowKey") == ["new"]
    service.delete_entity(TABLE, "p", "new")
    refused(404, service.delete_entity, TABLE, "p", "new")


def transactions():
    for row in ("deleted", "merged", "replaced"):
        service.insert_entity(TABLE, entity(row, a=1))
    batch = TableBatch()
    batch.insert_entity(entity("inserted", a="ü€"))
    batch.delete_entity("p", "deleted")
    batch.merge_entity(entity("merged", b=2))
    batch.update_entity(entity("replaced", b=2))
    batch.insert_or_merge_entity(entity("upserted", b=2))
    batch.insert_or_replace_entity(entity("upserted too", b=2))
    etags = service.commit_batch(TABLE, batch)
    assert len(etags) == 6 and etags[1] is None and all(etags[i] for i in (0, 2, 3, 4, 5)), etags
    merged = service.get_entity(TABLE, "p", "merged")
    assert (merged.a, merged.b, merged.etag) == (1, 2, etags[2])
    assert "a" not in service.get_entity(TABLE, "p", "replaced")

    refused_batch = TableBatch()
    refused_batch.insert_entity(entity("not"))
    refused_batch.insert_entity(entity("inserted"))
    refused(409, service.commit_batch, TABLE, refused_batch)
    refused(404, service.get_entity, TABLE, "p", "not")


def through_kills():
    """What was acknowledged is there; each transaction is there whole or not at all."""
    def write(number):
        batch = TableBatch()
        for i in range(5):
            batch.insert_entity({"PartitionKey": "k", "RowKey": f"{number}-{i}"})
        try:
            service.commit_batch(TABLE, batch)
        except (AzureException, RequestException) as error:
            if getattr(error, "status_code", None) != 409:  # done by a try that got no answer
                return None
        return number

    service.retry = LinearRetry(backoff=0.2, max_attempts=20, random_jitter_range=0).retry
    acknowledged = set()
    with ThreadPoolExecutor(4) as pool:
        for done, number in enumerate(pool.map(write, range(TRANSACTIONS))):
            acknowledged.add(number)
            if done % (TRANSACTIONS // (KILLS + 1)) == 0 and 0 < done < TRANSACTIONS - 1:
                print("kill", flush=True)
    acknowledged.discard(None)
    found = {}
    for row in rows(filter="PartitionKey eq 'k'"):
        number = int(row.split("-")[0])
        found[number] = found.get(number, 0) + 1
    assert set(found.values()) <= {5}, "a transaction in part"
    assert not acknowledged - set(found), f"lost: {acknowledged - set(found)}"
    assert len(acknowledged) > TRANSACTIONS / 2, f"only {len(acknowledged)} were acknowledged"


writes()
transactions()
through_kills()
service.delete_table(TABLE)
