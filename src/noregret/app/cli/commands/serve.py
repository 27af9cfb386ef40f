"""``noregret serve``: models that keep learning, served over HTTP."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from noregret.app.cli import options as ask
from noregret.errors import NoRegretError, Use, WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    import uvicorn

    from noregret.app.commands.serve.configuration import Configuration

EXAMPLE = "noregret serve --learner auto --store shop.db"
ADDRESS, CONFIGURATION = "Address", "Configuration"
# Seconds until a thread lets another one run.
SWITCH_SECONDS = 0.0005
# Options of raw rows.
ROWS = [ask.TEXT, ask.CATEGORIES, ask.TIME, ask.DATES, ask.DROP]
OPTIONS = [
    ask.LEARNER.but("The algorithm (default: the one in the store)."),
    ask.PARAMETER,
    ask.option(
        ask.METHOD,
        "--ttl",
        metavar="TIME",
        type=ask.duration,
        help="How long to wait for the label of a prediction, as in 24h (default: no limit).",
    ),
    ask.file(ask.METHOD, "--store", "The journal: all events and the model, in one SQLite file."),
    ask.TARGET.but("The outcome's name in exported rows.", default="y"),
    ask.option(
        ask.METHOD,
        "--source",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="A message broker to learn from, as in nats://HOST:PORT/TOPIC; may be repeated.",
    ),
    ask.flag(
        ask.INPUT,
        "--raw",
        help="Examples are raw rows, as in files: dates become calendar features, an intercept is"
        " added; the options below imply it.",
    ),
    *ROWS,
    ask.file(
        CONFIGURATION,
        "--config",
        "A TOML file with models and API keys; replaces the options above.",
    ),
    ask.option(
        CONFIGURATION,
        "--new-key",
        metavar="NAME",
        help="Create an API key, print the lines for the configuration file, and exit.",
    ),
    ask.option(
        ADDRESS,
        "--host",
        metavar="HOST",
        default="127.0.0.1",
        help="The address to listen on.",
    ),
    ask.option(
        ADDRESS,
        "--port",
        metavar="PORT",
        type=ask.whole_number,
        default=8000,
        help="The port to listen on; 0 picks a free one.",
    ),
    ask.option(
        ADDRESS,
        "--max-rate",
        metavar="N",
        type=ask.whole_number,
        help="Examples per second of each API key, or in all without keys (default: no limit).",
    ),
    ask.file(ADDRESS, "--tls-certificate", "The certificate for HTTPS, in PEM."),
    ask.file(ADDRESS, "--tls-key", "Its private key, in PEM."),
]


def serve(given: Namespace) -> None:
    """Serve predictions and learn from labels over HTTP, until interrupted.

    No acknowledged request is lost, and after a crash the model is restored exactly. Without API
    keys, only this machine can connect.
    """
    from noregret.app.commands.serve.configuration import DEFAULT, Configuration, Model, read
    from noregret.app.commands.serve.keys import new_key, stanza

    if given.new_key is not None:
        key, digest = new_key()
        print(
            f"Your API key (it will not be shown again):\n\n{key}\n\nFor the configuration file:\n"
        )
        print(stanza(given.new_key, digest, [DEFAULT]))
        return
    if given.config is not None:
        if given.learner or given.store or given.parameter or given.ttl or given.source:
            raise WrongUsage(
                "--config already defines what to serve",
                "leave out --learner, --store, -p, --ttl, --source",
            )
        what = read(given.config)
    elif given.store is None:
        raise WrongUsage("--store is missing", "name the journal file, such as --store shop.db")
    else:
        params = ask.params_of(given.parameter)
        model = Model(given.store, given.learner, params, given.target, given.ttl)
        model.source = given.source
        named = (option.names[0].removeprefix("--") for option in ROWS)
        rows = {name: tuple(found) for name in named if (found := getattr(given, name))}
        model.rows = rows if rows or given.raw else None
        what = Configuration({DEFAULT: model})
    listen(given, what)


def listen(given: Namespace, what: Configuration) -> None:
    """Open the models, and serve until a signal ends it."""
    from noregret.app.commands.serve.configuration import is_loopback
    from noregret.app.commands.serve.keys import Keys

    if not what.keys and not is_loopback(given.host):
        raise WrongUsage(
            f"--host {given.host}: other machines could connect, but no API key is configured",
            "create one with --new-key NAME and serve with --config",
        )
    if given.max_rate is not None:
        if given.max_rate < 1:
            raise WrongUsage("--max-rate is at least 1")
        what.rate = float(given.max_rate)
    if (given.tls_certificate is None) != (given.tls_key is None):
        raise WrongUsage("--tls-certificate and --tls-key go together")
    try:
        import uvicorn

        from noregret.app.commands.serve.feeding import feeds_of
        from noregret.app.commands.serve.protocol import protocol
        from noregret.app.commands.serve.server import Server
    except ImportError:
        raise NoRegretError(
            "the packages for serving are not installed",
            "pip install 'noregret[serve]', or pip install '.[serve]' in a clone",
        ) from None
    services = {}
    try:
        for name, model in what.models.items():
            services[name] = model.open()
        targets = {name: model.target for name, model in what.models.items()}
        sources = {name: model.sources for name, model in what.models.items()}
        feeds = feeds_of(services, sources, targets)
    except BaseException:
        for service in services.values():
            service.close()
        raise
    models = Server(services, Keys(what.keys, what.rate), targets)
    models.feeds = feeds
    server = uvicorn.Server(
        uvicorn.Config(
            models.app,
            interface="asgi3",
            http=protocol(models.hot),
            host=given.host,
            port=given.port,
            ssl_certfile=given.tls_certificate,
            ssl_keyfile=given.tls_key,
            access_log=False,
            log_level="warning",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=10,
            server_header=False,
        )
    )
    for name, service in services.items():
        words = f"{service.models.fresh!r}, {service.labels:,} labels learned"
        print(f"model {name}: {words}, journal {service.journal.path}", file=sys.stderr)
    for name, feed in feeds:
        print(f"model {name}: source {feed.address.shown}", file=sys.stderr)
        feed.start()

    def ended() -> None:
        models.watching.end()
        for _, feed in feeds:
            feed.stop(wait=False)

    # A certificate is computed in a thread: requests would wait 5 ms for each of their steps.
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        run(server, given, ended)
    finally:
        for _, feed in feeds:
            feed.stop()


def run(server: uvicorn.Server, given: Namespace, ended: Callable[[], None]) -> None:
    """Run a server until a signal ends it, and tell its address once it can be reached."""
    import asyncio
    import logging
    import os
    import signal
    from contextlib import nullcontext, suppress

    from noregret.app.commands.serve.protocol import sweeping

    new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):  # not on Windows
        from uvloop import new_event_loop as new_loop

    scheme = "http" if given.tls_certificate is None else "https"
    # It would raise the signals once more after the end.
    server.capture_signals = nullcontext  # type: ignore[assignment, method-assign]

    async def main() -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, stop)
        task = asyncio.create_task(server.serve())
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        for listening in server.servers if server.started else []:
            host, port = listening.sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"listening on {scheme}://{shown}:{port}", file=sys.stderr, flush=True)
        sweeper = asyncio.create_task(sweeping(server.server_state.connections))
        await task
        sweeper.cancel()

    def stop() -> None:
        server.force_exit, server.should_exit = server.should_exit, True  # at once if asked again
        ended()

    why: list[str] = []

    def is_other(record: logging.LogRecord) -> bool:
        if isinstance(record.msg, OSError):  # it cannot listen, which is told below
            why.append(f" ({os.strerror(record.msg.errno or 0).lower()})")
        return not isinstance(record.msg, OSError)

    log = logging.getLogger("uvicorn.error")
    log.addFilter(is_other)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(main())
    except SystemExit:
        raise NoRegretError(
            f"{given.host}:{given.port}: cannot listen there{''.join(why[:1])}",
            Use("port", text="choose another port with {}"),
        ) from None
    finally:
        log.removeFilter(is_other)
