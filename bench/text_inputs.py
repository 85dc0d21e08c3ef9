"""What bench/text.py reads: everyday sentences of about 20 characters, and texts made to be slow."""

from __future__ import annotations

SENTENCES = {
    "zh": (
        "前方三百米右转，进入中山路，请走左侧车道。",
        "明天上午9:30在会议室302开会，别迟到。",
        "这件衣服打八折以后只要¥199.50。",
        "重庆的银行行长说，还有二十五天到期。",
        "我想买3个苹果和两瓶水，一共多少钱？",
        "电话是138-1234-5678，请尽快联系我。",
    ),
    "en": (
        "Turn left onto Main.",
        "It costs $5.50 a day",
        "Meet Dr. Lee at 9:30",
        "I read it last May 3",
        "Take I-95 for 20 mi.",
        "Blorptastic snowfall",
    ),
    "mixed": (
        "打开WiFi，再试一次，谢谢你的配合吧。",
        "下一站是Central Park，请准备下车",
        "我的iPhone 15还有30%的电。",
        "请用USB-C线连接电脑，再点OK键。",
        "这首歌叫Yesterday，很好听的歌曲。",
        "他在NASA工作了10年，住在LA附近呢。",
    ),
}
SLOW = {
    "one word": "a",
    "pronounceable word": "supercalifragilistic",
    "digits": "1",
    "round brackets": "(",
    "square brackets": "[",
    "angle brackets": "<a",
    "faulty inline": "[x](/a",
    "Chinese, one character": "好",
    "Chinese without punctuation": "我们今天一起去北京看看天安门",
    "stops": ".",
    "commas": ",",
    "letters and digits": "aB1",
    "digits and letters": "1a",
    "digits and stops": "1.",
    "initials": "A.",
    "hyphens": "ab-",
    "slashes": "1/2",
    "minus signs": "-",
    "dollars": "$",
    "addresses": "x@y.",
    "emoji": "😀",
    "spaces": " ",
    "line breaks": "\n",
    "unknown script": "س",
    "combining marks": "a\u0301\u0302",
    "joiners": "a\u200d",
    "capitals": "AB ",
    "apostrophes": "a'",
    "prose": "we walked along the river until the sun went down, and then it was 9:30 p.m. on May 3rd. ",
    "Chinese prose": "他说：“现在是9:30，还有3.5公里，大约要花¥25。”然后我们就出发了。",
}
LENGTH = 10_000


def slow_texts() -> dict[str, str]:
    """Each of SLOW repeated to LENGTH characters."""
    return {name: (unit * LENGTH)[:LENGTH] for name, unit in SLOW.items()}
