import { connect, createServer, type Server, type Socket } from "node:net";
import { until } from "@posthorn/testkit/until";
import { createHttpSender } from "../src/engine/send/http-sender.ts";
import type { Sender } from "../src/engine/send/outcome.ts";
import { type Answer, answered, Receiver } from "../src/engine/send/receiver.fixture.ts";
import { createGuard } from "../src/net/egress.ts";
import { createAuthority } from "../src/net/tls/credentials.fixture.ts";
import type { EngineRig, StartRig } from "./engine-rig.ts";

/** Lets connections to a receiver be established only when the test says so. */
class SlowWay {
	readonly #server: Server;
	readonly #sockets: Socket[] = [];
	#waiting = 0;
	#open = Promise.withResolvers<void>();
	#port = 0;

	constructor(receiver: Receiver) {
		this.#server = createServer({ pauseOnConnect: true }, async (near) => {
			this.#waiting += 1;
			await this.#open.promise;
			this.#waiting -= 1;
			const far = connect(receiver.port, "127.0.0.1");
			for (const socket of [near, far]) {
				this.#sockets.push(socket);
				socket.on("error", () => socket.destroy());
			}
			near.pipe(far).pipe(near);
		});
	}

	async listen(): Promise<void> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		const address = this.#server.address();
		if (typeof address === "object" && address) this.#port = address.port;
	}

	get url(): string {
		return `https://localhost:${this.#port}/hook`;
	}

	/** Resolves when this many connections wait. */
	async waiting(count = 1): Promise<void> {
		await until(`${count} connections to wait`, () => this.#waiting >= count);
	}

	/** Lets waiting and later connections through. */
	open(): void {
		this.#open.resolve();
	}

	/** Makes later connections wait. */
	shut(): void {
		this.#open = Promise.withResolvers();
	}

	async close(): Promise<void> {
		for (const socket of this.#sockets) socket.destroy();
		await new Promise((resolve) => this.#server.close(resolve));
	}
}

/** A rig with a webhook at a real receiver over a slow network. */
export class SlowRig {
	readonly rig: EngineRig;
	readonly way: SlowWay;
	readonly #receiver: Receiver;
	readonly #sender: Sender;
	#webhookId = "";
	#ended = 0;

	private constructor(rig: EngineRig, way: SlowWay, receiver: Receiver, sender: Sender) {
		this.rig = rig;
		this.way = way;
		this.#receiver = receiver;
		this.#sender = sender;
		const scripted: Sender = rig.sender;
		scripted.send = async (shipment) => {
			const outcome = await sender.send(shipment);
			this.#ended += 1;
			return outcome;
		};
	}

	static async start(start: StartRig, options: { maxInFlight?: number; answer?: Answer } = {}): Promise<SlowRig> {
		const { maxInFlight = 1, answer = answered(200) } = options;
		const rig = await start();
		const authority = createAuthority();
		const receiver = await new Receiver(authority.issue({ names: ["localhost"] }), answer).listen();
		const way = new SlowWay(receiver);
		await way.listen();
		const sender = createHttpSender({
			clock: rig.clock,
			random: Math.random,
			guard: createGuard({ allow: ["127.0.0.0/8"] }),
			brand: "Service",
			timeoutMs: 15_000,
			extraCa: authority.cert,
			onFault: (error) => process.emitWarning(String(error)),
		});
		const slow = new SlowRig(rig, way, receiver, sender);
		slow.#webhookId = (await rig.webhook("slow", { maxInFlight })).id;
		await slow.change({ url: way.url });
		return slow;
	}

	/** Ids of the events sent to the receiver. */
	get received(): string[] {
		return this.#receiver.requests.map(({ body }) => JSON.parse(body.toString()).id);
	}

	/** Resolves when this many attempts have ended in any way. */
	async ended(count = 1): Promise<void> {
		await until(`${count} attempts to end`, () => this.#ended >= count);
	}

	async change(changes: { url?: string; status?: "active" | "paused"; events?: readonly string[] }): Promise<void> {
		const { storage, projectId } = this.rig;
		await this.rig.change(() => storage.updateWebhook({ projectId, webhookId: this.#webhookId, patch: changes }));
	}

	async delete(): Promise<void> {
		const { storage, projectId } = this.rig;
		await this.rig.change(() => storage.deleteWebhook({ projectId, webhookId: this.#webhookId }));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.way.open();
		await this.rig[Symbol.asyncDispose]();
		await this.#sender.close();
		await this.way.close();
		await this.#receiver.close();
	}
}
