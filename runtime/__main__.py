"""`python -m stonechat`."""

from .cli import main

raise SystemExit(main())
