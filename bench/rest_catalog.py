"""A REST catalog on loopback with one table, bench.NAME, for peers that know no other kind: serve(metadata file) as a context."""
import contextlib
import http.server
import json
import os
import threading
import uuid

from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import CommitTableRequest
from pyiceberg.table.update import update_table_metadata


class Table:
    def __init__(self, name, metadata_location):
        self.name, self.location = name, metadata_location
        self.lock = threading.Lock()
        self.io = PyArrowFileIO()

    def metadata(self):
        return FromInputFile.table_metadata(self.io.new_input(self.location))

    def answer(self):
        with open(self.location, encoding="utf-8") as file:
            return {"metadata-location": self.location, "metadata": json.load(file), "config": {}}

    def commit(self, body):
        body.setdefault("identifier", {"namespace": ["bench"], "name": self.name})
        request = CommitTableRequest.model_validate(body)
        with self.lock:
            base = self.metadata()
            for requirement in request.requirements:
                requirement.validate(base)
            new = update_table_metadata(base, request.updates, metadata_location=self.location)
            folder = os.path.dirname(self.location)
            self.location = os.path.join(folder, f"{len(os.listdir(folder)):05d}-{uuid.uuid4()}.metadata.json")
            ToOutputFile.table_metadata(new, self.io.new_output(self.location))
            return self.answer()


class Handler(http.server.BaseHTTPRequestHandler):
    table = None

    def log_message(self, *_):
        pass

    def reply(self, document, code=200):
        body = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path.endswith("/config"):
            self.reply({"defaults": {}, "overrides": {}})
        elif path.endswith("/tables/" + self.table.name):
            self.reply(self.table.answer())
        elif path.endswith("/namespaces/bench"):
            self.reply({"namespace": ["bench"], "properties": {}})
        elif path.endswith("/tables"):
            self.reply({"identifiers": [{"namespace": ["bench"], "name": self.table.name}]})
        else:
            self.reply({"error": {"message": path, "type": "NoSuchTableException", "code": 404}}, 404)

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self.reply(self.table.commit(body))
        except Exception as problem:  # pylint: disable=broad-except
            self.reply({"error": {"message": repr(problem), "type": "CommitFailedException", "code": 409}}, 409)


@contextlib.contextmanager
def serve(name, metadata_location):
    """Gives (uri, table); table.location is the current metadata file."""
    table = Table(name, metadata_location)
    handler = type("Bound", (Handler,), {"table": table})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", table
    finally:
        server.shutdown()
        server.server_close()
