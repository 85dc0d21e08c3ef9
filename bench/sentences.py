"""Everyday sentences that training never saw: what the quality bench speaks and the judges hear."""

from __future__ import annotations

from dataclasses import dataclass

CHINESE = (
    "转弯。",
    "请靠边。",
    "收音机。",
    "谢谢光临。",
    "前方三百米右转，进入中山路。",
    "前面路口有测速摄像头，请控制车速。",
    "沿滨江大道一直往前开，大约还有五公里。",
    "您已偏离路线，正在重新为您规划。",
    "请取走您的银行卡和打印凭条。",
    "这台机器暂停服务，请到隔壁窗口办理。",
    "扫码成功，请在十五秒内打开柜门。",
    "您前面还有七位客人，请在大厅休息一下。",
    "好的，明天早上六点半叫您起床。",
    "客厅的灯已经关了，空调调到二十六度。",
    "对不起，我没有听懂，您可以换个说法吗？",
    "我在附近找到了三家评价不错的面馆。",
    "今天夜里有小雨，明天转晴，气温比昨天略高。",
    "周末会有一股冷空气南下，出门记得多穿衣服。",
    "新的地铁线路将于下个月正式通车，全长约四十公里。",
    "专家表示，今年的粮食产量有望再创新高。",
)

ENGLISH = (
    "Microphone.",
    "Reconnecting.",
    "Window closed.",
    "Thanks, everyone.",
    "In three hundred meters, turn right.",
    "Take the second left after the gas station.",
    "There is heavy traffic on the bridge, so expect a short delay.",
    "You are on the fastest route and should arrive in twenty minutes.",
    "Please take your receipt and your card.",
    "This machine does not accept cash today.",
    "Scan the code on your ticket to open the gate.",
    "Your order is ready at the front counter.",
    "I have set an alarm for half past six tomorrow morning.",
    "The living room lights are off and the heating is on.",
    "Sorry, I did not understand that, could you say it another way?",
    "I found three coffee shops within walking distance.",
    "Expect light rain this evening, clearing before midnight.",
    "It will be warm and sunny on Saturday, with a gentle breeze from the south.",
    "The city council approved a plan to build a new bridge across the river.",
    "Scientists say the glacier has lost a third of its ice since the last survey.",
)

MIXED = (
    "请连接名叫 office 的无线网络。",
    "我把 email 的附件放在桌面上了。",
    "今晚的 party 改到八点开始。",
    "打开 Bluetooth，再试一次。",
    "这首歌的名字叫 Yesterday。",
    "下一站是购物中心，the next stop is the shopping center.",
)


@dataclass(frozen=True)
class Sentence:
    """One line of the bench: its text, and its language: `zh`, `en` or `mix`."""

    text: str
    lang: str


SENTENCES: tuple[Sentence, ...] = tuple(
    Sentence(text, lang)
    for lang, texts in (("zh", CHINESE), ("en", ENGLISH), ("mix", MIXED))
    for text in texts
)
