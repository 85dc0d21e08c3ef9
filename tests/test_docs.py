"""What the documents show is true: their examples run."""

import doctest
from pathlib import Path

import pytest
import stonechat

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def test_readme_examples() -> None:
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted >= 8
    assert result.failed == 0


def test_package_docstring() -> None:
    assert doctest.testmod(stonechat).failed == 0
