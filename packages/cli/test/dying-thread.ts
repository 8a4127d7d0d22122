/** Preloaded into a service: on SIGUSR2 its database threads with the role in `DYING_THREAD` end. */
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

if (threads.isMainThread) {
	const dying: threads.Worker[] = [];
	threads.Worker = class extends threads.Worker {
		constructor(...args: ConstructorParameters<typeof threads.Worker>) {
			super(...args);
			if (args[1]?.name === process.env.DYING_THREAD) dying.push(this);
		}
	};
	syncBuiltinESMExports();
	process.on("SIGUSR2", () => {
		for (const worker of dying) void worker.terminate();
	});
}
