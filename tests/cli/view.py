"""The server of 'linkwork view': one per port, bounded requests, only its own pages, and slow clients that keep nobody waiting.

LINKWORK is the program; the current directory is empty at the start.
"""

import os
import re
import socket
import subprocess
import sys
import time

LINKWORK = os.environ["LINKWORK"]


def fail(text):
    sys.exit(f"FAILED: {text}")


done = subprocess.run([LINKWORK, "run", "four_bar", "--end", "1", "--out", "run"], capture_output=True, text=True)
if "built without the report page" in done.stdout:
    sys.exit(0)

server = subprocess.Popen([LINKWORK, "view", "run", "--no-browser"], stdout=subprocess.PIPE, text=True)
try:
    address = server.stdout.readline().strip()
    port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", address)[1])

    def connected():
        return socket.create_connection(("127.0.0.1", port), timeout=20)

    def answer(request):
        """Everything the server says until it closes the connection."""
        with connected() as client:
            client.sendall(request)
            parts = []
            while part := client.recv(1 << 16):
                parts.append(part)
        return b"".join(parts)

    def get(target, method="GET", **headers):
        headers = {"Host": f"127.0.0.1:{port}", **headers}
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        text = answer(f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode())
        head, _, body = text.partition(b"\r\n\r\n")
        return int(head.split()[1]), head, body

    def expect(status, *arguments, **headers):
        got, head, body = get(*arguments, **headers)
        if got != status:
            fail(f"{arguments} {headers}: {got} instead of {status}")
        return head, body

    head, body = expect(200, "/")
    if b"<html" not in body[:2000] or b"Content-Length: %d\r\n" % len(body) not in head + b"\r\n":
        fail("not the page")
    expect(200, "/", Host=f"localhost:{port}")
    if expect(200, "/", "HEAD")[1]:
        fail("HEAD has a body")
    head, rows = expect(200, "/rows?from=0")
    if rows.count(b"\n") != 101:
        fail(f"{rows.count(b'n')} rows")
    at = int(re.search(rb"X-Next: (\d+)", head)[1])
    if expect(200, f"/rows?from={at}")[1]:
        fail("rows after the last")
    for odd in ("-5", "x", "99999999999999999999999", ""):
        expect(200, f"/rows?from={odd}")
    expect(200, "/summary.json")
    for target in ("/nothing", "/../run/summary.json", "/rows", "//", "/%2e%2e/x"):
        expect(404, target)

    # Pages of others.
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", "127.0.0.1.evil.example"):
        expect(403, "/", Host=host)
    for origin in ("http://evil.example", "null", "https://localhost", "http://127.0.0.1:1"):
        expect(403, "/rows?from=0", Origin=origin)
    expect(200, "/rows?from=0", Origin=f"http://127.0.0.1:{port}")
    if b" 403 " not in answer(b"GET / HTTP/1.1\r\n\r\n"):
        fail("a request without Host is answered")

    # Methods, bodies and heads without end.
    expect(405, "/", "POST", Content_Length="10")
    for text in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / SPDY\r\n\r\n", b"GET x HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nnonsense\r\n\r\n", b"\0\xff\r\n\r\n"):
        if b" 400 " not in answer(text):
            fail(f"{text} is answered")

    def memory():
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{server.pid}/status").read())[1])

    before = memory()
    for start in (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"GET / HTTP/1.1\r\n"):
        with connected() as client:
            try:
                client.sendall(start)
                for _ in range(64):
                    client.sendall((b"X-A: " + b"a" * 1000 + b"\r\n") * 1000)
            except OSError:
                pass  # it has hung up
    if memory() > before + 20_000:
        fail(f"a request makes the server grow from {before} to {memory()} kB")

    # A body that is not wanted is not waited for: the refusal comes at once, and the server hangs up on who goes on.
    for head in (b"Transfer-Encoding: chunked\r\n", b"Content-Length: 2000000000\r\n"):
        with connected() as client:
            client.sendall(f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode() + head + b"\r\n")
            if not client.recv(1 << 16).startswith(b"HTTP/1.1 405 "):
                fail("a body is waited for")
            taken = 0
            try:
                for _ in range(3000):
                    client.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
                    taken += 65536
            except OSError:
                pass
            if taken > 20_000_000:  # most of it is what the two sockets hold
                fail(f"the server takes {taken} bytes of a body that it has refused")

    # Clients that say nothing, or little, and one that does not take its answer.
    slow = [connected() for _ in range(100)]
    for client in slow[::2]:
        try:
            client.sendall(b"GET / HT")
        except OSError:
            pass
    greedy = connected()
    greedy.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    start = time.monotonic()
    expect(200, "/rows?from=0")
    if time.monotonic() - start > 5.0:
        fail("slow clients keep others waiting")

    # One server per port.
    second = subprocess.run([LINKWORK, "view", "run", "--no-browser", "--port", str(port)], capture_output=True, text=True, timeout=60)
    if second.returncode != 2 or "cannot be used: Address already in use" not in second.stderr:
        fail(f"a second server on the port: exit {second.returncode}, {second.stderr}")
finally:
    server.kill()
    server.wait()

# The port is free again at once.
again = subprocess.Popen([LINKWORK, "view", "run", "--no-browser", "--port", str(port)], stdout=subprocess.PIPE, text=True)
line = again.stdout.readline()
again.kill()
if line.strip() != address:
    fail(f"the port is not free again: {line}")
