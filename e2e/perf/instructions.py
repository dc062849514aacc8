"""The instructions that this thread executes, counted by the processor where the machine gives them.

They vary far less than time does. Source of the layout: include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SYSCALL: Final = {"x86_64": 298, "aarch64": 241}
_HARDWARE: Final = 0
_INSTRUCTIONS: Final = 1
_SIZE: Final = 64
_EXCLUDE_KERNEL_AND_HYPERVISOR: Final = (1 << 5) | (1 << 6)


@contextmanager
def counter() -> Iterator[Callable[[], int] | None]:
    """A function that tells how many instructions were executed so far; None where the machine does not count."""
    descriptor = _open()
    if descriptor < 0:
        yield None
        return

    def read() -> int:
        return int.from_bytes(os.read(descriptor, 8), "little")

    try:
        yield read
    finally:
        os.close(descriptor)


def _open() -> int:
    number = _SYSCALL.get(platform.machine())
    if number is None or platform.system() != "Linux":
        return -1
    # type, size, config, period, sample_type, read_format, flags, wakeup, bp_type, bp_addr
    attributes = struct.pack(
        "IIQQQQQIIQ", _HARDWARE, _SIZE, _INSTRUCTIONS, 0, 0, 0, _EXCLUDE_KERNEL_AND_HYPERVISOR, 0, 0, 0
    )
    buffer = ctypes.create_string_buffer(attributes)
    call = ctypes.CDLL(None, use_errno=True).syscall
    this_thread, any_cpu, no_group, no_flags = 0, -1, -1, 0
    return int(call(number, buffer, this_thread, any_cpu, no_group, no_flags))
