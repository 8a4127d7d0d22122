import type { Receiver } from "../load/receiver.ts";
import { publishNext, setStage } from "../load/stage.ts";
import type { Progress } from "../progress.ts";
import type { Memory } from "../results.ts";
import type { Service, ServiceOptions } from "../service.ts";
import type { Workspace } from "../workspace.ts";

const WEBHOOKS = 100;
const WAITING = 1_000_000;
const SAMPLE_MS = 100;
/** Longer than the service needs to notice that it is idle and release memory. */
const QUIET_MS = 6_000;

/**
 * The service's resident memory: idle, with a million small events waiting for 100 paused webhooks (right after
 * publishing them, and after a quiet period), and while they are delivered. Null if the system doesn't report it.
 */
export async function measureMemory(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	progress: Progress,
): Promise<Memory | null> {
	progress.start("memory with a million events waiting");
	const stage = await setStage(workspace, receiver, options, { webhooks: WEBHOOKS, fanout: 1 });
	const { service } = stage;
	const setAll = (status: "active" | "paused") =>
		service.api.setUp(WEBHOOKS, (index) => {
			const { projectId, id } = stage.webhooks[index]!;
			return service.api.setStatus(projectId, id, status);
		});
	try {
		const idle = service.residentMb();
		await setAll("paused");
		await publishNext(stage, WAITING / WEBHOOKS, true);
		const waiting = service.residentMb();
		await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
		const quiet = service.residentMb();
		await receiver.reset();
		await setAll("active");
		const draining = await highest(service, seconds);
		if ((await receiver.count()) === 0) throw new Error("Nothing was delivered while memory was measured.");
		if (idle === null || waiting === null || quiet === null || draining === null) {
			progress.finish("not known on this system");
			return null;
		}
		const memory = {
			idle: round(idle),
			million_waiting: round(waiting),
			million_waiting_quiet: round(quiet),
			draining: round(draining),
		};
		progress.finish(`${memory.idle} MB idle, ${memory.million_waiting} waiting, ${memory.draining} draining`);
		return memory;
	} finally {
		await service.stop();
	}
}

async function highest(service: Service, seconds: number): Promise<number | null> {
	const end = performance.now() + seconds * 1_000;
	let most = service.residentMb();
	while (most !== null && performance.now() < end) {
		await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
		if (!service.isRunning) throw service.failure("The service ended while it was measured.");
		most = Math.max(most, service.residentMb() ?? 0);
	}
	return most;
}

function round(megabytes: number): number {
	return Number(megabytes.toFixed(1));
}
