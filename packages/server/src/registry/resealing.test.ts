import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { Seal } from "../base/seal.ts";
import { type Storage, StorageError } from "../storage/port.ts";
import { startResealing } from "./resealing.ts";
import { openSealedWebhooks } from "./sealed-webhooks.fixture.ts";

const [NEW, OLD, LOST] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
/** Over a page. */
const MANY = 205;

let webhooks: Awaited<ReturnType<typeof openSealedWebhooks>>;
beforeEach(async () => {
	webhooks = await openSealedWebhooks();
});
afterEach(() => webhooks.close());

/** How many of the project's secrets a key opens. */
async function opens(key: Buffer): Promise<number> {
	const { storage, projectId } = webhooks;
	const secrets = await storage.listSecrets({ projectId, limit: 1_000 });
	return secrets.filter(({ id, sealedDigest }) => {
		try {
			return new Seal([key]).open(sealedDigest, id);
		} catch {
			return false;
		}
	}).length;
}

function start(verbs: Partial<Storage> = {}) {
	const { storage } = webhooks;
	const clock = new VirtualClock();
	const lines: unknown[][] = [];
	let onLine = () => {};
	const line =
		(level: string) =>
		(...args: unknown[]) => {
			lines.push([level, ...args]);
			onLine();
		};
	const onSealed = vi.fn(async () => undefined);
	const resealing = startResealing({
		...{ clock, onSealed, seal: new Seal([NEW, OLD]) },
		storage: {
			listProjects: (p) => storage.listProjects(p),
			listSecrets: (p) => storage.listSecrets(p),
			resealSecret: (p) => storage.resealSecret(p),
			...verbs,
		},
		logger: { info: line("info"), warn: line("warn"), error: line("error") } as never,
	});
	/** Resolves with the line that the current pass logs, once the next one is planned. */
	const logged = async () => {
		if (lines.length === 0) await new Promise<void>((resolve) => (onLine = resolve));
		await new Promise((resolve) => setImmediate(resolve));
		return lines.shift();
	};
	return { clock, resealing, onSealed, logged };
}

test("all secrets are sealed with the first key, and again ten minutes later those of another node", async () => {
	for (let n = 0; n < MANY; n++) await webhooks.create([n % 2 === 0 ? OLD : NEW]);
	const { clock, resealing, onSealed, logged } = start();
	expect(await logged()).toEqual(["info", { sealed: 103 }, expect.stringContaining("all secrets are sealed")]);
	expect(onSealed).toHaveBeenCalledOnce();
	expect(await opens(NEW)).toBe(MANY);
	await webhooks.create([OLD]);
	clock.advanceTo(clock.nextAt!);
	expect(await logged()).toMatchObject(["info", { sealed: 1 }, expect.any(String)]);
	expect(await opens(NEW)).toBe(MANY + 1);
	await resealing.stop();
});

// The next pass came ten minutes later, and the operator had to keep the old key until then.
test("a pass that storage interrupts is repeated after seconds, and less often if it fails again", async () => {
	await webhooks.create([OLD]);
	const resealSecret = vi.fn((p) => webhooks.storage.resealSecret(p));
	const FAILURES = 8;
	for (let n = 0; n < FAILURES; n++)
		resealSecret.mockRejectedValueOnce(new StorageError("lost", "The connection is gone."));
	const { clock, resealing, onSealed, logged } = start({ resealSecret });
	const waits: number[] = [];
	const nextPass = () => {
		waits.push(clock.nextAt! - clock.now());
		clock.advanceTo(clock.nextAt!);
	};
	for (let n = 0; n < FAILURES; n++) {
		expect(await logged()).toMatchObject(["warn", { err: { code: "lost" } }, expect.any(String)]);
		nextPass();
	}
	expect(onSealed).not.toHaveBeenCalled();
	expect(await logged()).toMatchObject(["info", { sealed: 1 }, expect.any(String)]);
	expect(onSealed).toHaveBeenCalledOnce();
	nextPass();
	expect(waits.map((ms) => ms / 1_000)).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
	await resealing.stop();
});

test("a secret that no key opens is reported, others are sealed, and the old key stays needed", async () => {
	for (const key of [OLD, LOST, OLD]) await webhooks.create([key]);
	const { resealing, onSealed, logged } = start();
	expect(await logged()).toMatchObject(["error", { webhooks: { count: 1 } }, expect.any(String)]);
	expect(onSealed).not.toHaveBeenCalled();
	expect(await opens(NEW)).toBe(2);
	await resealing.stop();
});

test("it stops in the middle of a pass", async () => {
	for (let n = 0; n < 3; n++) await webhooks.create([OLD]);
	const stopped = Promise.withResolvers<Promise<void>>();
	const { resealing, onSealed } = start({
		async resealSecret(p) {
			stopped.resolve(resealing.stop());
			return webhooks.storage.resealSecret(p);
		},
	});
	await stopped.promise.then((end) => end);
	expect(await opens(NEW)).toBe(1);
	expect(onSealed).not.toHaveBeenCalled();
});
