import { TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";
import { SECRET_VARIABLE, type SnippetParts } from "./parts.ts";

/** A receiver in Python 3.9 or later that only uses the standard library. */
export const pythonSnippet = ({ headers }: SnippetParts) => `import hashlib, hmac, json, os, re, sys, time, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("${SECRET_VARIABLE}", "").encode()
if not SECRET:
    sys.exit("Set ${SECRET_VARIABLE} to the webhook's signing secret.")


def verify(body: bytes, timestamp: str, signature: str) -> int:
    """200 for a genuine request, otherwise the status to refuse it with."""
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(int(time.time()) - int(timestamp)) > ${TIMESTAMP_TOLERANCE_S}:
        return 400
    expected = hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return 200 if hmac.compare_digest(expected.encode(), signature.encode()) else 401


def handle(event: dict) -> None:
    """Handles an event, or stores it for later. The same event may come again: skip an id that you have already handled."""
    print(event["type"], event["id"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        timestamp = self.headers.get("${headers.timestamp}", "")
        signature = self.headers.get("${headers.signature}", "")
        status = verify(body, timestamp, signature)
        try:
            if status == 200:
                handle(json.loads(body))  # First: a 2xx ends the retries.
        except Exception:
            traceback.print_exc()
            status = 500  # The event will come again.
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


port = int(os.environ.get("PORT", 3000))
server = ThreadingHTTPServer(("", port), Receiver)
print("Listening on port", port)
server.serve_forever()
`;
