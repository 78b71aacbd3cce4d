"""A server of the script's own, which ends with it, and downloads from it."""

import http.client
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Self

START_SECONDS = 60
STOP_SECONDS = 40
# Without news from the server, not for a whole download.
QUIET_SECONDS = 600

# Whatever the environment says of proxies: the server is on this machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class NotStarted(Exception):
    """There is no server to ask."""


class DownloadFailed(Exception):
    """The server refused a download, or did not complete it."""


class Server:
    """`tallyroll serve` over a SQLite file, for use in `with`."""

    def __init__(self, binary: Path, database: Path, definitions: Path, place: Path) -> None:
        place.mkdir()
        self._place = place
        self._said = place / "stdout"
        self._log = place / "stderr"
        self._process: subprocess.Popen[bytes] | None = None
        settings = {
            "--database-url": f"sqlite://{database}",
            "--definitions": str(definitions),
            "--data-dir": str(place / "data"),
            "--listen": "127.0.0.1:0",
            "--auth": "off",
        }
        self._command = [
            str(binary),
            "serve",
            *(word for pair in settings.items() for word in pair),
        ]
        self._url = ""

    def __enter__(self) -> Self:
        try:
            self._process = self._start()
            self._url = self._address(self._process)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _start(self) -> subprocess.Popen[bytes]:
        # Neither a configuration file nor a variable of whoever runs this is to be heard.
        ours = ("TALLYROLL_", "DATABASE_URL")
        heard = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        with self._said.open("wb") as said, self._log.open("wb") as log:
            try:
                return subprocess.Popen(
                    self._command,
                    cwd=self._place,
                    env=heard,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=log,
                )
            except OSError as error:
                raise NotStarted(f"{self._command[0]} cannot be run: {error}") from error

    def _address(self, process: subprocess.Popen[bytes]) -> str:
        """What the first line on stdout says, once it is there."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            first, end, _ = self._said.read_text().partition("\n")
            if end and first.startswith("listening on "):
                return first.removeprefix("listening on ")
            if process.poll() is not None:
                raise NotStarted(f"the server ended with {process.returncode}: {self._logged()}")
            time.sleep(0.05)
        raise NotStarted(f"the server did not listen within {START_SECONDS} s: {self._logged()}")

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _logged(self) -> str:
        """The end of what the server wrote on stderr."""
        return self._log.read_text(errors="replace")[-2_000:].strip()

    def download(self, path: str, to: Path) -> None:
        """Fetches a file whole, or raises."""
        try:
            with (
                _OPENER.open(self._url + path, timeout=QUIET_SECONDS) as answer,
                to.open("wb") as file,
            ):
                shutil.copyfileobj(answer, file, 1 << 20)
                announced = answer.headers.get("Content-Length")
        except urllib.error.HTTPError as error:
            words = error.read().decode(errors="replace")
            raise DownloadFailed(f"{path} was answered {error.code}: {words}") from error
        except (OSError, http.client.HTTPException) as error:
            raise DownloadFailed(
                f"{path} broke off: {error}; the log says: {self._logged()}"
            ) from error
        received = to.stat().st_size
        # A prepared file, the default for xlsx, has its length announced.
        if announced is None or int(announced) != received:
            raise DownloadFailed(f"{path}: {received} bytes came, Content-Length is {announced}")
