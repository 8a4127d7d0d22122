"""
Runs a command that can only create sockets of these families, as RestrictAddressFamilies= of systemd does (Linux):
python3 restrict-families.py "AF_INET AF_UNIX" COMMAND ARGUMENT …
"""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

NUMBER_OF_SOCKET = {"x86_64": 41, "aarch64": 198}[platform.machine()]
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
# In the kernel's struct seccomp_data.
CALL, FIRST_ARGUMENT = 0, 16

families = [getattr(socket, name) for name in sys.argv[1].split()]
count = len(families)
# Each comparison skips this many of the instructions that follow it, if it is true or false.
program = [(LOAD, 0, 0, CALL), (IF_EQUAL, 0, count + 2, NUMBER_OF_SOCKET), (LOAD, 0, 0, FIRST_ARGUMENT)]
program += [(IF_EQUAL, count - n, 0, family) for n, family in enumerate(families)]
program += [(RETURN, 0, 0, FAIL | errno.EAFNOSUPPORT), (RETURN, 0, 0, ALLOW)]

code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
filter = ctypes.create_string_buffer(struct.pack("H6xP", len(program), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
for call in [(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0)]:
    if libc.prctl(*call) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
