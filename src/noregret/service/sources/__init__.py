"""Events from message brokers: NATS JetStream, Redis Streams and Kafka.

``Consumer`` feeds a service from the topics of an address such as
``nats://localhost:4222/orders,labels?output=predictions``. Each kind of broker is one module of
this package that registers its schemes.
"""

from noregret.service.sources.consumer import Consumer
from noregret.service.sources.source import Disconnected, Message, Source, source_of

__all__ = ["Consumer", "Disconnected", "Message", "Source", "source_of"]
