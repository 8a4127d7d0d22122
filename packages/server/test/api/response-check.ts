import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";

interface OpenApi {
	readonly paths: Record<string, Record<string, { readonly responses: Record<string, Response> }>>;
	readonly components: { readonly responses: Record<string, Response> };
}
interface Response {
	readonly $ref?: string;
	readonly content?: Record<string, { readonly schema: object }>;
}

/** Checks responses against the OpenAPI document: the status is documented, and the body matches its schema. */
export class ResponseCheck {
	/** By document, so that schemas are compiled once. */
	static readonly #made = new Map<string, ResponseCheck>();
	readonly #document: OpenApi;
	readonly #ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
	readonly #paths: { readonly path: string; readonly pattern: RegExp }[];

	private constructor(document: OpenApi) {
		this.#document = document;
		this.#ajv.addSchema({ ...document }, "api");
		// If two fit, the one with fewer parameters is meant.
		const parameters = (path: string) => path.split("{").length;
		this.#paths = Object.keys(document.paths)
			.toSorted((one, other) => parameters(one) - parameters(other))
			.map((path) => ({
				path,
				pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
			}));
	}

	/** @param text the OpenAPI document */
	static for(text: string): ResponseCheck {
		const made = ResponseCheck.#made.get(text) ?? new ResponseCheck(JSON.parse(text));
		ResponseCheck.#made.set(text, made);
		return made;
	}

	check(method: string, url: string, answer: { status: number; headers: Record<string, string>; text: string }): void {
		const { status, headers, text } = answer;
		const said = `${method} ${url.slice(0, 200)} → ${status} ${text.slice(0, 500)}`;
		const [type = ""] = (headers["content-type"] ?? "").split(";");
		if (status >= 400) assert.equal(type, "application/problem+json", said);
		// The path as sent: without `.` and `..`.
		const { pathname } = new URL(url, "http://localhost");
		const path = this.#paths.find(({ pattern }) => pattern.test(pathname))?.path;
		const operation = path === undefined ? undefined : this.#document.paths[path]?.[method.toLowerCase()];
		if (!operation) return;
		const response = this.#resolve(operation.responses[status]);
		assert.ok(response, `not documented: ${said}`);
		if (!response.content) {
			assert.equal(text, "", said);
			return;
		}
		const media = response.content[type];
		assert.ok(media, `undocumented ${type}: ${said}`);
		if (!/json\b/.test(type)) return;
		const check = this.#ajv.compile(withRefsInto("api", media.schema));
		assert.ok(check(JSON.parse(text)), `${this.#ajv.errorsText(check.errors)}: ${said}`);
	}

	#resolve(response: Response | undefined): Response | undefined {
		const name = response?.$ref?.split("/").at(-1);
		return name === undefined ? response : this.#document.components.responses[name];
	}
}

const cache = new WeakMap<object, object>();

function withRefsInto(document: string, schema: object): object {
	const cached = cache.get(schema);
	if (cached) return cached;
	const made = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${document}#/`)) as object;
	cache.set(schema, made);
	return made;
}
