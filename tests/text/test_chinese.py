"""Chinese: segmentation, sandhi, symbols."""

import pytest
from stonechat.text import Frontend


def test_symbols_write_lexical_third_tones(frontend: Frontend) -> None:
    # The training speech writes them so, and the voice makes the sandhi itself.
    assert frontend.phonemes("你好") == "ni↓xau↓."


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("我很好", "wo3 hen2 hao3"),
        ("他去了银行", "ta1 qu4 le5 yin2 hang2"),
        ("把书还了", "ba3 shu1 huan2 le5"),
        ("我得走了", "wo3 dei2 zou3 le5"),
        ("一九九八年", "yi1 jiu2 jiu3 ba1 nian2"),
    ],
)
def test_in_context(frontend: Frontend, text: str, pinyin: str) -> None:
    assert frontend.phonemes(text, format="pinyin") == pinyin


def test_every_basic_character_has_symbols(frontend: Frontend) -> None:
    for syllable in frontend._zh.lexicon._syllables:
        assert frontend._zh.symbols(syllable), syllable


def test_spaces_stand_between_words(frontend: Frontend) -> None:
    assert frontend.phonemes("打开空调") == "ta↓kʰai→ kʰʊ→ŋtʰjau↗."
