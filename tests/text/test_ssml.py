"""SSML to spoken text and clauses: every element, what is malformed, and anything at all."""

import contextlib
import math
import time
import warnings

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from stonechat.errors import TextError
from stonechat.text import Clause, Frontend
from stonechat.text.ssml import MAX_DEPTH, SsmlError
from stonechat.text.ssml_tags import LOG_F0_LIMIT, SEMITONE

QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def clauses(frontend: Frontend, inside: str) -> list[Clause]:
    return list(frontend.clauses(f"<speak>{inside}</speak>", ssml=True))


def said(frontend: Frontend, inside: str, attributes: str = "") -> str:
    return frontend.normalise(f"<speak{attributes}>{inside}</speak>", ssml=True)


@pytest.mark.parametrize(
    "text", ["前方三百米右转，进入中山路。", "Dr. Smith paid $3.50.", "打开WiFi，好吗？ Yes."]
)
def test_text_without_markup_is_the_plain_text(frontend: Frontend, text: str) -> None:
    found = clauses(frontend, text)
    plain = list(frontend.clauses(text))
    assert [c.ids for c in found] == [c.ids for c in plain]
    assert all(c.delivery is None for c in found)


def test_plain_text_stays_plain(frontend: Frontend) -> None:
    assert frontend.normalise("if a < b & b > c") == frontend.normalise("if a < b & b > c", ssml=False)
    assert "lesser" not in frontend.normalise("<p>Hello</p>")


@pytest.mark.parametrize("tag", ["emphasis", 'prosody rate="slow"', "lang", "token", "w", "madeup"])
@pytest.mark.filterwarnings("ignore:SSML")
def test_tags_inside_a_sentence_leave_it_whole(frontend: Frontend, tag: str) -> None:
    name = tag.split()[0]
    for before, inside, after in (
        ("你", "好", "吗？"),
        ("请给我五", "百", "米。"),
        ("I ", "read", " it yesterday."),
        ("It costs $", "3", ".50 now."),
    ):
        plain = list(frontend.clauses(before + inside + after))
        marked = clauses(frontend, f"{before}<{tag}>{inside}</{name}>{after}")
        assert [c.ids for c in marked] == [c.ids for c in plain]


def test_sandhi_goes_on_across_tags_and_marks(frontend: Frontend) -> None:
    for text in ("<emphasis>不</emphasis>是", '一<mark name="x"/>个', "你<prosody rate='slow'>好</prosody>"):
        plain = frontend.phonemes("".join(c for c in text if "\u4e00" <= c <= "\u9fff"), "pinyin")
        assert frontend.phonemes(f"<speak>{text}</speak>", "pinyin", ssml=True) == plain


SAY_AS = [
    ("characters", "", "WiFi", "W I F I", "W I F I"),
    ("spell-out", "", "b-2", "B dash two", "B 杠 二"),
    ("cardinal", "", "1,234.5", "one thousand two hundred thirty-four point five", "一千二百三十四点五"),
    ("number", "", "-5", "minus five", "负五"),
    ("cardinal", "", "XIV", "fourteen", "十四"),
    ("ordinal", "", "3", "third", "第三"),
    ("ordinal", "", "21st", "twenty-first", "第二十一"),
    ("digits", "", "305", "three zero five", "三零五"),
    ("digits", "", "3.14", "three point one four", "三 点 一四"),
    ("date", "mdy", "3/4/2021", "March fourth, twenty twenty-one", "二零二一年三月四日"),
    ("date", "dmy", "3/4/2021", "April third, twenty twenty-one", "二零二一年四月三日"),
    ("date", "yyyymmdd", "20210304", "March fourth, twenty twenty-one", "二零二一年三月四日"),
    ("date", "ymd", "2021-03-04", "March fourth, twenty twenty-one", "二零二一年三月四日"),
    ("date", "md", "12-25", "December twenty-fifth", "十二月二十五日"),
    ("date", "my", "Mar 2021", "March twenty twenty-one", "二零二一年三月"),
    ("date", "y", "1999", "nineteen ninety-nine", "一九九九年"),
    ("date", "", "3/4/2021", "March fourth, twenty twenty-one", "二零二一年三月四日"),
    ("time", "hms12", "2:30pm", "two thirty P M", "下午两点三十分"),
    ("time", "hms24", "14:05", "fourteen oh five", "十四点零五分"),
    ("time", "", "1'21\"", "one minute twenty-one seconds", "一分钟二十一秒"),
    ("duration", "", "1:30:05", "one hour thirty minutes five seconds", "一小时三十分钟五秒"),
    ("telephone", "", "+1 555-1212", "plus one, five five five, one two one two", "加幺，五五五，幺二幺二"),
    ("fraction", "", "3/4", "three quarters", "四分之三"),
    ("fraction", "", "2 1/2", "two and one half", "二又二分之一"),
    ("unit", "", "10 foot", "ten feet", "十英尺"),
    ("unit", "", "1 mile", "one mile", "一英里"),
    ("currency", "", "$42.01", "forty-two dollars and one cent", "四十二点零一美元"),
    ("expletive", "", "damn", "bleep", "哔"),
    ("address", "", "5 Main St", "five Main Street", None),
]


@pytest.mark.parametrize(("kind", "format", "text", "english", "chinese"), SAY_AS)
def test_say_as_in_english_and_in_chinese(
    frontend: Frontend, kind: str, format: str, text: str, english: str, chinese: str | None
) -> None:
    quoted = text.replace('"', "&quot;")
    tag = f'<say-as interpret-as="{kind}" format="{format}">{quoted}</say-as>'
    assert said(frontend, f"It is {tag} now.") == f"It is {english} now."
    if chinese:
        assert said(frontend, f"现在是{tag}。").replace(" ", "") == f"现在是{chinese}。".replace(" ", "")


@pytest.mark.parametrize(
    "tag",
    [
        '<say-as interpret-as="date" format="mdy">soon</say-as>',
        '<say-as interpret-as="ordinal">soon</say-as>',
        '<say-as interpret-as="fraction">soon</say-as>',
        '<say-as interpret-as="telephone">soon</say-as>',
        '<say-as interpret-as="date" format="mdy">13/32/2021</say-as>',
        '<say-as interpret-as="time">99:99</say-as>',
    ],
)
def test_say_as_of_what_is_not_its_kind_is_read_as_ever(frontend: Frontend, tag: str) -> None:
    text = tag[tag.index(">") + 1 : -len("</say-as>")]
    assert said(frontend, f"Come {tag} please.") == frontend.normalise(f"Come {text} please.")


def test_unknown_say_as_is_spoken_with_one_warning(frontend: Frontend) -> None:
    with pytest.warns(UserWarning, match="vegetable") as caught:
        assert said(frontend, '<say-as interpret-as="vegetable">Five peas</say-as>') == "Five peas"
    assert len(caught) == 1


def test_sub_is_said_and_points_to_what_it_replaces(frontend: Frontend) -> None:
    text = '<speak>The <sub alias="World Wide Web Consortium">W3C</sub> met on 5 May.</speak>'
    (clause,) = frontend.clauses(text, ssml=True)
    assert clause.spoken.startswith("The World Wide Web Consortium met")
    assert {text[w.start : w.end] for w in clause.words[1:5]} == {"W3C"}
    for word in clause.words:
        assert text[word.start : word.end] in (word.text, "W3C")


@pytest.mark.parametrize(
    ("alphabet", "ph", "sound"),
    [
        ("ipa", "təˈmɑːtoʊ", "təmˈɑtO"),
        ("", "təˈmɑːtoʊ", "təmˈɑtO"),
        ("x-arpabet", "T AH0 M EY1 T OW0", "təmˈAtO"),
        ("pinyin", "chong2 qing4", "ꭧʰʊ↗ŋʨʰi↘ŋ"),
        ("pinyin", "chong2qing4", "ꭧʰʊ↗ŋʨʰi↘ŋ"),
    ],
)
def test_phoneme(frontend: Frontend, alphabet: str, ph: str, sound: str) -> None:
    attribute = f'alphabet="{alphabet}" ' if alphabet else ""
    (clause,) = clauses(frontend, f'say <phoneme {attribute}ph="{ph}">word</phoneme> now')
    assert sound in clause.phonemes
    assert [w.text for w in clause.words] == ["say", "word", "now"]
    (empty,) = clauses(frontend, f'say <phoneme {attribute}ph="{ph}"/> now')
    assert empty.ids == clause.ids


@pytest.mark.parametrize(
    ("attribute", "rate", "semitones", "gain"),
    [
        ('rate="slow"', 0.8, 0, 1),
        ('rate="x-fast"', 1.5, 0, 1),
        ('rate="80%"', 0.8, 0, 1),
        ('rate="+20%"', 1.2, 0, 1),
        ('rate="-20%"', 0.8, 0, 1),
        ('rate="0%"', 1, 0, 1),
        ('rate="1.2"', 1.2, 0, 1),
        ('rate="900%"', 2.0, 0, 1),
        ('pitch="high"', 1, 2, 1),
        ('pitch="+3st"', 1, 3, 1),
        ('pitch="-2.5st"', 1, -2.5, 1),
        ('pitch="+10%"', 1, 12 * math.log2(1.1), 1),
        ('pitch="-100%"', 1, -6, 1),
        ('pitch="+22Hz"', 1, 12 * math.log2(1.1), 1),
        ('pitch="220Hz"', 1, 0, 1),
        ('pitch="9000Hz"', 1, 6, 1),
        ('volume="silent"', 1, 0, 0),
        ('volume="loud"', 1, 0, 10 ** (3 / 20)),
        ('volume="-6dB"', 1, 0, 10 ** (-6 / 20)),
        ('volume="50"', 1, 0, 0.5),
        ('volume="+50%"', 1, 0, 1.5),
        ('rate="medium" pitch="default" volume="medium"', 1, 0, 1),
    ],
)
def test_prosody(frontend: Frontend, attribute: str, rate: float, semitones: float, gain: float) -> None:
    document = frontend.ssml(f"<speak>One <prosody {attribute}>two</prosody> three.</speak>")
    before, inside, after = (document.manner(document.text.index(w)) for w in ("One", "two", "three"))
    assert inside.rate == pytest.approx(rate)
    assert inside.log_f0 == pytest.approx(semitones * SEMITONE)
    assert inside.gain == pytest.approx(gain)
    assert before == after
    assert before.rate == before.gain == 1


def test_prosody_nests_and_ends(frontend: Frontend) -> None:
    document = frontend.ssml(
        '<speak>a <prosody pitch="+2st" rate="+10%">b <prosody pitch="+2st" volume="soft">c</prosody>'
        ' d</prosody> <prosody pitch="+5st"><prosody pitch="+5st">e</prosody></prosody> f</speak>'
    )
    at = {c: document.manner(document.text.index(c)) for c in "abcdef"}
    assert at["c"].log_f0 == pytest.approx(4 * SEMITONE)
    assert at["c"].rate == at["b"].rate == at["d"].rate == pytest.approx(1.1)
    assert at["c"].gain < at["b"].gain
    assert at["e"].log_f0 == LOG_F0_LIMIT
    assert at["f"] == at["a"]


def test_emphasis_by_level(frontend: Frontend) -> None:
    manners = []
    for level in ("reduced", "none", "moderate", "strong"):
        document = frontend.ssml(f'<speak><emphasis level="{level}">so</emphasis></speak>')
        manners.append(document.manner(0))
    assert [m.log_f0 for m in manners] == sorted(m.log_f0 for m in manners)
    assert [m.gain for m in manners] == sorted(m.gain for m in manners)
    assert [m.rate for m in manners] == sorted((m.rate for m in manners), reverse=True)
    plain = frontend.ssml("<speak><emphasis>so</emphasis></speak>")
    assert plain.manner(0) == manners[2]


def test_manner_reaches_the_symbols_of_its_words(frontend: Frontend) -> None:
    (clause,) = clauses(frontend, 'One <prosody rate="slow">two three</prosody> four.')
    assert clause.delivery is not None
    (a, plain), (b, slow), (c, again) = clause.delivery.steps
    assert (plain.rate, slow.rate, again.rate) == (1.0, 0.8, 1.0)
    assert (a, b, c) == (0, clause.words[1].first, clause.words[3].first)


def test_part_of_a_word_takes_its_part_of_the_symbols(frontend: Frontend) -> None:
    (clause,) = clauses(frontend, '中山<prosody pitch="high">路</prosody>')
    assert clause.delivery is not None
    (word,) = clause.words
    (_, low), (at, high) = clause.delivery.steps
    assert word.first < at < word.last
    assert low.log_f0 < high.log_f0


@pytest.mark.parametrize(
    ("attribute", "gap_s"),
    [
        ('time="500ms"', 0.5),
        ('time="1.5s"', 1.5),
        ('time="+2s"', 2),
        ('time=".5s"', 0.5),
        ('time="9999s"', 60),
        ("", 0.45),
        ('strength="strong"', 0.75),
        ('strength="weak" time="3s"', 3),
    ],
)
def test_break_ends_its_clause(frontend: Frontend, attribute: str, gap_s: float) -> None:
    first, second = clauses(frontend, f"Turn left <break {attribute}/> now.")
    assert first.delivery is not None
    assert first.delivery.gap_s == gap_s
    assert second.delivery is None
    assert first.phonemes.endswith(",")
    assert first.phonemes[:-1] + " " + second.phonemes == frontend.phonemes("Turn left now.")


@pytest.mark.parametrize("tag", ['<break strength="none"/>', '<break time="0s"/>', '<break time="0ms"/>'])
def test_no_break_is_none(frontend: Frontend, tag: str) -> None:
    assert [c.ids for c in clauses(frontend, f"Turn {tag}left.")] == [
        c.ids for c in frontend.clauses("Turn left.")
    ]


def test_breaks_before_after_and_in_a_row(frontend: Frontend) -> None:
    found = clauses(frontend, '<break time="1s"/>Hi.<break time="2s"/><break time="3s"/>')
    assert [(c.phonemes, c.delivery.gap_s if c.delivery else None) for c in found] == [
        ("", 1.0),
        ("hˈI.", 2.0),
        ("", 3.0),
    ]


def test_a_break_keeps_the_language_of_its_sentence(frontend: Frontend) -> None:
    assert said(frontend, "倒计时<break/>3<break/>2<break/>1") == "倒计时 三 二 一"
    assert said(frontend, "Countdown <break/>3<break/>2") == "Countdown three two"


def test_sentences_and_paragraphs(frontend: Frontend) -> None:
    found = clauses(
        frontend, "<p><s>one</s><s>two</s></p><p>three and more words than one line holds here</p>x"
    )
    assert [c.text for c in found] == ["one", "two", "three and more words than one line holds here", "x"]
    assert [c.pause_s > 0 for c in found] == [False, True, True, False]
    assert all(c.phonemes.endswith(".") for c in found)


def test_white_space_is_that_of_xml(frontend: Frontend) -> None:
    assert said(frontend, "\n  Turn\n\n  right\tnow.\r\n") == "Turn right now."
    assert said(frontend, "\n  前方\n    三百米。\n") == "前方三百米。"
    assert len(clauses(frontend, "one line\nand the\n\n next")) == 1


def test_voice_divides_and_names_the_speaker(frontend: Frontend) -> None:
    found = clauses(
        frontend, 'He said <voice name="xiaobei">你好 <emphasis>世界</emphasis></voice> and left.'
    )
    assert [c.text.strip() for c in found] == ["He said", "你好 世界", "and left."]
    assert [c.delivery.speaker if c.delivery else "" for c in found] == ["", "xiaobei", ""]
    assert found[0].phonemes.endswith(",")


@pytest.mark.parametrize(
    ("inside", "spoken"),
    [
        ('It is <lang xml:lang="zh-CN">123</lang> here 4', "It is 一百二十三 here four"),
        ('现在<lang xml:lang="en">5 PM</lang>了', "现在 five P M了"),
        ('<s xml:lang="zh">3</s><s>4</s>', "三 four"),
        ('<s xml:lang="zh">3</s><s>四4</s>', "三 四四"),
        ('<p xml:lang="en-GB">3</p>', "three"),
    ],
)
def test_language_asked_for(frontend: Frontend, inside: str, spoken: str) -> None:
    assert said(frontend, inside).replace(" ", "") == spoken.replace(" ", "")


def test_the_roots_language_is_for_what_has_no_letters(frontend: Frontend) -> None:
    assert said(frontend, "3", ' xml:lang="zh-CN"') == "三"
    assert said(frontend, "3", ' xml:lang="en-US"') == "three"
    assert said(frontend, "第3个", ' xml:lang="en-US"') == "第三个"
    with pytest.warns(UserWarning, match="fr-FR"):
        assert said(frontend, "3", ' xml:lang="fr-FR"') == "three"


def marks(found: list[Clause]) -> list[tuple[str, str]]:
    """Each mark with the word that begins there, or that ended before."""
    out = []
    for clause in found:
        for name, at in clause.delivery.marks if clause.delivery else ():
            begun = [w.text for w in clause.words if w.first == at]
            out.append(
                (name, begun[0] if begun else "after " + clause.words[-1].text if clause.words else "")
            )
    return out


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ('<mark name="a"/>Turn <mark name="b"/>left.', [("a", "Turn"), ("b", "left")]),
        ('Turn left.<mark name="a"/> Now.', [("a", "Now")]),
        ('Turn <mark name="a"/><break/><mark name="b"/> left', [("a", "after Turn"), ("b", "left")]),
        ('Turn.<mark name="a"/>', [("a", "")]),
        ('中<mark name="a"/>国', [("a", "中国")]),
        ('<mark name="a"/><mark name="b"/>', [("a", ""), ("b", "")]),
        ('<s>one<mark name="a"/></s><s><mark name="b"/>two</s>', [("a", "two"), ("b", "two")]),
        ('...<mark name="a"/> one', [("a", "one")]),
    ],
)
def test_marks(frontend: Frontend, inside: str, expected: list[tuple[str, str]]) -> None:
    assert marks(clauses(frontend, inside)) == expected


def test_unknown_elements_are_spoken_with_one_warning(frontend: Frontend) -> None:
    with pytest.warns(UserWarning, match="not known") as caught:
        spoken = said(
            frontend, "<fancy>Hello</fancy> <amazon:effect>there</amazon:effect> <fancy>you</fancy>"
        )
    assert spoken == "Hello there you"
    assert len(caught) == 1
    assert "<fancy>" in str(caught[0].message)
    assert "<amazon:effect>" in str(caught[0].message)


def test_metadata_comments_and_instructions_are_silent_and_cdata_is_text(frontend: Frontend) -> None:
    inside = "<metadata><x>secret</x></metadata>A<!-- no -->B <?pi no?><![CDATA[5 < 6]]>"
    assert said(frontend, inside) == frontend.normalise("AB 5 < 6")


def test_namespaces(frontend: Frontend) -> None:
    text = (
        '<?xml version="1.0" encoding="gb2312"?>\n<s:speak version="1.1" '
        'xmlns:s="http://www.w3.org/2001/10/synthesis"><s:sub alias="two">2</s:sub></s:speak>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert frontend.normalise(text, ssml=True) == "two"


def test_words_point_into_the_source(frontend: Frontend) -> None:
    text = "\ufeff\n<speak>Tom &amp; <emphasis>Jerry</emphasis> 去𠮷野家，\r\n 吃 &#x996D;。</speak>"
    for clause in frontend.clauses(text, ssml=True):
        for word in clause.words:
            assert text[word.start : word.end] in (word.text, "&amp;", "&#x996D;")


@pytest.mark.parametrize(
    ("text", "line", "column", "told"),
    [
        ("Hello", 1, 1, "begins with <speak>"),
        ("", 1, 1, "begins with <speak>"),
        ("<speak>a & b</speak>", 1, 11, "&amp;"),
        ("<speak>a < b</speak>", 1, 11, "&lt;"),
        ("<speak>\n<p>x</s></speak>", 2, 7, "mismatched"),
        ("<speak>你好\n<break</speak>", 2, 7, "not well-formed"),
        ("<speak>x", 1, 9, "no element found"),
        ("<speak>x</speak> more", 1, 18, "junk"),
        ("<speak>\n  &nbsp;</speak>", 2, 3, "undefined entity"),
        ("<p>x</p>", 1, 1, "put the whole in <speak>"),
        ('<speak>\n<break time="long"/></speak>', 2, 1, "500ms"),
        ('<speak><break time="-1s"/></speak>', 1, 8, "500ms"),
        ('<speak><break strength="huge"/></speak>', 1, 8, "x-strong"),
        ('<speak>𠮷<prosody rate="quick">x</prosody></speak>', 1, 9, "x-slow"),
        ('<speak><prosody pitch="up">x</prosody></speak>', 1, 8, "semitone|st"),
        ('<speak><prosody volume="11dBA">x</prosody></speak>', 1, 8, "dB"),
        ('<speak><emphasis level="big">x</emphasis></speak>', 1, 8, "moderate"),
        ("<speak><mark/></speak>", 1, 8, "name"),
        ("<speak><sub>x</sub></speak>", 1, 8, "alias"),
        ("<speak><say-as>x</say-as></speak>", 1, 8, "interpret-as"),
        ("<speak><phoneme>x</phoneme></speak>", 1, 8, "ph"),
        ('<speak><phoneme ph="&#x627;">x</phoneme></speak>', 1, 8, "the voice has no"),
        ('<speak><phoneme alphabet="x-sampa" ph="x">x</phoneme></speak>', 1, 8, "ipa, pinyin"),
        ('<speak><phoneme alphabet="pinyin" ph="zhong guo">x</phoneme></speak>', 1, 8, "zhong1"),
        ('<speak><phoneme alphabet="x-arpabet" ph="QQ">x</phoneme></speak>', 1, 8, "HH AH0"),
        (f'<speak><phoneme ph="{"ɑ" * 101}">x</phoneme></speak>', 1, 8, "100 at most"),
        ("<speak>x\ud800</speak>", 1, 9, "surrogate"),
        ("<speak>x\x00</speak>", 1, 9, "not well-formed"),
        ("<!DOCTYPE speak><speak>x</speak>", 1, 1, "refused"),
        ('<speak a="1" a="2">x</speak>', 1, 14, "duplicate"),
    ],
)
def test_malformed_is_told_with_its_place(
    frontend: Frontend, text: str, line: int, column: int, told: str
) -> None:
    with pytest.raises(SsmlError, match=told) as caught:
        frontend.normalise(text, ssml=True)
    assert isinstance(caught.value, TextError)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert f"line {line}, column {column}" in str(caught.value)


BOMB = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "ha"}">' for i in range(10))


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE speak [{BOMB}]><speak>&a9;</speak>",
        '<!DOCTYPE speak [<!ENTITY x SYSTEM "file:///etc/passwd">]><speak>&x;</speak>',
        '<!DOCTYPE speak SYSTEM "http://localhost/x.dtd"><speak>x</speak>',
        '<!DOCTYPE speak [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><speak>x</speak>',
    ],
)
def test_entities_are_refused_and_never_opened(frontend: Frontend, text: str) -> None:
    with pytest.raises(SsmlError, match="refused"):
        frontend.ssml(text)
    with pytest.warns(UserWarning, match="refused"):
        spoken = frontend.normalise(text, ssml="lenient")
    assert "root" not in spoken
    assert len(spoken) < 3000


def test_depth_and_size_are_bounded(frontend: Frontend) -> None:
    deep = MAX_DEPTH - 1
    assert said(frontend, "<p>" * deep + "x" + "</p>" * deep) == "x"
    for inside in ("<p>" * 100_000 + "x", "<p>" * (deep + 1) + "x" + "</p>" * (deep + 1)):
        with pytest.raises(SsmlError, match="deep"):
            said(frontend, inside)
    with pytest.raises(SsmlError, match="at most"):
        frontend.ssml("<speak>" + "x" * 5_000_000 + "</speak>")


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Tom & Jerry", "Tom and Jerry"),
        ("<speak>Tom & <emphasis>Jerry</speak>", "Tom and Jerry"),
        ("<speak>Hello<break time='1s'>there &lt; you", "Hello there less than you"),
        ("<p>one</p><p>two</p>", "one two"),
        ("你<b>好", "你好"),
        ("<speak>A<!-- never closed", "A"),
        ("<speak>x <![CDATA[y]]> z <oops", "x y z less than oops"),
        ("Plain text.\nOn two lines.", "Plain text. On two lines."),
    ],
)
def test_lenient_reads_what_is_malformed_as_text(frontend: Frontend, text: str, spoken: str) -> None:
    with pytest.warns(UserWarning, match="read as text"):
        found = frontend.normalise(text, ssml="lenient")
    assert found == spoken or (
        "never" in text and found.startswith(spoken) and found.endswith("never closed")
    )


def test_lenient_leaves_out_values_that_are_none(frontend: Frontend) -> None:
    text = '<speak>Turn <prosody rate="quick"><sub>right</sub></prosody> <break time="x"/>now.</speak>'
    with pytest.warns(UserWarning, match="left out"):
        found = list(frontend.clauses(text, ssml="lenient"))
    assert [c.text for c in found] == ["Turn right now."]
    assert said(frontend, "Fine.") == frontend.normalise("<speak>Fine.</speak>", ssml="lenient")


def test_explained_in_the_source(frontend: Frontend) -> None:
    text = '<speak>I owe <break/> &amp; <say-as interpret-as="cardinal">5</say-as></speak>'
    rows = {e.source: (e.spoken, e.rule) for e in frontend.explain_normalise(text, ssml=True)}
    assert rows == {
        "I owe": ("I owe", "as written"),
        "<break/>": ("", "break"),
        "&amp;": ("and", "mark"),
        "5": ("five", "say-as cardinal"),
    }
    assert [e.source for e in frontend.explain_phonemes(text, ssml=True)] == [
        "I",
        "owe",
        "<break/>",
        "&amp;",
        "5",
    ]


TAGS = st.sampled_from(
    [
        "<speak>", "</speak>", "<p>", "</p>", "<s>", "</s>", '<break time="1s"/>', "<break",
        "<emphasis>", "</emphasis>",
        '<prosody rate="slow" pitch="+2st" volume="loud">', "</prosody>", '<voice name="heart">', "</voice>",
        '<sub alias="two 3">', "</sub>", '<say-as interpret-as="characters">',
        '<say-as interpret-as="date" format="mdy">',
        "</say-as>", '<phoneme ph="ˈɑ">', "</phoneme>", '<mark name="m"/>', '<lang xml:lang="zh">', "</lang>", "<odd>",
        "</odd>",
        "&amp;", "&lt;", "&#20320;", "&x;", "&", "<", ">", "]]>", "<![CDATA[", "<!--", "-->", "<?x?>", "<!DOCTYPE x [",
        "\ufffc", "\ue000", "\ufeff", "\n", " ", "\r\n", "你好", "一个", "5 km", "3.50", "Dr.", "。", "Hello",
        "\ud800", "\x00",
    ]
)  # fmt: skip
PIECES = st.lists(TAGS | st.text(max_size=6), max_size=25).map("".join)
NAMES = [
    "p",
    "s",
    "emphasis",
    "odd",
    'voice name="v"',
    'prosody rate="slow"',
    'sub alias="x 1"',
    'lang xml:lang="en"',
]
NAMES += [
    f'say-as interpret-as="{kind}"'
    for kind in ("characters", "cardinal", "date", "time", "telephone", "unit")
]
TEXTS = st.text(st.characters(exclude_characters="<&\x00\r", exclude_categories=("Cs", "Cc")), max_size=8)
LEAVES = TEXTS | st.sampled_from(['<break time="20ms"/>', '<mark name="m"/>', "12", "你好。", "No. 5", "\n"])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(NAMES),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


def check(frontend: Frontend, text: str, found: list[Clause]) -> None:
    for clause in found:
        assert bool(clause.ids) == bool(clause.words)
        if not clause.ids:
            assert clause.delivery is not None
            continue
        assert clause.ids[0] == clause.ids[-1] == 0
        assert 3 <= len(clause.ids) <= 256
        for word in clause.words:
            assert 0 <= word.start <= word.end <= len(text)
            assert 0 < word.first < word.last < len(clause.ids)
        if clause.delivery:
            firsts = [first for first, _ in clause.delivery.steps]
            assert firsts[0] == 0
            assert firsts == sorted(set(firsts))
            assert all(0 <= at < len(clause.ids) for _, at in clause.delivery.marks)


@settings(QUIET, max_examples=300)
@given(PIECES | PIECES.map(lambda inside: f"<speak>{inside}</speak>"))
@example("<speak>" + "<break/>" * 50 + "</speak>")
@example("<!--" * 50)
def test_anything_is_read_or_told(frontend: Frontend, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(SsmlError):
            check(frontend, text, list(frontend.clauses(text, ssml=True)))
        check(frontend, text, list(frontend.clauses(text, ssml="lenient")))


@settings(QUIET, max_examples=200)
@given(TREES)
def test_what_is_well_formed_is_read_and_every_mark_reached(frontend: Frontend, inside: str) -> None:
    text = f"<speak>{inside}</speak>"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(frontend.clauses(text, ssml=True))
        frontend.phonemes(text, "pinyin", sandhi=False, ssml=True)
        list(frontend.explain_normalise(text, ssml=True))
        list(frontend.explain_phonemes(text, ssml=True))
    check(frontend, text, found)
    assert sum(len(c.delivery.marks) for c in found if c.delivery) == inside.count("<mark")


@pytest.mark.parametrize(
    "part",
    ["<break/>", '<voice name="a">x</voice>', "<s>x</s>", '<lang xml:lang="zh">1</lang> ', "&amp;", "<p>", "<!--",
     '<mark name="m"/>x ', "<emphasis>x</emphasis>", '<say-as interpret-as="digits">12</say-as>', "<!DOCTYPE[", "]",
     "<a", "& "],
)  # fmt: skip
def test_time_is_linear(frontend: Frontend, part: str) -> None:
    """Eight times the document takes no more than some eight times as long; a square would take sixty-four."""

    def spent(count: int) -> float:
        text = "<speak>" + part * count + "</speak>"
        start = time.process_time()
        for _ in frontend.sentences(frontend.ssml(text, lenient=True)):
            pass
        return time.process_time() - start

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spent(50)
        assert spent(8000) < 25 * spent(1000) + 0.2
