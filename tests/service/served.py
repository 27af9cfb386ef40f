"""A process that serves until it is killed, and writes down each event that was acknowledged."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import noregret as nr
from noregret.service import Service


def serve(store: str, acknowledged: str, name: str) -> None:
    """Predict and label from four threads; every label is sent twice."""
    with open(acknowledged, "a", buffering=1) as file:
        service = Service(nr.Auto(), store, snapshot_every=25)

        def work(thread: int) -> None:
            for k in range(10_000):
                event = f"{name}-{thread}-{k}"
                answer = service.predict({"a": (k % 11) / 11, "b": thread / 4}, id=event)
                file.write(f"predicted {event} {answer.prediction!r}\n")
                for _ in range(2):
                    service.label(event, (k % 5) / 5)
                file.write(f"labelled {event}\n")

        threads = [threading.Thread(target=work, args=[k], daemon=True) for k in range(4)]
        for thread in threads:
            thread.start()
        Path(f"{acknowledged}.{name}").touch()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    serve(*sys.argv[1:])
