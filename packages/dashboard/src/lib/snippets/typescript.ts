import { TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";
import { SECRET_VARIABLE, type SnippetParts } from "./parts.ts";

/** A receiver for Node.js without dependencies. */
export const typescriptSnippet = ({
	headers,
}: SnippetParts) => `import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.${SECRET_VARIABLE} ?? "";
if (secret === "") throw new Error("Set ${SECRET_VARIABLE} to the webhook's signing secret.");

/** 200 for a genuine request, otherwise the status to refuse it with. */
function verify(body: Buffer, timestamp: string, signature: string): 200 | 400 | 401 {
	const age = Math.floor(Date.now() / 1000) - Number(timestamp);
	if (!/^\\d{1,12}$/.test(timestamp) || Math.abs(age) > ${TIMESTAMP_TOLERANCE_S}) return 400;
	const expected = Buffer.from(createHmac("sha256", secret).update(\`\${timestamp}.\`).update(body).digest("hex"));
	const given = Buffer.from(signature);
	return given.length === expected.length && timingSafeEqual(given, expected) ? 200 : 401;
}

/** Handles an event, or stores it for later. The same event may come again: skip an id that you have already handled. */
async function handle(event: { id: string; type: string }): Promise<void> {
	console.log(event.type, event.id);
}

const server = createServer(async (request, response) => {
	let status: number;
	try {
		const body = Buffer.concat(await request.toArray());
		const timestamp = String(request.headers["${headers.timestamp.toLowerCase()}"]);
		const signature = String(request.headers["${headers.signature.toLowerCase()}"]);
		status = verify(body, timestamp, signature);
		if (status === 200) await handle(JSON.parse(body.toString())); // First: a 2xx ends the retries.
	} catch (error) {
		console.error(error);
		status = 500; // The event will come again.
	}
	response.writeHead(status).end();
});

const port = Number(process.env.PORT ?? 3000);
server.listen(port, () => console.log(\`Listening on port \${port}\`));
`;
