"""A Trino for tests run by hand: its server on loopback, statements by its client protocol, and rows in the canonical form of rows.py.

FIRN_TRINO names a folder that holds the server's tarball unpacked as `server` (lib, plugin/iceberg), FIRN_TRINO_JAVA a Java of version 24 or
later where the one found under /usr/lib/jvm is not it. Trino gets one catalog, `lake`: Iceberg, tables in files below ROOT."""
import base64
import datetime
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

PORT = int(os.environ.get("FIRN_TRINO_PORT", "18080"))
URL = f"http://127.0.0.1:{PORT}"

CONFIG = f"""coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port={PORT}
discovery.uri={URL}
query.max-memory=400MB
query.max-memory-per-node=400MB
memory.heap-headroom-per-node=200MB
task.concurrency=2
task.max-worker-threads=4
"""
CATALOG = """connector.name=iceberg
iceberg.catalog.type=TESTING_FILE_METASTORE
hive.metastore.catalog.dir={metastore}
iceberg.add-files-procedure.enabled=true
iceberg.register-table-procedure.enabled=true
{storage}
"""
FLAGS = ["-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=256M", "-Djdk.attach.allowAttachSelf=true",
         "--add-modules=jdk.incubator.vector", "--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED",
         "-Dnode.environment=firn", "-Dnode.id=firn", "-Dnode.internal-address=127.0.0.1", "-Dnode.bind-ip=127.0.0.1"]


class Refused(Exception):
    """Trino's own error for a statement."""


def java():
    """The Java to run it with."""
    if os.environ.get("FIRN_TRINO_JAVA"):
        return os.environ["FIRN_TRINO_JAVA"]
    for home in sorted(glob.glob("/usr/lib/jvm/*")):
        try:
            with open(os.path.join(home, "release"), encoding="utf-8") as file:
                found = re.search(r'^JAVA_VERSION="(\d+)', file.read(), re.MULTILINE)
        except OSError:
            continue
        if found and int(found.group(1)) >= 24:
            return os.path.join(home, "bin", "java")
    sys.exit("skipped: no Java of version 24 or later; FIRN_TRINO_JAVA names one")


def ask(request):
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def run(statement):
    """Rows of a statement."""
    answer = ask(urllib.request.Request(URL + "/v1/statement", data=statement.encode(), headers={
        "X-Trino-User": "firn", "X-Trino-Catalog": "lake", "X-Trino-Schema": "cases", "X-Trino-Time-Zone": "UTC",
        "X-Trino-Client-Capabilities": "PARAMETRIC_DATETIME"}))
    rows = []
    while True:
        if "error" in answer:
            raise Refused(answer["error"]["message"][:500])
        rows += answer.get("data", [])
        if "nextUri" not in answer:
            return rows
        time.sleep(0.02)
        answer = ask(answer["nextUri"])


class Server:
    """Runs while a `with` lasts. `storage`: lines of the catalog that say how files are reached, `metastore`: where it keeps its own."""

    def __init__(self, storage, metastore):
        home = os.environ.get("FIRN_TRINO")
        if not home or not os.path.isdir(os.path.join(home, "server", "plugin", "iceberg")):
            sys.exit("skipped: FIRN_TRINO names no folder with a Trino in it")
        self.server, self.storage, self.metastore = os.path.join(os.path.abspath(home), "server"), storage, metastore
        self.folder, self.process = tempfile.mkdtemp(prefix="firn-trino-"), None

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def __enter__(self):
        config = self.write("etc/config.properties", CONFIG)
        self.write("etc/catalog/lake.properties", CATALOG.format(storage=self.storage, metastore=self.metastore))
        levels = self.write("etc/log.properties", "io.trino=WARN\nio.airlift=WARN\nBootstrap=WARN\n")
        with open(os.path.join(self.folder, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [java(), *FLAGS, f"-Dnode.data-dir={self.folder}/data", f"-Dlog.levels-file={levels}", f"-Dconfig={config}",
                 f"-Dcatalog.config-dir={self.folder}/etc/catalog", f"-Dplugin.dir={self.server}/plugin", "-cp", f"{self.server}/lib/*",
                 "io.trino.server.TrinoServer"], stdout=log, stderr=log, cwd=self.folder)
        try:
            self.wait()
            run("CREATE SCHEMA IF NOT EXISTS cases")
        except BaseException:
            self.__exit__()
            raise
        print("Trino", run("SELECT version()")[0][0])
        return self

    def wait(self):
        for _ in range(3000):
            if self.process.poll() is not None:
                break
            try:
                if not ask(URL + "/v1/info")["starting"]:
                    return
            except OSError:
                pass
            time.sleep(0.2)
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
            sys.exit("Trino did not start:\n" + log.read()[-3000:])

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)


# --- rows ------------------------------------------------------------------------------------------

MOMENT = re.compile(r"([+-]?\d+)-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)\.(\d{6}))?(?: UTC)?$")


def days_of(year, month, day):
    """Since 1970-01-01, for any year of the proleptic Gregorian calendar."""
    eras, year_of_era = divmod(year, 400)
    return datetime.date(year_of_era + 400, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal() + (eras - 1) * 146097


def of_moment(text):
    """Days of a date, microseconds of a timestamp."""
    found = MOMENT.match(text)
    if not found:
        raise ValueError(f"not a date or a time: {text}")
    days = days_of(*map(int, found.groups()[:3]))
    if found.group(4) is None:
        return days
    hour, minute, second, micros = map(int, found.groups()[3:])
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 10**6 + micros


def of_text(kind, text):
    """A map's key, which comes as text."""
    if kind in ("int", "long"):
        return int(text)
    return text == "true" if kind == "boolean" else of_answer(kind, text)


def of_answer(kind, value):
    """What rows.py takes for an Iceberg type, of what the client protocol gives."""
    if value is None:
        return None
    if isinstance(kind, dict):
        if kind["type"] == "struct":
            return [of_answer(field["type"], v) for field, v in zip(kind["fields"], value, strict=True)]
        if kind["type"] == "list":
            return [of_answer(kind["element"], v) for v in value]
        return [(of_text(kind["key"], k), of_answer(kind["value"], v)) for k, v in value.items()]
    if kind == "float":
        return struct.unpack("<f", struct.pack("<f", float(value)))[0]
    if kind == "double":
        return float(value)
    if kind == "time":
        return datetime.time.fromisoformat(value)
    if kind in ("date", "timestamp", "timestamptz"):
        return of_moment(value)
    if kind == "binary" or kind.startswith("fixed"):
        return base64.b64decode(value)
    return value
