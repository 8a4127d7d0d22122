/** A receiver in a process of its own, which can die between the start and the end of its handler. */
import { appendFileSync } from "node:fs";
import { createServer } from "node:https";
import { DatabaseSync } from "node:sqlite";
import { nodeHandler } from "../packages/webhooks/src/adapters/node.ts";
import { createInbox, createReceiver, type WebhookEvent } from "../packages/webhooks/src/index.ts";
import { sqliteStore } from "../packages/webhooks/src/stores/sqlite.ts";

export interface MortalOptions {
	readonly kind: "receiver" | "inbox";
	readonly key: string;
	readonly cert: string;
	readonly port: number;
	readonly secret: string;
	readonly database: string;
	/** Gets a line for each start of the handler. */
	readonly log: string;
	readonly dies?: boolean;
}

const { kind, key, cert, port, secret, database, log, dies } = JSON.parse(process.argv[2]!) as MortalOptions;
const options = {
	secret,
	store: sqliteStore(new DatabaseSync(database)),
	lease: 0.5,
	on: {
		"purchase.completed": ({ id }: WebhookEvent) => {
			appendFileSync(log, `${id}\n`);
			if (dies) process.kill(process.pid, "SIGKILL");
			process.send!(id);
		},
	},
};

function open() {
	if (kind === "receiver") return createReceiver(options);
	const inbox = createInbox({ ...options, poll: 0.05 });
	inbox.start();
	return inbox;
}

createServer({ key, cert }, nodeHandler(open())).listen(port, "127.0.0.1", () => process.send!("ready"));
