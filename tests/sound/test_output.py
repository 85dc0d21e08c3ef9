"""Which device, at which rate and with how many channels."""

import os
import sys
from typing import Any

import pytest
from stonechat import output
from stonechat.errors import AudioError
from stonechat.output import Wanted, block_and_rates, open_card, output_devices

RATE = 24000


def opened(**wanted: Any) -> output.Card:
    return open_card(Wanted(**{"rate": RATE} | wanted), lambda *_: None, lambda: None)


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 24000, 44100, 48000, 24001])
def test_blocks_are_short_and_can_be_converted(rate: int) -> None:
    block, rates = block_and_rates(rate)
    assert rates[0] == rate
    assert 0.008 <= block / rate <= 0.045
    assert all(block * other % rate == 0 for other in rates)
    if rate != 24001:
        assert {44100, 48000} <= set(rates)


def test_our_voices_keep_blocks_of_10_ms() -> None:
    assert block_and_rates(24000)[0] == 240


def test_as_asked_where_the_card_takes_it(card: Any) -> None:
    got = opened()
    assert (got.rate, got.channels, got.name) == (RATE, 1, "speaker")


@pytest.mark.parametrize(
    ("lacks", "channels", "expected"),
    [
        ({(RATE, 1)}, 2, (RATE, 2)),
        ({(RATE, 1), (RATE, 2)}, 2, (48000, 1)),
        ({(RATE, 1), (RATE, 2), (48000, 1)}, 2, (48000, 2)),
        ({(rate, n) for rate in (RATE, 48000) for n in (1, 2)}, 2, (44100, 1)),
        ({(RATE, n) for n in (1, 2)}, 8, (RATE, 8)),
        ({(RATE, 1)}, 1, (48000, 1)),
    ],
)
def test_else_stereo_else_all_channels_else_another_rate(
    card: Any, lacks: set[tuple[int, int]], channels: int, expected: tuple[int, int]
) -> None:
    card.refused, card.channels = lacks, channels
    got = opened()
    assert (got.rate, got.channels) == expected
    assert len(card.stream.out) == 240 * got.rate // RATE


def test_a_device_that_is_not_well_is_not_asked_for_every_format(card: Any) -> None:
    card.away = True
    with pytest.raises(AudioError, match=r"speaker.*Device unavailable"):
        opened()
    assert len(card.tried) == 1


@pytest.mark.parametrize(
    "device", [2, "2", "usb", "USB AUDIO", "USB Audio: - (hw:1,0)", "USB Audio: - (hw:3,0)"]
)
def test_by_index_by_part_of_the_name_and_after_it_moved(card: Any, device: int | str) -> None:
    assert opened(device=device).name == "USB Audio: - (hw:1,0)"


def test_a_whole_name_is_no_part_of_another(card: Any) -> None:
    card.names = ["mic", "speaker 2", "speaker", "speakers"]
    assert opened(device="speaker").name == "speaker"
    with pytest.raises(AudioError, match=r"(?s)several devices are 'speak'.*1: speaker 2.*3: speakers"):
        opened(device="speak")


def test_an_unknown_one_lists_the_known_and_the_remedy(card: Any) -> None:
    assert output_devices() == ["1: speaker", "2: USB Audio: - (hw:1,0)"]
    with pytest.raises(AudioError, match=r"(?s)'none'.*not there.*1: speaker.*-o file\.wav"):
        opened(device="none")
    with pytest.raises(AudioError, match="device 0"):  # it only records
        opened(device=0)


def test_a_machine_without_sound(card: Any) -> None:
    card.names, card.module.default.device = [], (-1, -1)
    with pytest.raises(AudioError, match=r"(?s)default device.*no device that can play.*-o file\.wav"):
        opened()


def test_a_card_that_was_plugged_in_later_is_found(card: Any) -> None:
    card.names.remove("USB Audio: - (hw:1,0)")

    def look() -> None:
        card.names.append("USB Audio: - (hw:1,0)")

    card.module._initialize = look
    assert opened(device="usb").name == "USB Audio: - (hw:1,0)"


def test_another_stream_of_the_program_is_not_ended_to_look_anew(card: Any) -> None:
    other = opened()
    with pytest.raises(AudioError):
        opened(device="none")
    assert card.looks == 0
    other.close()
    with pytest.raises(AudioError):
        opened(device="none")
    assert card.looks == 1


def test_cards_that_changed_are_looked_for(card: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_cards", lambda: "0 [Headphones]")
    for _ in range(2):
        opened().close()
    assert card.looks == 1


def test_variables_are_set_while_it_is_opened(card: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_PROP", "before")
    monkeypatch.delenv("PIPEWIRE_ALSA", raising=False)
    seen = []
    real = card.module.OutputStream
    names = ("PULSE_PROP", "PIPEWIRE_ALSA")

    def watching(**options: Any) -> Any:
        seen.extend(os.environ.get(name) for name in names)
        return real(**options)

    card.module.OutputStream = watching
    opened(environment={"PULSE_PROP": "media.role=event", "PIPEWIRE_ALSA": "{}"})
    assert seen == ["media.role=event", "{}"]
    assert [os.environ.get(name) for name in names] == ["before", None]


def test_standard_error_is_back_afterwards(card: Any, capfd: pytest.CaptureFixture[str]) -> None:
    real = card.module.OutputStream

    def noisy(**options: Any) -> Any:
        os.write(2, b"ALSA lib pcm.c: unknown\n")
        return real(**options)

    card.module.OutputStream = noisy
    opened()
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "after\n"


def test_missing_portaudio_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(AudioError, match=r"apt install libportaudio2.*-o file\.wav"):
        opened()
