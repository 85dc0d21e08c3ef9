"""English words: use, inflection, compounds, acronyms, unknown words."""

import pytest
from stonechat.text import Frontend


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("I read it yesterday and had read it before.", "ɹˈɛd"),
        ("I will read it.", "ɹˈid"),
        ("We live here.", "lˈɪv"),
        ("A live show.", "lˈIv"),
        ("Record the song.", "ɹəkˈɔɹd"),
        ("The record is old.", "ɹˈɛkəɹd"),
        ("The apple.", "ði ˈæpᵊl"),
        ("The pear.", "ðə pˈɛɹ"),
        ("Go to every park.", "tʊ ˈɛ"),
        ("Close the door.", "klˈOz"),
        ("It is close to me.", "klˈOs"),
        ("A lead pipe.", "lˈɛd"),
        ("Use it now.", "jˈuz "),
        ("It is of no use.", "jˈus."),
        ("Go to the park.", "tə ðə"),
        ("YouTube", "jˈutˌub"),
        ("twenty-eight", "twˌɛntiˈAt"),
        ("I object to that.", "əbʤˈɛkt"),
        ("Refuse to go.", "ɹəfjˈuz"),
        ("Roads wind through the hills.", "wˈInd"),
        ("The wind is strong.", "wˈɪnd"),
        ("Play the bass guitar.", "bˈAs"),
        ("GPS", "ʤˌipˌiˈɛs"),
        ("wanted", "wˈɑntᵻd"),
        ("A. first", "ˈA."),
        ("A dog and a (small) cat.", "ɐ, smˈɔl"),
        ("re-record it", "ɹˌiɹəkˈɔɹd"),
    ],
)
def test_sounds(frontend: Frontend, text: str, part: str) -> None:
    assert part in frontend.phonemes(text)


def test_what_has_no_vowel_is_spelled(frontend: Frontend) -> None:
    assert frontend.phonemes("qwrt").startswith("kj")


def test_unknown_words_sound_with_one_stress(frontend: Frontend) -> None:
    for word in ("blickmore", "zantrifuge", "quort", "stonechatter"):
        phonemes = frontend.phonemes(word)
        assert phonemes.count("ˈ") == 1, phonemes
