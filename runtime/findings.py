"""What the doctor found: a line each, with a verdict and a remedy."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

Verdict = Literal["ok", "warn", "fail"]
MARKS: dict[Verdict, str] = {"ok": "ok  ", "warn": "WARN", "fail": "FAIL"}


@dataclass(frozen=True)
class Finding:
    """One fact of this machine."""

    topic: str
    """Such as "locked memory"; no two findings share one."""
    verdict: Verdict
    """fail: it will not speak, or will stutter; warn: it may."""
    fact: str
    remedy: str = ""
    """What to do about it, where it is not ok."""
    value: float | None = None
    """The fact as a number, where it is one; its unit is in the topic or the fact."""


def judged(topic: str, value: float, fact: str, warn: float, fail: float, remedy: str) -> Finding:
    """A number that should be below `warn` and must be below `fail`."""
    verdict: Verdict = "ok" if value < warn else "warn" if value < fail else "fail"
    return Finding(topic, verdict, fact, "" if verdict == "ok" else remedy, value)


def to_text(findings: Iterable[Finding]) -> str:
    """A line a finding; what it takes more lines for, and its remedy, indented below."""
    lines = []
    for finding in findings:
        first, *more = finding.fact.split("\n")
        lines.append(f"{MARKS[finding.verdict]}  {finding.topic:<22} {first}")
        lines += [f"        {line}" for line in more]
        if finding.remedy:
            lines.append(f"        -> {finding.remedy}")
    return "\n".join(lines)


def to_json(findings: Iterable[Finding]) -> str:
    """A list of objects with the fields of `Finding`."""
    return json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1)
