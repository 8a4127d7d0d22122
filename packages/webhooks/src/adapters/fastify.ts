import { checkReceiver, type Receiver } from "../request.ts";
import type { HeadersInput } from "../verify.ts";

/** What the plugin needs of Fastify 4 and 5, so that the package doesn't depend on either. */
export interface FastifyInstance {
	removeAllContentTypeParsers(): unknown;
	addContentTypeParser(
		contentType: string,
		options: { parseAs: "buffer"; bodyLimit: number },
		parser: (request: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => void,
	): unknown;
	post(
		path: string,
		handler: (request: { headers: HeadersInput; body: unknown }, reply: FastifyReply) => Promise<unknown>,
	): unknown;
}

export interface FastifyReply {
	code(status: number): { send(body: unknown): unknown };
}

export interface FastifyWebhooksOptions {
	/** The route's path. `/webhooks` by default. */
	readonly path?: string;
}

/** A Fastify plugin with one route. It reads the raw body there, and doesn't change the parsers of other routes. */
export function fastifyWebhooks(
	receiver: Receiver,
	{ path = "/webhooks" }: FastifyWebhooksOptions = {},
): (fastify: FastifyInstance) => Promise<void> {
	checkReceiver(receiver, "fastifyWebhooks");
	return async (fastify) => {
		fastify.removeAllContentTypeParsers();
		fastify.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: receiver.maxBytes }, (_request, body, done) =>
			done(null, body),
		);
		fastify.post(path, async (request, reply) => {
			const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
			const { status, body: answer } = await receiver.receive({ headers: request.headers, body }).reply;
			return reply.code(status).send(answer);
		});
	};
}
