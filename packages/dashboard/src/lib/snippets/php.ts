import { TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";
import { SECRET_VARIABLE, type SnippetParts } from "./parts.ts";

/** The key under which PHP keeps a request header in `$_SERVER`. */
const serverKey = (header: string) => `HTTP_${header.toUpperCase().replaceAll("-", "_")}`;

/** A receiver for PHP 8 as one script. */
export const phpSnippet = ({ headers }: SnippetParts) => `<?php

$secret = (string) getenv("${SECRET_VARIABLE}");
if ($secret === "") {
    http_response_code(500);
    exit("Set ${SECRET_VARIABLE} to the webhook's signing secret.");
}

/** 200 for a genuine request, otherwise the status to refuse it with. */
function verify(string $secret, string $body, string $timestamp, string $signature): int
{
    if (!preg_match('/^[0-9]{1,12}$/D', $timestamp) || abs(time() - (int) $timestamp) > ${TIMESTAMP_TOLERANCE_S}) {
        return 400;
    }
    $expected = hash_hmac("sha256", "$timestamp.$body", $secret);
    return hash_equals($expected, $signature) ? 200 : 401;
}

http_response_code(500); // If the rest fails, the event will come again.
$body = file_get_contents("php://input");
$timestamp = $_SERVER["${serverKey(headers.timestamp)}"] ?? "";
$signature = $_SERVER["${serverKey(headers.signature)}"] ?? "";
$status = verify($secret, $body, $timestamp, $signature);
if ($status === 200) {
    $event = json_decode($body, flags: JSON_THROW_ON_ERROR);
    // Handle the event, or store it for later. The same event may come again: skip an $event->id that you have already
    // handled.
    error_log("$event->type $event->id");
}
http_response_code($status); // Last: a 2xx ends the retries.
`;
