/**
 * A fast receiver in a process of its own. `fast-receiver-fork.ts` starts it with `child_process.fork` and speaks to it
 * in `FastReceiverCommand`s, one answered before the next is sent.
 */

import { type FastReceiver, type FastReceiverOptions, startFastReceiver } from "./fast-receiver.ts";
import type { FastReceiverCommand, FastReceiverReply } from "./fast-receiver-fork.ts";

let receiver: FastReceiver | undefined;

process.on("message", (command: FastReceiverCommand) => {
	obey(command).then(reply, (error: unknown) => reply({ ok: false, error: String(error) }));
});
process.on("disconnect", () => process.exit());

async function obey(command: FastReceiverCommand): Promise<FastReceiverReply> {
	if (command.cmd === "start") {
		receiver = await startFastReceiver(command.options satisfies FastReceiverOptions);
		return { ok: true, port: receiver.port };
	}
	if (receiver === undefined) throw new Error(`The receiver must be started before "${command.cmd}".`);
	switch (command.cmd) {
		case "stats":
			return { ok: true, stats: { ...receiver.stats(), cpuUs: cpuUs() } };
		case "reset":
			receiver.reset();
			return { ok: true };
		case "secret":
			receiver.setSecret(command.path, command.secret);
			return { ok: true };
		case "close":
			await receiver.close();
			return { ok: true };
	}
}

function reply(message: FastReceiverReply): void {
	process.send?.(message);
}

function cpuUs(): number {
	const { user, system } = process.cpuUsage();
	return user + system;
}
