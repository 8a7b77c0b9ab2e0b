"""A corpus to label, its desk, and ``bvdt label`` as a process of its own."""

from __future__ import annotations

import csv
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bvdt.documents.features import learn_features
from bvdt.documents.files import read_documents
from bvdt.documents.settings import WalkSettings, build_walk, propagation
from bvdt.labeling import Corpus, LabelingSession, Store

TOPICS = {
    "sport": "match goal team league player season coach stadium referee tournament cup win",
    "money": "bank market price profit shares trade tax rate budget invest loan growth",
    "garden": "soil plant seed flower tree water leaf root bloom prune lawn compost",
}
COMMON = ("the", "a", "of", "and", "to", "in", "it", "was", "on", "for", "with", "as", "this", "that", "from")


def write_corpus(path: Path, n: int = 240, seed: int = 0) -> dict[str, str]:
    """Texts of three topics with some words of the others; the true topic of each id."""
    rng = np.random.default_rng(seed)
    names, truth = list(TOPICS), {}
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text"])
        for row in range(n):
            topic = names[rng.integers(len(names))]
            own, other = TOPICS[topic].split(), TOPICS[names[rng.integers(3)]].split()
            words = [*rng.choice(own, 6), *rng.choice(other, 2), *rng.choice(COMMON, 12)]
            rng.shuffle(words)
            truth[f"doc-{row}"] = topic
            table.writerow([f"doc-{row}", " ".join(words)])
    return truth


def make_desk(path: Path, session: Path) -> LabelingSession:
    documents = read_documents(path, text="text")
    settings = WalkSettings()
    features, X = learn_features(documents)
    operator = build_walk(X, settings.parameters(features))
    model = propagation(features, settings)
    return LabelingSession(Corpus(documents, features, X, operator), Store(session), model, alpha=model.alpha)


IMPATIENT = """
from bvdt.labeling import guard, serving
guard.SECONDS = serving.SECONDS = {}
import bvdt.__main__
"""


class Process:
    """``bvdt label`` in its own process; ``address`` once it listens.

    With ``patience`` a request has so many seconds to arrive.
    """

    def __init__(
        self,
        folder: Path,
        *options: str,
        documents: str = "docs.csv",
        browser: str | None = None,
        patience: float | None = None,
    ) -> None:
        command = [
            sys.executable,
            *(["-m", "bvdt"] if patience is None else ["-c", IMPATIENT.format(patience)]),
            "label",
            documents,
            "--text",
            "text",
            *(["--no-browser"] if browser is None else []),
            *options,
        ]
        self._process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "2", "PYTHONUNBUFFERED": "1", "BROWSER": browser or ""},
        )  # fmt: skip
        self.said: list[str] = []
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said.append(line)
            if line.startswith("Label at "):
                self.address = line.split()[-1]
                break
        else:
            raise RuntimeError(f"bvdt label ended: {''.join(self.said)}")
        host, self.token = self.address.removeprefix("http://").split("/#")
        self.host, self.port = host, int(host.rsplit(":", 1)[1])

    def strike(self) -> None:
        """kill -9, now."""
        self._process.kill()

    def kill(self) -> None:
        """kill -9, and wait for the end."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def stop(self) -> int:
        """Ctrl-C, and the exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(40)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        return self._process.returncode

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self, method: str, path: str, body: Any = None, timeout: float = 60, **headers: str
    ) -> tuple[int, bytes]:
        """Status and body, as a client of our own would have it; headers replace the right ones, "" omits."""
        sent = {"Host": self.host, "X-Bvdt-Token": self.token}
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.putrequest(method, path, skip_host=True)
            content = json.dumps(body).encode() if body is not None else b""
            for name, value in ({"Content-Length": str(len(content))} | sent).items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        status, body = self.ask("GET", path)
        assert status == 200, body
        return json.loads(body)

    def decide(self, row: int, label: str, request: str, **more: Any) -> tuple[int, bytes]:
        return self.ask(
            "POST", "/api/decide", {"request": request, "rows": [row], "kind": "label", "label": label} | more
        )


def until(true: Any, seconds: float = 60.0) -> None:
    """Wait for it."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} s")
        time.sleep(0.05)
