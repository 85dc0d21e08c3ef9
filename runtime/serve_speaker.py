"""The thread that speaks the service's prompts, one after another, through one stream that stays open."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, Protocol

from .errors import AudioError, StonechatError
from .realtime import promote_caller, promoting_new_threads
from .serve_queue import Prompt, PromptQueue
from .voice import Voice

IDLE_S = 0.5


class Output(Protocol):
    """What the speaker asks of a player."""

    stats: Any
    """With `frames`, the samples handed to the device, and `underruns`."""

    def write(self, samples: Any) -> None: ...
    def drain(self) -> None: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...


class Speaker(threading.Thread):
    """Takes prompts from the queue until `end`. A device that is not there is asked for again with every prompt."""

    def __init__(self, voice: Voice, queue: PromptQueue, open_output: Callable[[], Output]) -> None:
        super().__init__(name="stonechat-speaker", daemon=True)
        self.voice, self.queue, self.open_output = voice, queue, open_output
        self.ending = False
        self.spoken = 0
        self._rounds = 0
        self._output: Output | None = None

    def progress(self) -> tuple[int, int]:
        """Changes as long as it waits for prompts, or the device takes samples: what the watchdog is fed by."""
        return self._rounds, self._output.stats.frames if self._output else 0

    def run(self) -> None:
        """Open the device ahead of the first prompt, then speak."""
        promote_caller()
        try:
            self._open()
        except StonechatError as error:
            warnings.warn(f"{error}; it is tried again with every prompt", stacklevel=1)
        while not self.ending:
            self._rounds += 1
            prompt = self.queue.take(IDLE_S)
            if prompt:
                self._handle(prompt)
                self.queue.done()
        if self._output:
            self._output.close()

    def end(self) -> None:
        """Fall silent at once, and end."""
        self.ending = True
        self.queue.cancel(why="stopping")

    def _open(self) -> Output:
        if self._output is None:
            with promoting_new_threads():
                self._output = self.open_output()
        return self._output

    def _handle(self, prompt: Prompt) -> None:
        try:
            output = self._open()
            prompt.tell({"event": "started", "id": prompt.id})
            sound_s = self._speak(prompt, output)
        except StonechatError as error:
            if isinstance(error, AudioError):
                self._forget()
            prompt.tell({"event": "error", "id": prompt.id, "message": str(error)})
            return
        self.spoken += 1
        prompt.tell({"event": prompt.ended or "done", "id": prompt.id, "seconds": round(sound_s, 3)})

    def _speak(self, prompt: Prompt, output: Output) -> float:
        """Seconds of sound handed to the device."""
        samples, wishes = 0, vars(prompt.wishes)
        chunks = self.voice.inference(prompt.text, stream=True, **wishes)
        try:
            for chunk in chunks:
                if prompt.ended:
                    break
                output.write(chunk.samples)
                samples += len(chunk.samples)
        finally:
            chunks.close()
        if prompt.ended:
            output.stop()
        else:
            output.drain()
        return samples / self.voice.facts.rate_hz

    def _forget(self) -> None:
        """The device is gone: give it back, and ask again next time."""
        if self._output:
            self._output.close()
            self._output = None
