"""Confinement of this process and its descendants to named files, without a network: Landlock and seccomp of the Linux kernel.

Protections that a kernel lacks are left out, and `lacking` names them; processes still have limits. A kernel that has a protection and
refuses it is an error. The numbers come from the kernel's own headers (linux/landlock.h, linux/seccomp.h, asm/unistd.h).
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import dpsynth_core
from dpsynth_core.foundation.errors import InputError

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System calls of Landlock, on all processors."""
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE, _DEVICE = (1 << place for place in (0, 1, 2, 3, 14, 15))
_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of rights to files that each version of Landlock introduces; they are the first bits."""
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime")
"""Libraries and time zones."""
_MACHINE = ("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/urandom")

_REFUSED = {
    **{"socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "io_uring_setup": (425, 425)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438)},
    **{"chmod": (90, 52), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452)},
    **{"chown": (92, 55), "fchown": (93, 55), "lchown": (94, 55), "fchownat": (260, 54)},
    **{"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463)},
    **{"removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466)},
    **{"utime": (132, 88), "utimes": (235, 88), "futimesat": (261, 88), "utimensat": (280, 88), "truncate": (76, 45)},
    **{"setpriority": (141, 140), "shmget": (29, 194), "mq_open": (240, 180)},
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
}
"""Calls that open a network, reach into other processes or change what Landlock does not guard, by their numbers on x86_64 and aarch64. The
older ways to set a time do not exist on aarch64.
"""
_GUARDED = {"socketpair": ((53, 199), 24, 0xF, 1), "prlimit64": ((302, 261), 16, 0xFFFFFFFF, 0)}
"""Calls that are allowed if an argument, at this place and masked with these bits, has this value: a pair of sockets other than streams
could still send to a name; limits are one's own (0) alone.
"""
_NO_EMPTYING = {"open": ((2, 0xFFFFFFFF), 24, os.O_TRUNC, 0), "openat": ((257, 56), 32, os.O_TRUNC, 0)}
_OTHERWISE = {"creat": (85, 437), "openat2": (437, 437)}
"""Before Landlock 3, opening could empty a file that is open for reading alone. aarch64 has one such call."""
_PROCESSORS = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Index into the pairs above, and the kernel's name of the processor."""
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _KILL, _NOT_PERMITTED = 0x7FFF0000, 0x80000000, 0x00050001
_NUMBER, _PROCESSOR = 0, 4
"""Offsets of the call and the processor in a filter's input. The lower half of the first argument is at 16, of the next at 24."""
_SECCOMP, _SUBREAPER, _NO_NEW_PRIVILEGES, _FILTER = 22, 36, 38, 2


def close(files: Sequence[str]) -> None:
    """Confine this process irrevocably: it can read programs, libraries and the named `files` and folders, and write nothing.

    It can open no socket but a pair, and look into no other process or, with Landlock 6, signal one. Protections that
    the kernel lacks are left out without an error; other systems than Linux have no protection.

    Raises:
        InputError: The operating system refuses a protection that it has.
    """
    if sys.platform == "linux":
        _done(_libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _close_files(files)
        _close_calls()


def lacking() -> str:
    """Return a sentence, without a full stop, about the protections that this machine lacks; "" if it has all."""
    if version() and _known() is not None:
        return ""
    if not hasattr(os, "fork"):
        return "this system cannot shut the readers of files in, nor limit their memory: they are ended when they take too long"
    return "this system cannot shut the readers of files in (Landlock and seccomp of Linux): limits on memory and time are all there is"


def adopt_orphans() -> None:
    """Make this process the parent of processes whose own parent, one of its descendants, ends before them.

    Other systems than Linux do not support it; nothing happens there.
    """
    if sys.platform == "linux":
        _libc().prctl(_SUBREAPER, 1, 0, 0, 0)


def _done(result: int) -> int:
    if result < 0 and version():
        raise InputError("system", "the process for this work cannot be shut in, so it read nothing", "see what limits this program")
    return result


@cache
def version() -> int:
    """Return the version of the kernel's Landlock, from 1; 0 without Landlock."""
    return max(0, _libc().syscall(_CREATE, None, 0, 1)) if sys.platform == "linux" else 0


def _close_files(files: Sequence[str]) -> None:
    if not version():
        return
    rights = (1 << max(count for since, count in _RIGHTS.items() if since <= version())) - 1
    scopes = 3 if version() >= 6 else 0
    asked = struct.pack("QQQ", rights, 0, scopes)[: 24 if version() >= 6 else 8]
    ruleset = _done(_libc().syscall(_CREATE, asked, len(asked), 0))
    for path, allowed in (*_programs(), *((path, _READ | _LIST) for path in (*_MACHINE, *files)), ("/dev/null", _READ | _WRITE)):
        with suppress(OSError):  # what is not there cannot be opened either
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed &= rights if os.path.isdir(path) else rights & _OF_FILES
            _libc().syscall(_ADD, ruleset, 1, struct.pack("=Qi", allowed, place), 0)  # refused, it leaves one more place shut
            os.close(place)
    _done(_libc().syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _programs() -> Iterator[tuple[str, int]]:
    """Yield each path from which Python may load code later, with the access that the sandbox allows to it.

    If this package is not installed (a source checkout), the folder that holds it may hold anything else too. The names in that folder may
    be listed, but its files may not be read.
    """
    package = Path(dpsynth_core.__file__).resolve().parent
    beside = str(package.parent) if package.parent.name not in ("site-packages", "dist-packages") else ""
    places = (*_SYSTEM, sys.prefix, sys.base_prefix, str(package), *sys.path)
    for path in {os.path.realpath(place) for place in places if os.path.isabs(place)} - {beside}:
        yield path, _READ | _LIST | _EXECUTE
    if beside:
        yield beside, _LIST


def _known() -> tuple[int, int] | None:
    return _PROCESSORS.get(platform.machine()) if sys.byteorder == "little" else None


def _close_calls() -> None:
    if (known := _known()) is None:
        return
    here, processor = known
    refusals, guarded = (_REFUSED, _GUARDED) if version() >= 3 else (_REFUSED | _OTHERWISE, _GUARDED | _NO_EMPTYING)
    refused = sorted({numbers[here] for numbers in refusals.values()})
    steps = [(_LOAD, 0, 0, _PROCESSOR), (_EQUAL, 1, 0, processor), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    steps += [(_AT_LEAST, 0, 1, 1 << 30), (_RETURN, 0, 0, _KILL)]  # calls of another kind of program on the same processor
    for number in refused:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NOT_PERMITTED)]
    for numbers, place, bits, value in guarded.values():
        steps += [(_EQUAL, 0, 5, numbers[here]), (_LOAD, 0, 0, place), (_AND, 0, 0, bits), (_EQUAL, 1, 0, value)]
        steps += [(_RETURN, 0, 0, _NOT_PERMITTED), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_RETURN, 0, 0, _ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    _done(_libc().prctl(_SECCOMP, _FILTER, program, 0, 0))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
