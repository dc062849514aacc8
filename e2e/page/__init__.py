"""The page in a real browser: Chromium without a window, over its DevTools protocol."""
