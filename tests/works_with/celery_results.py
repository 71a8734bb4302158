"""Celery keeps its results in blobs: of tasks, of a group, of failures; through kills."""
import os

from celery import Celery, group
from celery.contrib.testing.tasks import ping  # noqa: F401 (a worker in this process asks for it)
from celery.contrib.testing.worker import start_worker

KILLS = 2
TASKS = 120
PATIENCE = {"timeout": 60, "interval": 0.02}

app = Celery(
    "work", broker="memory://", backend="azureblockblob://" + os.environ["AZURE_STORAGE_CONNECTION_STRING"])
app.conf.update(
    azureblockblob_container_name="results", azureblockblob_base_path="a b/", worker_hijack_root_logger=False,
    result_backend_always_retry=True, result_backend_base_sleep_between_retries_ms=50,
    result_backend_max_sleep_between_retries_ms=500)


@app.task
def double(number):
    return 2 * number


@app.task
def fail():
    raise ValueError("as it should")


def results():
    assert double.delay(21).get(**PATIENCE) == 42
    failed = fail.delay()
    assert isinstance(failed.get(**PATIENCE, propagate=False), ValueError)
    assert failed.state == "FAILURE"
    together = group(double.s(number) for number in range(10))()
    together.save()
    assert together.get(**PATIENCE) == [2 * number for number in range(10)]
    assert [one.result for one in app.GroupResult.restore(together.id).results] == [2 * n for n in range(10)]
    failed.forget()
    assert app.AsyncResult(failed.id).state == "PENDING"


def through_kills():
    """A result that a waiting client has seen is there afterwards."""
    tasks = [double.delay(number) for number in range(TASKS)]
    for number, task in enumerate(tasks):
        assert task.get(**PATIENCE) == 2 * number
        if number % (TASKS // (KILLS + 1)) == 0 and 0 < number < TASKS - 1:
            print("kill", flush=True)
    for number, task in enumerate(tasks):
        again = app.AsyncResult(task.id)
        assert (again.state, again.result) == ("SUCCESS", 2 * number)


with start_worker(app, pool="threads", concurrency=4, perform_ping_check=False):
    results()
    through_kills()
