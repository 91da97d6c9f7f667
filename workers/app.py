"""The Celery application: `celery -A workers.app worker`.

Tasks carry the names of due turns, never a card, token or secret, as JSON. Nothing is lost with a
message: the deadline row stays until its turn is settled. So tasks are acknowledged when done, and
one whose process died is queued again at once; both are safe, as a turn is settled only once.
"""

from __future__ import annotations

import logging
import warnings

from celery import Celery
from celery.exceptions import CPendingDeprecationWarning, SecurityWarning
from celery.signals import setup_logging
from kombu import Exchange, Queue

from eventstore import logs, metrics, misspelled
from eventstore.settings import Settings, SettingsError, data_dir

metrics.share(data_dir(), metrics.WORKERS)  # Figures are kept there that are imported from now on.

from workers import broker  # noqa: E402
from workers.following import FeedStep  # noqa: E402
from workers.node import TimerStep  # noqa: E402
from workers.resources import Resources  # noqa: E402
from workers.settings import TASK_SECONDS, queue_name  # noqa: E402

log = logging.getLogger(__name__)


class Workers(Celery):
    """A Celery application that knows how to reach the event store."""

    resources: Resources


def make_app(settings: Settings, queue: str) -> Workers:
    """The application for these settings. It connects to nothing yet.

    Raises SettingsError without a broker.
    """
    if not settings.broker_url:
        raise SettingsError("ABBOT_BROKER_URL is not set (./abbot up sets it for its workers)")
    url = broker.kombu_url(settings.broker_url)
    # A quorum queue is what newer RabbitMQ releases still offer to Celery: they refuse the
    # channel-wide prefetch limit that Celery sets for classic queues.
    arguments = {"x-queue-type": "quorum"} if broker.is_amqp(url) else None
    app = Workers("abbot")
    app.resources = Resources(settings)
    app.conf.update(
        broker_url=url,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=2,
        broker_channel_error_retry=True,
        broker_heartbeat=10,
        broker_transport_options=broker.consumer_options(url),
        imports=("workers.tasks",),
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_default_queue=queue,
        task_queues=[
            Queue(
                queue,
                Exchange(queue, type="direct"),
                routing_key=queue,
                queue_arguments=arguments,
            )
        ],
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_time_limit=TASK_SECONDS,
        worker_concurrency=settings.worker_concurrency,
        worker_consumer="workers.node:Consumer",
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
    )
    app.steps["worker"].update((TimerStep, FeedStep))
    return app


@setup_logging.connect
def configure_logs(loglevel: int | str, **_: object) -> None:
    """Log as the API does, and first of settings that are none. Leave out what Celery says of each
    task and of releases to come, unless all is asked for."""
    level = logging.getLevelName(loglevel) if isinstance(loglevel, int) else loglevel
    logs.configure(level)
    for sentence in misspelled.warnings():
        log.warning("%s", sentence)
    if level.upper() != "DEBUG":
        warnings.simplefilter("ignore", CPendingDeprecationWarning)
        for chatty in ("celery.worker.strategy", "celery.app.trace"):
            logging.getLogger(chatty).setLevel(logging.WARNING)


# A worker of root would say so in lines that are no JSON, before logs are set up. It warns because
# messages could be programs elsewhere; ours are JSON.
warnings.filterwarnings("ignore", category=SecurityWarning)
app = make_app(Settings.from_env(), queue_name())
