#!/usr/bin/env python
"""Run a command of memplatform."""

from memplatform.__main__ import main

if __name__ == "__main__":
    main()
