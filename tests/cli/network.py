"""Run by network.sh in an empty directory, with LINKWORK (the program) and SOURCE_DIR set."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

LINKWORK, SOURCE = os.environ["LINKWORK"], Path(os.environ["SOURCE_DIR"])
RIGHT = SOURCE / "models/parts/four_bar_right.toml"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"  # with empty settings
END = 5  # s
started = []


def fail(text):
    print("FAILED:", text, file=sys.stderr)
    sys.exit(1)


def run(*arguments, code=0, words="", env=None):
    done = subprocess.run([LINKWORK, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=120)
    if done.returncode != code or words not in done.stdout + done.stderr:
        fail(f"{arguments}: exit {done.returncode}, wanted {code} and '{words}'\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def serve(*arguments, program=(LINKWORK, "serve"), before=()):
    """Starts a server; returns it and its port."""
    env = {**os.environ, "LINKWORK_NETWORK_LIBRARY": str(Path(LINKWORK).parent / "liblinkwork_network.so")}
    server = subprocess.Popen([*before, *program, *map(str, arguments)], stdout=subprocess.PIPE, text=True, env=env)
    started.append(server)
    line = server.stdout.readline()
    found = re.search(r"linkwork://.*:(\d+)/", line)
    if not found:
        fail(f"the server does not start: {line!r}")
    return server, int(found.group(1))


def keys(name):
    return ("--cert", f"{name}/server.pem", "--key", f"{name}/server.key", "--ca", f"{name}/ca.pem")


def client_keys(name, ca=None):
    return {"LINKWORK_CERT": f"{name}/client.pem", "LINKWORK_KEY": f"{name}/client.key", "LINKWORK_CA": f"{ca or name}/ca.pem"}


def model(port, host="127.0.0.1", part="four_bar_right", timeout=2):
    text = (SOURCE / "models/four_bar_modules.toml").read_text()
    text = text.replace('file = "parts/four_bar_right.toml"', f'remote = "linkwork://{host}:{port}/{part}"')
    text = text.replace('file = "parts/', f'file = "{SOURCE}/models/parts/')
    text = text.replace("[[module]]", f"[settings.network]\ntimeout = {timeout}\n\n[[module]]", 1)
    Path("remote.toml").write_text(text)
    return "remote.toml"


def same_bytes(folder, what):
    if Path(folder, "trajectory.csv").read_bytes() != reference:
        fail(f"{what}: other bytes than in one process")


def stop(server):
    server.send_signal(signal.SIGTERM)
    if server.wait(10) != 143:
        fail(f"the server ends with {server.returncode}")


def last_value(folder, column):
    lines = Path(folder, "trajectory.csv").read_text().splitlines()
    return float(lines[-1].split(",")[lines[0].split(",").index(column)])


def tests():
    global reference
    run("run", SOURCE / "models/four_bar_modules.toml", "--end", END, "--quiet", "--no-report", "--out", "here")
    reference = Path("here/trajectory.csv").read_bytes()

    # The program itself starts without gRPC.
    if "grpc" in subprocess.run(["ldd", LINKWORK], capture_output=True, text=True).stdout:
        fail("the program is linked with gRPC")

    # Keys, never replaced, private ones for their owner only.
    run("serve", "--make-keys", "keys", words="keys/server.key")
    if os.stat("keys/server.key").st_mode & 0o077:
        fail("others may read the private key")
    run("serve", "--make-keys", "keys", code=2, words="is there already")
    run("serve", RIGHT, code=2, words="nothing is answered without certificates")
    run("serve", SOURCE / "models/four_bar.toml", *keys("keys"), code=2, words="has no ports")
    run("serve", RIGHT, "--listen", "127.0.0.1", *keys("keys"), code=2, words="HOST:PORT")
    run("serve", RIGHT, "--listen", "192.0.2.1:0", *keys("keys"), code=2, words="cannot listen on 192.0.2.1:0")

    server, port = serve(RIGHT, *keys("keys"))
    env = client_keys("keys")
    run("ping", f"127.0.0.1:{port}", "--count", 50, env=env, words="four_bar_right")
    run("run", model(port), "--end", END, "--no-report", "--out", "there", env=env, words="round trips to other hosts")
    same_bytes("there", "another process")
    run("run", "remote.toml", code=2, words="LINKWORK_CERT")
    run("check", "remote.toml", code=2, words="the equations of module 'right' are not here, since it is on another host", env=env)
    run("run", "remote.toml", "--glue", "projection", code=2, words="which not every module shows: right", env=env)
    run("run", model(port, part="four_bar_rihgt"), code=2, words="did you mean 'four_bar_right'", env=env)
    for name, options in [("adaptive", ("--integrator", "dopri45", "--end", 1)), ("springs", ("--glue", "compliance:stiffness=1e5", "--end", "0.5"))]:
        quiet = (*options, "--quiet", "--no-report", "--out")
        run("run", SOURCE / "models/four_bar_modules.toml", *quiet, name + "-here")
        run("run", model(port), *quiet, name + "-there", env=env)
        if Path(name + "-here/trajectory.csv").read_bytes() != Path(name + "-there/trajectory.csv").read_bytes():
            fail(f"{options}: other bytes than in one process")

    only_asked_address(server, port)
    who_is_let_in(port, env)
    what_is_endured(port, env)
    without_an_answer(server, port, env)
    if shutil.which("mpirun"):
        command = ["mpirun", "--oversubscribe", "-n", "2", LINKWORK, "run", model(port), "--end", "1", "--quiet", "--no-report", "--out", "ranks"]
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
        if subprocess.run(command, env={**os.environ, **env, **root}, timeout=120).returncode:
            fail("ranks with a module elsewhere")
        if not reference.startswith(Path("ranks/trajectory.csv").read_bytes()):
            fail("two ranks: other bytes than in one process")

    # A host that is killed and comes back is found again; one that stays away is named, and the run is resumed.
    server = killed_during_run(server, port, env, comes_back=True)
    server = killed_during_run(server, port, env, comes_back=False)
    stop(server)
    run("ping", f"127.0.0.1:{port}", "--timeout", "1", env=env, code=2)

    examples(env)
    namespaces()


def only_asked_address(server, port):
    inodes = {os.readlink(f"/proc/{server.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{server.pid}/fd")}
    listening = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in inodes and (fields[3] == "0A" or table.startswith("udp")):
                listening.append((table, fields[1]))
    if listening != [("tcp", f"0100007F:{port:04X}")]:
        fail(f"listens on {listening}")
    second = subprocess.run([LINKWORK, "serve", RIGHT, *keys("keys"), "--listen", f"127.0.0.1:{port}"], capture_output=True, text=True)
    if second.returncode != 2 or "in use" not in second.stderr:
        fail("two servers share a port")


def answer_to(port, context=None):
    """What the server says to the first words of HTTP/2, or why it says nothing."""
    try:
        with socket.create_connection(("127.0.0.1", port), 10) as plain:
            plain.settimeout(10)
            line = context.wrap_socket(plain, server_hostname="localhost") if context else plain
            line.sendall(PREFACE)
            return line.recv(100)
    except (ssl.SSLError, ConnectionError) as error:
        return str(error).encode()


def tls(certificate=None, version=None):
    context = ssl.create_default_context(cafile="keys/ca.pem")
    context.set_alpn_protocols(["h2"])
    if certificate:
        context.load_cert_chain(f"{certificate}/client.pem", f"{certificate}/client.key")
    if version:
        context.minimum_version = context.maximum_version = version
        context.set_ciphers("ALL:@SECLEVEL=0")
    return context


def who_is_let_in(port, env):
    run("serve", "--make-keys", "foreign")
    run("serve", "--make-keys", "other", "--names", "example.org")
    shutil.copytree("keys", "expired")
    is_settings = lambda said: said[3:4] == b"\x04"  # noqa: E731, a frame of HTTP/2
    if not is_settings(answer_to(port, tls("keys"))) or not is_settings(answer_to(port, tls("keys", ssl.TLSVersion.TLSv1_2))):
        fail("who has a certificate is not answered")
    for what, context in [("no certificate", tls()), ("no certificate, TLS 1.2", tls(version=ssl.TLSVersion.TLSv1_2)),
                          ("a foreign authority", tls("foreign")), ("TLS 1.1", tls("keys", ssl.TLSVersion.TLSv1_1)), ("plain text", None)]:
        said = answer_to(port, context)
        if is_settings(said) or b"HTTP" in said:
            fail(f"{what}: the server answers {said!r}")
    ping = ("ping", f"127.0.0.1:{port}", "--timeout", "2")
    run(*ping, env=client_keys("foreign", ca="keys"), code=2)
    run(*ping, env=client_keys("keys", ca="foreign"), code=2)
    run("run", model(port), env=client_keys("foreign", ca="keys"), code=2, words="module 'right'")
    # Expired on either side, and a server of another name, all of the right authority: made with openssl.
    if shutil.which("openssl"):
        expired = signed("old", "linkwork-client", -1)
        run(*ping, env={**client_keys("keys"), **expired}, code=2)
        run(*ping, env={**client_keys("keys"), **signed("new", "linkwork-client", 5)}, words="round trip")
        for name, days in [("localhost", -1), ("example.org", 5)]:
            own = signed(f"server-{name}", name, days)
            bad, bad_port = serve(RIGHT, "--cert", own["LINKWORK_CERT"], "--key", own["LINKWORK_KEY"], "--ca", "keys/ca.pem")
            run("ping", f"localhost:{bad_port}", "--timeout", "2", env=env, code=2)
            stop(bad)


def what_is_endured(port, env):
    """No message, a message that is too long: the line is closed with words, and the next one is answered."""
    try:
        import grpc
    except ImportError:
        print("skipped: messages that are none, without python3-grpcio")
        return
    read = lambda name: Path("keys", name).read_bytes()  # noqa: E731
    credentials = grpc.ssl_channel_credentials(read("ca.pem"), read("client.key"), read("client.pem"))
    same = lambda message: message  # noqa: E731
    for message, words in [(b"\xff" * 100, "number"), (b"\x0a" + b"\x00" * (5 << 20), "larger than max")]:
        with grpc.secure_channel(f"localhost:{port}", credentials) as channel:
            try:
                list(channel.stream_stream("/linkwork.Modules/Converse", same, same)(iter([message]), timeout=20))
                fail(f"{message[:9]} is answered")
            except grpc.RpcError as error:
                if words not in error.details():
                    fail(f"{message[:9]}: {error.details()}")
    run("ping", f"127.0.0.1:{port}", "--count", 5, env=env, words="round trip")
    slow, slow_port = serve(RIGHT, *keys("keys"), "--most-rate", 200)
    before = time.monotonic()
    run("ping", f"127.0.0.1:{slow_port}", "--count", 100, env=env)
    if time.monotonic() - before < 0.3:
        fail("--most-rate is not kept to")
    stop(slow)


def without_an_answer(server, port, env):
    """A host that has stopped to answer is named after the time-out."""
    os.kill(server.pid, signal.SIGSTOP)
    run("run", model(port, timeout=0.5), "--no-report", "--out", "silent", env=env, code=2, words="module 'right'")
    os.kill(server.pid, signal.SIGCONT)
    command = [LINKWORK, "run", model(port, timeout=0.5), "--end", "1000", "--quiet", "--no-report", "--out", "silent"]
    running = subprocess.Popen(command, env={**os.environ, **env}, stderr=subprocess.PIPE, text=True)
    started.append(running)
    while not Path("silent/trajectory.csv").exists() and running.poll() is None:
        time.sleep(0.01)
    os.kill(server.pid, signal.SIGSTOP)
    said = running.communicate(timeout=60)[1]
    os.kill(server.pid, signal.SIGCONT)
    if running.returncode != 1 or "module 'right': its host linkwork://127.0.0.1:" not in said or "no answer in time" not in said:
        fail(f"a silent host is not named: exit {running.returncode}, {said}")


def signed(name, host, days):
    """A certificate of our authority, valid until so many days from now."""
    openssl = lambda *a: subprocess.run(["openssl", *a], check=True, capture_output=True)  # noqa: E731
    openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", f"{name}.sec1")
    openssl("pkcs8", "-topk8", "-nocrypt", "-in", f"{name}.sec1", "-out", f"{name}.key")
    openssl("req", "-new", "-key", f"{name}.key", "-subj", f"/CN={host}", "-out", f"{name}.csr")
    Path(f"{name}.ext").write_text(f"subjectAltName=DNS:{host}\n")
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "keys/ca.pem", "-CAkey", "keys/ca.key", "-CAcreateserial", "-days", str(days),
            "-extfile", f"{name}.ext", "-out", f"{name}.pem")
    return {"LINKWORK_CERT": f"{name}.pem", "LINKWORK_KEY": f"{name}.key"}


def killed_during_run(server, port, env, comes_back):
    out, saved = f"killed-{comes_back}", f"{comes_back}.ckpt"
    command = [LINKWORK, "run", model(port, timeout=30 if comes_back else 0.5), "--end", str(END), "--quiet", "--no-report", "--out", out,
               "--checkpoint", saved, "--checkpoint-every", "0.1"]
    running = subprocess.Popen(command, env={**os.environ, **env}, stderr=subprocess.PIPE, text=True)
    started.append(running)
    while not Path(saved).exists() and running.poll() is None:
        time.sleep(0.01)
    server.kill()
    server.wait()
    again = lambda: serve(RIGHT, *keys("keys"), "--listen", f"127.0.0.1:{port}")[0]  # noqa: E731
    if comes_back:
        server = again()
        if running.wait(120) != 0:
            fail(f"the host came back, and the run failed: {running.stderr.read()}")
    else:
        said = running.communicate(timeout=60)[1]
        if running.returncode != 1 or "module 'right': its host linkwork://127.0.0.1:" not in said:
            fail(f"a lost host is not named: exit {running.returncode}, {said}")
        server = again()
        run("resume", saved, "--quiet", env=env)
    same_bytes(out, f"killed, comes back: {comes_back}")
    return server


def examples(env):
    wanted = last_value("here", "q.left.theta")
    programs = [("C++", [str(Path(LINKWORK).parent / "tests/linkwork_example_served_module")], 0.0)]
    have = subprocess.run(["/usr/bin/python3", "-c", "import grpc, google.protobuf, numpy"], capture_output=True).returncode == 0
    if have and shutil.which("protoc"):
        programs.append(("Python", ["/usr/bin/python3", str(SOURCE / "examples/python/served_rocker.py")], 1e-7))
    for name, program, tolerance in programs:
        if not Path(program[-1]).exists():
            print(f"skipped: {program[-1]} was not built")
            continue
        server, port = serve("127.0.0.1:0", "keys", program=program)
        run("run", model(port, part="rocker"), "--end", END, "--quiet", "--no-report", "--out", name, env=env)
        if abs(last_value(name, "q.left.theta") - wanted) > max(tolerance, 1e-9):
            fail(f"the module in {name} moves otherwise: {last_value(name, 'q.left.theta')}, not {wanted}")
        run("run", "remote.toml", "--end", "0.2", "--integrator", "dopri45", "--quiet", "--no-report", "--out", name + "45", env=env)
        server.terminate()
        server.wait(10)
        print(f"the module in {name} was glued")


def namespaces():
    ip = lambda *a: subprocess.run(["ip", *a], capture_output=True, text=True).returncode == 0  # noqa: E731
    name, host = f"lw{os.getpid()}", "10.231.7.2"
    if not shutil.which("ip") or not ip("netns", "add", name):
        print("skipped: network namespaces are not permitted here")
        return
    try:
        inside = ("ip", "netns", "exec", name)
        good = ip("link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b") and ip("link", "set", f"{name}b", "netns", name)
        good = good and ip("addr", "add", "10.231.7.1/30", "dev", f"{name}a") and ip("link", "set", f"{name}a", "up")
        for command in (("addr", "add", f"{host}/30", "dev", f"{name}b"), ("link", "set", f"{name}b", "up")):
            good = good and ip("netns", "exec", name, "ip", *command)
        if not good:
            print("skipped: no link between network namespaces")
            return
        run("serve", "--make-keys", "netkeys", "--names", host)
        server, port = serve(RIGHT, *keys("netkeys"), "--listen", f"{host}:0", before=inside)
        run("run", model(port, host=host), "--end", END, "--quiet", "--no-report", "--out", "namespace", env=client_keys("netkeys"))
        same_bytes("namespace", "another network namespace")
        server.terminate()
        server.wait(10)
        print("another network namespace: same bytes")
    finally:
        ip("netns", "del", name)
        ip("link", "del", f"{name}a")


try:
    tests()
finally:
    for process in started:
        if process.poll() is None:
            process.kill()
