/** The receiver library against the real service, over HTTPS. */
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Authority, createAuthority, Signal, until, unusedPort, within, writeCaFile } from "@posthorn/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createReceiver, memoryStore, type ReceiverOptions } from "../packages/webhooks/src/index.ts";
import { ADAPTERS } from "../packages/webhooks/test/servers.fixture.ts";
import type { MortalOptions } from "./mortal-receiver.ts";
import { purchase, Shop } from "./shop.ts";

let authority: Authority;
let shop: Shop;

beforeAll(async () => {
	authority = await createAuthority();
	shop = await Shop.open({
		POSTHORN_EGRESS_CA_FILE: writeCaFile(authority),
		// The last ones are for a busy machine, which takes long to start another process.
		POSTHORN_RETRY_DELAYS: "0.2,0.2,0.5,1,2,10,20",
	});
});
afterAll(() => shop[Symbol.asyncDispose]());

/** A project with one webhook. Tests run concurrently, and each sees only its own events. */
async function openWebhook(port: number) {
	const { body: project } = await shop.post("/v1/projects", { name: "A store" });
	const path = (rest: string) => `/v1/projects/${project.id}${rest}`;
	const url = `https://localhost:${port}/webhooks`;
	const { body: webhook } = await shop.post(path("/webhooks"), { url, events: ["purchase.completed"] });
	const delivery = (eventId: string) => path(`/webhooks/${webhook.id}/deliveries/${eventId}`);
	return {
		secret: webhook.secret as string,
		publish: async (): Promise<string> => (await shop.post(path("/events"), purchase(1))).body.id,
		replay: (eventId: string) => shop.post(`${delivery(eventId)}/replay`, {}),
		/** What the receiver responded with, attempt by attempt, once `isEnough` says so. */
		async responses(eventId: string, isEnough: (delivery: { state: string; attempts: object[] }) => boolean) {
			const { attempts } = await until("attempts", async () => {
				const { body } = await shop.get(delivery(eventId));
				return body.attempts && isEnough(body) && body;
			});
			return attempts
				.toSorted((a: { started_at: string }, b: { started_at: string }) => a.started_at.localeCompare(b.started_at))
				.map(({ status_code, response_body }: { status_code: number | null; response_body: string }) => {
					if (status_code === null) return [null, "no response"];
					const { code, result } = JSON.parse(response_body);
					return [status_code, code ?? result];
				});
		},
	};
}

const delivered = ({ state }: { state: string }) => state === "delivered";

/** A receiver behind one of the adapters, and its webhook. */
async function receive(
	{ listener }: (typeof ADAPTERS)[number],
	options: Partial<ReceiverOptions> & Pick<ReceiverOptions, "on">,
) {
	const server = createServer(await authority.issue());
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const webhook = await openWebhook((server.address() as AddressInfo).port);
	const settings = { secret: webhook.secret, store: memoryStore(), onError: () => undefined, ...options };
	server.on("request", await listener(createReceiver(settings)));
	return {
		...webhook,
		async [Symbol.asyncDispose](): Promise<void> {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

describe.each(ADAPTERS)("$name", { concurrent: true }, (adapter) => {
	test("handles an event once, however often it is delivered", async () => {
		const handled: string[] = [];
		await using webhook = await receive(adapter, { on: { "purchase.completed": ({ id }) => handled.push(id) } });
		const id = await webhook.publish();
		expect(await webhook.responses(id, delivered)).toEqual([[200, "handled"]]);
		expect((await webhook.replay(id)).status).toBe(202);
		const attempts = await webhook.responses(id, (delivery) => delivered(delivery) && delivery.attempts.length === 2);
		expect(attempts).toEqual([
			[200, "handled"],
			[200, "duplicate"],
		]);
		expect(handled).toEqual([id]);
	});

	test("runs a slow handler once: 503 while it runs, 200 once it has ended", async () => {
		const slow = Promise.withResolvers<void>();
		let calls = 0;
		const handler = () => {
			calls++;
			return slow.promise;
		};
		await using webhook = await receive(adapter, { timeout: 5, on: { "purchase.completed": handler } });
		const id = await webhook.publish();
		const meanwhile = await webhook.responses(id, ({ attempts }) => attempts.length >= 2);
		expect(meanwhile.slice(0, 2)).toEqual([
			[503, "timeout"],
			[503, "in_progress"],
		]);
		slow.resolve();
		expect((await webhook.responses(id, delivered)).at(-1)).toEqual([200, "duplicate"]);
		expect(calls).toBe(1);
	});
});

describe("what the delivery log shows", { concurrent: true }, () => {
	test.each<[string, Partial<ReceiverOptions>, [number, string]]>([
		["another secret", { secret: "whsec_another" }, [401, "signature_mismatch"]],
		["a clock that is fast", { now: () => Date.now() + 400_000 }, [400, "timestamp_too_old"]],
		["a clock that is slow", { now: () => Date.now() - 400_000 }, [400, "timestamp_too_new"]],
		["another brand", { brand: "Acme" }, [400, "timestamp_missing"]],
	])("%s", async (_name, options, response) => {
		let calls = 0;
		await using webhook = await receive(ADAPTERS[0]!, { on: { "*": () => void calls++ }, ...options });
		const [first] = await webhook.responses(await webhook.publish(), ({ attempts }) => attempts.length > 0);
		expect(first).toEqual(response);
		expect(calls).toBe(0);
	});
});

describe.each(["receiver", "inbox"] as const)(
	"a process that dies in the middle (%s)",
	{ concurrent: true },
	(kind) => {
		test("the next process handles the event again", async () => {
			const port = await unusedPort();
			const webhook = await openWebhook(port);
			const options: MortalOptions = {
				...(await authority.issue()),
				kind,
				port,
				secret: webhook.secret,
				database: join(shop.folder, `${kind}.db`),
				log: join(shop.folder, `${kind}.log`),
			};
			const first = await startMortal({ ...options, dies: true });
			const id = await webhook.publish();
			await within("the death of the first process", first.exit);
			const second = await startMortal(options);
			await second.finished.until("the event to be handled", () => second.handled.includes(id));
			expect(readFileSync(options.log, "utf8").trim().split("\n")).toEqual([id, id]);
			expect((await webhook.responses(id, delivered)).at(-1)?.[0]).toBe(200);
			second.process.kill();
			await second.exit;
		});
	},
);

async function startMortal(options: MortalOptions) {
	const child: ChildProcess = fork(join(import.meta.dirname, "mortal-receiver.ts"), [JSON.stringify(options)]);
	const exit = new Promise((resolve) => child.once("exit", resolve));
	const ready = Promise.withResolvers<void>();
	const handled: string[] = [];
	const finished = new Signal();
	child.on("message", (message: string) => {
		if (message === "ready") return ready.resolve();
		handled.push(message);
		finished.look();
	});
	await within("the receiver to listen", ready.promise);
	return { process: child, exit, handled, finished };
}
