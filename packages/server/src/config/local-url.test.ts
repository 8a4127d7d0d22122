import { expect, test } from "vitest";
import { localUrl } from "./index.ts";

test.each([
	["127.0.0.1", "http://127.0.0.1:80"],
	["0.0.0.0", "http://127.0.0.1:80"],
	["::", "http://[::1]:80"],
	["2001:db8::7", "http://[2001:db8::7]:80"],
	["posthorn.internal", "http://posthorn.internal:80"],
])("a service that listens on %s is reached at %s", (host, url) => {
	expect(localUrl({ host, port: 80 })).toBe(url);
});
