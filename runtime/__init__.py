"""Stonechat: offline Chinese and English text-to-speech on numpy alone."""
