"""The player on a pretended card: the whole prompt, formats, and a device that goes away and comes back."""

import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from stonechat.errors import AudioError, OptionError
from stonechat.player import Player

RATE, FADE = 24000, 120
Speech = Callable[[float], np.ndarray]
GONE = "ignore:the sound device:RuntimeWarning"


@pytest.fixture
def made(card: Any) -> Iterator[Callable[..., Player]]:
    """Players that are closed when the test ends."""
    players: list[Player] = []

    def make(**options: Any) -> Player:
        players.append(Player(**{"lead_in_s": 0} | options))
        return players[-1]

    yield make
    for player in players:
        player.close()


def test_plays_every_sample_in_order_then_silence(
    card: Any, made: Callable[..., Player], speech: Speech
) -> None:
    sound, player = speech(1.03), made()
    with card.stream.running() as heard:
        player.write(sound)
        player.drain()
    out = np.concatenate(heard)[:, 0]
    start = np.flatnonzero(out)[0]
    assert np.array_equal(out[start : start + len(sound)], sound)
    assert not out[start + len(sound) + FADE :].any()
    assert (player.stats.frames, player.stats.underruns) == (len(sound), 0)


def test_stereo_hears_both_and_more_channels_hear_the_front(
    card: Any, made: Callable[..., Player], speech: Speech
) -> None:
    card.refused, card.channels = {(RATE, 1), (RATE, 2)}, 6
    made().write(speech(0.01))
    out = card.stream.turn()
    assert out.shape == (240, 6)
    assert np.array_equal(out[:, 0], speech(0.01))
    assert np.array_equal(out[:, 0], out[:, 1])
    assert not out[:, 2:].any()


@pytest.mark.parametrize("rate", [48000, 44100])
def test_a_card_of_one_rate_gets_it(card: Any, made: Callable[..., Player], rate: int) -> None:
    card.refused = {(other, n) for other in (RATE, 48000, 44100) if other != rate for n in (1, 2)}
    player = made()
    seconds = np.arange(RATE // 5) / RATE
    player.write(np.sin(2 * np.pi * 1000 * seconds[:4000]).astype(np.float32))
    out = card.stream.turn(15)[:, 0]
    assert (player.device_rate, len(out)) == (rate, 15 * rate // 100)
    wanted = np.sin(2 * np.pi * 1000 * (np.arange(len(out)) / rate - 32 / RATE))
    assert np.abs(out - wanted)[200:].max() < 1e-3


def test_late_callbacks_are_counted(card: Any, made: Callable[..., Player]) -> None:
    player = made()
    card.stream.ok.output_underflow = True
    card.stream.turn(2)
    assert player.stats.late == 2


@pytest.mark.parametrize("rate", [0, 7999, 24000.0, "24000", 10**9])
def test_a_wrong_rate_is_refused(card: Any, rate: Any) -> None:
    with pytest.raises(OptionError, match="8000 to 192000"):
        Player(rate)
    assert not card.tried


def test_a_device_that_does_not_start(card: Any) -> None:
    card.busy = True
    with pytest.raises(AudioError, match="Device busy"):
        Player()
    assert card.stream.closed


def test_closing_the_ring_frees_a_sleeping_writer(made: Callable[..., Player], speech: Speech) -> None:
    player = made()
    writer = threading.Thread(target=player.write, args=(speech(5),))
    writer.start()
    player.ring.close()
    writer.join(30)
    assert not writer.is_alive()


def test_closing_gives_the_device_back_and_frees_who_waits(
    card: Any, made: Callable[..., Player], speech: Speech
) -> None:
    player = made()
    faults: list[Exception] = []

    def write() -> None:
        try:
            player.write(speech(5))
        except AudioError as error:
            faults.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    player.close()
    writer.join(30)
    assert card.stream.closed
    assert len(faults) == 1
    with pytest.raises(AudioError, match="closed"):
        player.write(speech(0.01))
    player.close()


@pytest.mark.parametrize("refused", [set(), {(RATE, 1), (RATE, 2), (48000, 1), (48000, 2)}])
def test_callback_makes_no_array(
    card: Any, made: Callable[..., Player], speech: Speech, refused: set[tuple[int, int]]
) -> None:
    card.refused = refused
    made().write(speech(0.05))
    card.stream.turn()
    tracemalloc.start()
    card.stream.callback(
        *(args := (card.stream.out, len(card.stream.out), card.stream.when(), card.stream.ok))
    )
    for _ in range(10):  # into the gap and out of it
        card.stream.callback(*args)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2048


def test_on_thread_is_called_once_by_the_thread_that_plays(card: Any, made: Callable[..., Player]) -> None:
    threads: list[int] = []
    made(on_thread=lambda: threads.append(threading.get_ident()))
    card.stream.turn(3)
    assert threads == [threading.get_ident()]

    def refuse() -> None:
        raise PermissionError("no priority")

    made(on_thread=refuse)
    with pytest.warns(RuntimeWarning, match="no priority"):
        card.stream.turn(3)


# --- a device that goes away ---------------------------------------------------------------------------------


def lost(card: Any, player: Player) -> None:
    """Unplugged, and the player knows."""
    card.unplug()
    while not player.stats.lost:
        time.sleep(0.01)


def test_speech_goes_on_from_what_was_last_heard(
    card: Any, made: Callable[..., Player], speech: Speech
) -> None:
    """The card loses 30 ms that it had not played; the next one begins there, after its lead-in, softly."""
    sound, player = speech(2), made(lead_in_s=0.02)
    writer = threading.Thread(target=lambda: (player.write(sound), player.drain()))
    writer.start()
    card.delay_s = 0.03
    before: list[np.ndarray] = []
    while len(before) < 42:
        if player.ring.readable > 240 or not before:
            before.append(card.stream.turn())
    with pytest.warns(RuntimeWarning, match="'speaker' is gone"):
        lost(card, player)
    card.away = False
    with card.wait_for_streams(2).running() as after:
        writer.join(30)
    assert not writer.is_alive()
    heard, at = np.concatenate(before)[480:, 0], 40 * 240 - 4 * 240
    assert np.array_equal(heard, sound[: len(heard)])
    rest = np.concatenate(after)[:, 0]
    assert not rest[:480].any()
    assert np.array_equal(rest[480 + FADE : 480 + len(sound) - at], sound[at + FADE :])
    assert not rest[480 + len(sound) - at + FADE :].any()
    assert player.stats.underruns == 0


@pytest.mark.filterwarnings(GONE)
def test_a_device_named_by_number_is_found_again_by_its_name(card: Any, made: Callable[..., Player]) -> None:
    made(device=2)
    card.names = ["mic", "USB Audio: - (hw:4,0)", "speaker"]
    card.unplug()
    card.away = False
    assert card.wait_for_streams(2).device == 1


@pytest.mark.filterwarnings(GONE)
def test_the_card_that_comes_back_may_be_another(
    card: Any, made: Callable[..., Player], speech: Speech
) -> None:
    player = made()
    card.refused = {(RATE, 1), (RATE, 2)}
    card.unplug()
    card.away = False
    stream = card.wait_for_streams(2)
    player.write(speech(0.01))
    assert player.device_rate == 48000
    assert stream.turn(3).any()


@pytest.mark.filterwarnings(GONE)
def test_without_a_device_stop_drops_at_once(card: Any, made: Callable[..., Player], speech: Speech) -> None:
    player = made()
    player.write(speech(0.1))
    card.unplug()
    player.stop()
    assert player.ring.readable == 0
    player.write(speech(0.05))
    card.away = False
    out = card.wait_for_streams(2).turn(5)[:, 0]
    assert np.array_equal(out[FADE:], speech(0.05)[FADE:])


@pytest.mark.filterwarnings(GONE)
@pytest.mark.parametrize("stalled", [False, True])
def test_after_its_patience_calls_fail_and_what_is_queued_is_dropped(
    card: Any, made: Callable[..., Player], speech: Speech, stalled: bool
) -> None:
    """Also where the device is there but takes nothing, as under a sound server that hangs."""
    player = made(patience_s=0.1)
    if not stalled:
        card.unplug()
    with pytest.raises(AudioError, match=r"'speaker' has been gone for 0\.1 s.*-o file\.wav"):
        player.write(speech(1))
    for call in (player.drain, player.stop, lambda: player.write(speech(1))):
        with pytest.raises(AudioError, match="gone"):
            call()
    card.away = False
    stream = card.wait_for_streams(1 if stalled else 2)
    stream.turn(2)
    assert not stream.turn(10).any()
    with stream.running() as heard:  # and then it is well again
        while player._given_up:
            time.sleep(0.01)
        player.write(speech(0.1))
        player.drain()
    out = np.concatenate(heard)[:, 0]
    start = np.flatnonzero(out)[0]
    assert np.array_equal(out[start : start + 2400], speech(0.1))


def test_a_device_that_dies_again_and_again_is_not_asked_all_the_time(
    card: Any, made: Callable[..., Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    player = made()
    wait = player._bell.wait

    def noted(ready: Callable[[], bool], timeout: float) -> bool:
        if not player._card:
            pauses.append(timeout)
            timeout /= 100
        return wait(ready, timeout)

    monkeypatch.setattr(player._bell, "wait", noted)
    card.stream.active = False
    player._bell.ring()
    monkeypatch.setattr(type(card.stream), "start", lambda stream: None)  # it never runs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(pauses) < 8:
            time.sleep(0.01)
    assert pauses[:5] == [0.05, 0.1, 0.2, 0.4, 0.5]
    assert pauses[7] == 0.5
