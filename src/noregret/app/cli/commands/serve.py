"""``noregret serve``: models that keep learning, served over HTTP."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from noregret.app.cli import options as ask
from noregret.errors import NoRegretError, Use, WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from socket import socket

    import uvicorn

    from noregret.app.commands.serve.configuration import Configuration
    from noregret.service import Service

EXAMPLE = "noregret serve --learner auto --store shop.db"
ADDRESS, CONFIGURATION = "Address", "Configuration"
# Seconds until a thread lets another one run.
SWITCH_SECONDS = 0.0005
MAX_PORT = 65_535
# Options of raw rows.
ROWS = [ask.TEXT, ask.CATEGORIES, ask.TIME, ask.DATES, ask.DROP]
OPTIONS = [
    ask.LEARNER.but("The algorithm (default: the one in the store)."),
    ask.PARAMETER,
    ask.option(
        ask.METHOD,
        "--model",
        metavar="MODEL",
        help="Begin with a trained model, which ‘noregret run --model’ or learner.save wrote.",
    ),
    ask.option(
        ask.METHOD,
        "--ttl",
        metavar="TIME",
        type=lambda text: math.inf if text == "none" else ask.duration(text),
        help="How long to wait for the label of a prediction, as in 24h, or none (default: that in"
        " the store, or no limit).",
    ),
    ask.file(
        ask.METHOD,
        "--store",
        "The journal: all events and the model, in one SQLite file, or in a PostgreSQL schema"
        " (postgresql://USER@HOST/DATABASE#SCHEMA).",
    ),
    ask.TARGET.but("The outcome's name in exported rows (default: that in the store, or y)."),
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
        if any((given.learner, given.model, given.store, given.parameter, given.ttl, given.source)):
            raise WrongUsage(
                "--config already defines what to serve",
                "leave out --learner, --model, --store, -p, --ttl, --source",
            )
        what = read(given.config)
    elif given.store is None:
        raise WrongUsage("--store is missing", "name the journal file, such as --store shop.db")
    else:
        params = ask.params_of(given.parameter)
        model = Model(given.store, given.learner, params, given.target, given.ttl)
        model.source, model.model = given.source, given.model
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

        from noregret.app.commands.serve.protocol import protocol
        from noregret.app.commands.serve.server import Server
    except ImportError:
        raise NoRegretError(
            "the packages for serving are not installed",
            "pip install 'noregret[serve]', or pip install '.[serve]' in a clone",
        ) from None
    sockets = bound(given.host, given.port)  # before a journal is begun
    try:
        services, targets, feeds = opened(what)
    except BaseException:
        for each in sockets:
            each.close()
        raise
    models = Server(services, Keys(what.keys, what.rate), targets)
    models.feeds = feeds
    server = uvicorn.Server(
        uvicorn.Config(
            models.app,
            interface="asgi3",
            http=protocol(models.hot),
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
        learned = learned_by(service, what.models[name].model)
        words = f"{service.models.fresh!r}, {learned}, journal {service.journal.path}"
        print(f"model {name}: {words}", file=sys.stderr)
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
        run(server, sockets, given, ended)
    finally:
        for _, feed in feeds:
            feed.stop()


def learned_by(service: Service, file: str | None) -> str:
    """Return how much a model has learned: here, and before, in the file that was given."""
    count, before = service.labels, service.fresh.rounds
    learned = f"{count:,} label{'' if count == 1 else 's'} learned"
    if not before:
        return learned
    where = "before" if file is None else f"in {file}"
    return f"trained on {before:,} row{'' if before == 1 else 's'} {where}, {learned} since"


def opened(what: Configuration) -> tuple[dict[str, Service], dict[str, str], list[Any]]:
    """Return the services, the names of their outcomes, and the sources that feed them."""
    from noregret.app.commands.serve.feeding import feeds_of

    services, targets = dict[str, "Service"](), dict[str, str]()
    try:
        for name, model in what.models.items():
            services[name] = model.open()
            targets[name] = model.target_in(services[name])
        sources = {name: model.sources for name, model in what.models.items()}
        return services, targets, feeds_of(services, sources, targets)
    except BaseException:
        for service in services.values():
            service.close()
        raise


def bound(host: str, port: int) -> list[socket]:
    """Return sockets that are bound to the addresses of a host, and do not listen yet."""
    import errno
    import os
    import socket

    found: list[socket.socket] = []
    try:
        if port > MAX_PORT:
            raise OverflowError(f"ports go up to {MAX_PORT}")
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        last = addresses[-1][-1]
        for family, kind, protocol, _, address in dict.fromkeys(addresses):
            each = socket.socket(family, kind, protocol)
            found.append(each)
            if os.name == "posix":
                each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                each.bind(address)
            except OSError as error:  # localhost has an address of IPv6, the machine may have none
                found.pop().close()
                if error.errno != errno.EADDRNOTAVAIL or (address == last and not found):
                    raise
    except (OSError, OverflowError, UnicodeError) as error:
        for each in found:
            each.close()
        raise unreachable(host, port, error) from None
    return found


def unreachable(host: str, port: int, error: Exception) -> NoRegretError:
    """Return the error for an address that cannot be listened on."""
    why = (getattr(error, "strerror", None) or str(error)).lower()
    what = f"{host}:{port}: cannot listen there ({why})"
    return NoRegretError(what, Use("port", text="choose another port with {}"))


def run(
    server: uvicorn.Server, sockets: list[socket], given: Namespace, ended: Callable[[], None]
) -> None:
    """Run a server until a signal ends it, and tell its address once it can be reached."""
    import asyncio
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
        task = asyncio.create_task(server.serve(sockets))
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

    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(main())
    except OSError as error:  # another process listens there since
        raise unreachable(given.host, given.port, error) from None
