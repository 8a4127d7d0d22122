/**
 * A fast receiver as a separate program, for `child_process.fork`, so that it shares no event loop with the sender.
 *
 * It gets its certificate and key from `RECEIVER_CERT` and `RECEIVER_KEY` (PEM), and `RECEIVER_VERIFY_EVERY`; it sends
 * `{port}` once it listens, then replies to each `FastReceiverCommand` with a `FastReceiverReply` of the same `id`. It
 * ends after `close`, or when its parent ends.
 */

import { startFastReceiver } from "./fast-receiver.ts";
import type { FastReceiverCommand, FastReceiverReply } from "./fast-receiver-fork.ts";

const {
	RECEIVER_CERT: cert = "",
	RECEIVER_KEY: key = "",
	RECEIVER_PORT: port = "0",
	RECEIVER_VERIFY_EVERY: verifyEvery = "0",
} = process.env;
const receiver = await startFastReceiver({ cert, key, port: Number(port), verifyEvery: Number(verifyEvery) });

process.on("disconnect", () => process.exit());
process.on("message", (command: FastReceiverCommand) => {
	const reply = obey(command);
	process.send?.({ ...reply, ...(command.id !== undefined && { id: command.id }) }, () => {
		if (command.cmd === "close") process.exit();
	});
});
process.send?.({ port: receiver.port } satisfies FastReceiverReply);

function obey(command: FastReceiverCommand): FastReceiverReply {
	switch (command.cmd) {
		case "count":
			return { count: receiver.count };
		case "stats": {
			const { user, system } = process.cpuUsage();
			const { latencies, ...stats } = receiver.stats();
			return { ...stats, latencies: Array.from(latencies), cpu_us: user + system };
		}
		case "reset":
			receiver.reset();
			return {};
		case "secret":
			receiver.setSecret(command.path, command.secret);
			return {};
		case "close":
			return {};
	}
}
