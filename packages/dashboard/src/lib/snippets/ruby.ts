import { TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";
import { SECRET_VARIABLE, type SnippetParts } from "./parts.ts";

/** The key under which Rack keeps a request header. */
const rackKey = (header: string) => `HTTP_${header.toUpperCase().replaceAll("-", "_")}`;

/** A receiver for Ruby as a Rack application. */
export const rubySnippet = ({ headers }: SnippetParts) => `require "json"
require "openssl"

SECRET = ENV.fetch("${SECRET_VARIABLE}", "")
abort "Set ${SECRET_VARIABLE} to the webhook's signing secret." if SECRET.empty?

# 200 for a genuine request, otherwise the status to refuse it with.
def verify(body, timestamp, signature)
  return 400 unless timestamp.match?(/\\A[0-9]{1,12}\\z/) && (Time.now.to_i - timestamp.to_i).abs <= ${TIMESTAMP_TOLERANCE_S}

  expected = OpenSSL::HMAC.hexdigest("SHA256", SECRET, "#{timestamp}.".b + body)
  OpenSSL.secure_compare(expected, signature) ? 200 : 401
end

run(lambda do |env|
  body = env["rack.input"]&.read.to_s.b
  status = verify(body, env["${rackKey(headers.timestamp)}"].to_s, env["${rackKey(headers.signature)}"].to_s)
  if status == 200
    event = JSON.parse(body)
    # Handle the event, or store it for later: a 2xx ends the retries, and an exception becomes a 500. The same event may
    # come again: skip an event["id"] that you have already handled.
    warn "#{event["type"]} #{event["id"]}"
  end
  [status, {}, []]
end)
`;
