"""Echo cancellation: remove what a loudspeaker plays from what a microphone records.

``canceller`` is the learner, ``engine`` its compiled parts; the other modules read sound
files, simulate rooms and measure the result.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.echo.canceller import Canceller as Canceller
    from noregret.echo.cancelling import cancel_file as cancel_file
    from noregret.echo.result import EchoResult as EchoResult
    from noregret.echo.result import Levels as Levels
    from noregret.echo.result import Reduction as Reduction
    from noregret.echo.room import Signals as Signals
    from noregret.echo.room import demo_signals as demo_signals
    from noregret.echo.room import room_response as room_response
    from noregret.echo.speaking import voice as voice
    from noregret.echo.writing import write_sound as write_sound

_HOMES = {
    "Canceller": "canceller",
    "EchoResult": "result",
    "Levels": "result",
    "Reduction": "result",
    "Signals": "room",
    "cancel_file": "cancelling",
    "demo_signals": "room",
    "room_response": "room",
    "voice": "speaking",
    "write_sound": "writing",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_HOMES)
    if name not in _HOMES:
        raise AttributeError(f"module 'noregret.echo' has no attribute {name!r}")
    found = getattr(import_module(f"noregret.echo.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(_HOMES)
