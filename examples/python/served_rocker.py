"""A module in Python for runs of Linkwork on other hosts: the right chain of a four-bar, a rod on a pivot.

    served_rocker.py HOST:PORT KEYS     (KEYS: a folder of 'linkwork serve --make-keys')

    I phidd = -m g (l/2) cos phi + J' Q,  I = m l^2 / 3;  the tip moves with J phid and accelerates with J phidd + Jdot phid,
    hence xdd = D Q + R with D = J J' / I and R = J phidd_free + Jdot phid.

Needs python3-grpcio, python3-protobuf, python3-numpy, and protoc (protobuf-compiler) for linkwork.proto.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import numpy as np

here = Path(__file__).resolve().parent
proto = here.parents[1] / "linkwork/modules/remote"  # where linkwork.proto is; share/linkwork once installed
generated = tempfile.TemporaryDirectory()
subprocess.run(["protoc", f"-I{proto}", f"--python_out={generated.name}", "linkwork.proto"], check=True)
sys.path.insert(0, generated.name)
import linkwork_pb2 as lw  # noqa: E402


class Rocker:
    pivot, length, mass, angle = 3.0, 2.5, 1.0, 1.2648595635335869607

    def __init__(self, request):
        if list(request.ports) != ["tip"]:
            raise ValueError("the only port is 'tip'")
        self.gravity = -request.gravity[1] if request.gravity else 9.81
        self.inertia = self.mass * self.length**2 / 3
        self.slots = {0: np.array([self.angle, 0.0, 0.0])}  # angle, speed, work
        self.x = self.slots[0]

    def state(self, message):
        return sum(w * self.slots[s] for s, w in zip(message.slots, message.weights))

    def evaluate(self, ask):
        self.x = self.state(ask.state)
        phi, speed, _ = self.x
        c, s, l = np.cos(phi), np.sin(phi), self.length
        self.J = np.array([0, 0, 1, -l * s, l * c, 0])
        self.free = -self.mass * self.gravity * l / 2 * c / self.inertia
        R = self.J * self.free + np.array([0, 0, 0, -l * c, -l * s, 0]) * speed**2
        if ask.level != lw.ACCELERATION:  # there are no constraints that a position could violate
            R = np.zeros(6)
        motion = [c, s, 0, -s, c, 0, 0, 0, 1, self.pivot + l * c, l * s, 0, *(self.J * speed)]
        D = np.outer(self.J, self.J) / self.inertia
        return lw.Evaluation(motion=motion, D=D.ravel(), R=R, scale=[1 / self.inertia] * 3 + [l**2 / self.inertia] * 3,
                             speed=abs(speed), dof=1)

    def advance(self, ask):
        torque = self.J @ np.array(ask.forces)
        x = self.x.copy()
        if ask.level == lw.ACCELERATION:
            x = np.array([x[1], self.free + torque / self.inertia, torque * x[1]])
        else:
            x[0 if ask.level == lw.POSITION else 1] -= torque / self.inertia
        self.slots[ask.slot] = x

    def record(self, ask):
        phi, speed, work = self.x
        acceleration = self.free + self.J @ np.array(ask.forces) / self.inertia
        return lw.Recording(row=[phi, speed, acceleration], kinetic=self.inertia * speed**2 / 2,
                            potential=self.mass * self.gravity * self.length / 2 * np.sin(phi), work=work)

    def weigh(self, ask):
        start, to, error = (self.state(x)[:2] for x in (getattr(ask, "from"), ask.to, ask.error))
        weight = ask.atol + ask.rtol * np.maximum(abs(start), abs(to))
        return lw.Weighed(sum=float(np.sum((error / weight) ** 2)), count=2)

    def restore(self, ask):
        for slot, x in zip(ask.slots, np.frombuffer(ask.saved).reshape(-1, 3)):
            self.slots[slot] = x

    def act(self, action):
        kind = action.WhichOneof("what")
        ask = getattr(action, kind)
        if kind == "evaluate":
            return lw.Result(evaluation=self.evaluate(ask))
        if kind == "record":
            return lw.Result(recording=self.record(ask))
        if kind == "weigh":
            return lw.Result(weighed=self.weigh(ask))
        if kind == "save":  # who keeps the state a secret would encrypt it
            return lw.Result(saved=np.concatenate([self.slots[s] for s in ask.slots]).tobytes())
        if kind == "keep":
            self.slots[ask.slot] = self.x
        elif kind in ("advance", "restore"):
            getattr(self, kind)(ask)
        return None


def converse(requests, context):
    modules = {}
    for request in requests:
        reply, kind = lw.Reply(number=request.number), request.WhichOneof("what")
        try:
            if kind == "hello":
                reply.welcome.CopyFrom(lw.Welcome(version=1, program="served_rocker.py", parts=["rocker"]))
            elif kind == "open":
                modules[len(modules) + 1] = Rocker(request.open)
                reply.opened.CopyFrom(lw.Opened(module=len(modules), columns=["q.phi", "v.phi", "a.phi"], length=2.5, mass=1.0))
            elif kind == "ask":
                for call in request.ask.calls:
                    results = [modules[call.module].act(action) for action in call.actions]
                    reply.answer.modules.add(module=call.module, results=[x for x in results if x is not None])
        except (ValueError, KeyError) as error:
            reply.refusal = str(error)
        yield reply


def main(address, keys):
    method = grpc.stream_stream_rpc_method_handler(converse, lw.Request.FromString, lw.Reply.SerializeToString)
    server = grpc.server(ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("linkwork.Modules", {"Converse": method}),))
    read = lambda name: (Path(keys) / name).read_bytes()  # noqa: E731
    credentials = grpc.ssl_server_credentials([(read("server.key"), read("server.pem"))], read("ca.pem"), True)
    host = address.rsplit(":", 1)[0]
    port = server.add_secure_port(address, credentials)
    server.start()
    print(f"serving linkwork://{host}:{port}/rocker", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
