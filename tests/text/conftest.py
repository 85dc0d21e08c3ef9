"""One frontend for all text tests."""

import pytest
from stonechat.text import Frontend


@pytest.fixture(scope="session")
def frontend() -> Frontend:
    return Frontend.load()
