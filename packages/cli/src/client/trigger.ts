/**
 * `posthorn trigger TYPE`: sends a sample event to a receiver. By default it is signed and sent on this machine, without
 * a service or a key; only `--publish` reaches production.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { type NewEvent, newEventId } from "@posthorn/client";
import { EVENT_TYPES, type EventTypeEntry, encodeEnvelope, isBrand } from "@posthorn/protocol";
import { colors } from "../colors.ts";
import { UsageError } from "../command-error.ts";
import { confirm } from "./confirm.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { parseType } from "./event-types.ts";
import { isContainer, parseExactly } from "./exact-json.ts";
import { checkIds } from "./ids.ts";
import { post } from "./listen/local-request.ts";
import { parseTarget } from "./listen/target.ts";
import { clean, colored, note, printJson, printTable, warn } from "./output.ts";
import { signingSecret } from "./signing-secret.ts";

export interface TriggerOptions extends ConnectionOptions {
	readonly to?: string;
	readonly set?: readonly string[];
	readonly data?: string;
	readonly raw?: string;
	readonly id?: string;
	readonly allowRemote?: boolean;
	readonly webhook?: string;
	readonly publish?: boolean;
	readonly yes?: boolean;
	readonly list?: boolean;
	readonly brand?: string;
}

const PROJECT = "proj_00000000000000000000000000";
const BODY_CHARACTERS = 1_000;

export async function trigger(type: string | undefined, options: TriggerOptions): Promise<void> {
	checkIds({ webhook: options.webhook });
	if (options.list) return listTypes(options.json === true);
	const entry = parseType(type);
	const ways = ["to", "webhook", "publish"].filter((name) => options[name as "to"] !== undefined);
	if (ways.length !== 1)
		throw new UsageError([
			"Choose where the event goes: --to 3000/hooks (signed here, without the service), --webhook wh_… (a test delivery), or --publish.",
		]);
	if (options.webhook !== undefined) return testWebhook(entry, options.webhook, options);
	if (options.publish) return publish(entry, options);
	return sendHere(entry, parseTarget(options.to!, options.allowRemote), options);
}

async function sampleBody(entry: EventTypeEntry, id: string, options: TriggerOptions): Promise<Buffer> {
	const data = await dataOf(entry, options);
	await warnOfFaults(entry, data, "A receiver may reject it");
	const { type } = entry;
	return encodeEnvelope({ id, type, createdAt: Date.now(), projectId: PROJECT, data: JSON.stringify(data) });
}

async function sendHere(entry: EventTypeEntry, target: URL, options: TriggerOptions): Promise<void> {
	const id = options.id ?? newEventId();
	if (!/^[\x21-\x7e]+$/.test(id))
		throw new UsageError([`--id is "${id}", which no header can carry: use letters, digits, "-" and "_".`]);
	if (options.brand !== undefined) checkBrand(options.brand);
	if (options.raw !== undefined) refuse(options, ["set", "data"], "--raw sends the bytes of a file");
	const body = options.raw === undefined ? await sampleBody(entry, id, options) : await readInput(options.raw, "--raw");
	const brand = options.brand === undefined ? {} : { brand: options.brand };
	const outcome = await post(target, { id, type: entry.type, body }, { secret: signingSecret(), ...brand });
	const succeeded = outcome.kind === "responded" && outcome.status >= 200 && outcome.status < 300;
	if (options.json) printJson({ event_id: id, type: entry.type, target: target.href, ...outcome });
	else if (outcome.kind === "away") console.log(`${colors.red("✘")} ${target.href}: ${clean(outcome.reason)}.`);
	else {
		console.log(`${entry.type} ${colors.dim(id)} → ${colored(outcome.status)}  ${outcome.ms} ms`);
		if (outcome.body.trim() !== "") console.log(clean(outcome.body.trim().slice(0, BODY_CHARACTERS)));
	}
	if (!succeeded) {
		process.exitCode = 1;
		if (outcome.kind === "responded" && outcome.status === 401 && !options.json)
			note('Does the receiver have the secret of this machine? "posthorn listen --print-secret" prints it.');
	}
}

async function testWebhook(entry: EventTypeEntry, webhookId: string, options: TriggerOptions): Promise<void> {
	refuse(options, ["set", "data", "raw", "id", "brand", "allowRemote"], "the service creates and sends the test event");
	const { client, project } = await connect(options);
	const { data } = await client.api.POST("/v1/projects/{project_id}/webhooks/{webhook_id}/test", {
		params: { path: { project_id: project, webhook_id: webhookId } },
		body: { type: entry.type },
	});
	if (options.json) return printJson(data);
	console.log(`${entry.type} ${colors.dim(data!.event_id)} is on its way to ${webhookId} only.`);
	note(`posthorn logs tail --webhook ${webhookId} shows its attempts.`);
}

async function publish(entry: EventTypeEntry, options: TriggerOptions): Promise<void> {
	refuse(options, ["raw", "brand", "allowRemote"], "the service creates and sends the requests");
	const { client, project, url } = await connect(options);
	const data = await dataOf(entry, options);
	await warnOfFaults(entry, data, entry.strict ? "The service will reject it" : "Receivers may reject it");
	const question = `Publish ${entry.type} in ${project} on ${url}? Every webhook subscribed to it receives it.`;
	await confirm(question, options.yes, "published");
	const event = { type: entry.type, data, ...(options.id !== undefined && { id: options.id }) } as NewEvent;
	const published = await client.publish(event);
	if (options.json) return printJson(published);
	console.log(`Published ${published.type} ${colors.dim(published.id)} as number ${published.seq} of the log.`);
}

/** Says where the data differs from the schema of its type. */
async function warnOfFaults({ type }: EventTypeEntry, data: object, so: string): Promise<void> {
	// Imported on demand: it compiles schemas.
	const { dataFaults } = await import("@posthorn/server/check");
	const faults = dataFaults(type, JSON.stringify(data));
	if (faults.length === 0) return;
	warn(`The data doesn't fit the schema of ${type}. ${so}.`);
	for (const { pointer, detail } of faults) note(`  ${clean(pointer)} ${clean(detail)}`);
}

function listTypes(json: boolean): void {
	if (json) {
		for (const { type, description, sample } of EVENT_TYPES) printJson({ type, description, sample });
		return;
	}
	printTable(
		["TYPE", "FIRES WHEN"],
		EVENT_TYPES.map(({ type, description }) => [type, description.split(/\.(?: |$)/)[0]!]),
	);
}

function refuse(options: TriggerOptions, names: readonly (keyof TriggerOptions)[], why: string): void {
	const given = names.filter((name) => options[name] !== undefined);
	if (given.length > 0) throw new UsageError([`${given.map(flagOf).join(", ")} can't be used here: ${why}.`]);
}

/** `allowRemote` is `--allow-remote`. */
const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The sample, or `--data` instead, with the fields of `--set`. */
async function dataOf(
	{ sample }: EventTypeEntry,
	{ data, set = [] }: TriggerOptions,
): Promise<Record<string, unknown>> {
	const value = data === undefined ? structuredClone(sample) : await parseData(data);
	for (const assignment of set) assign(value as Record<string, unknown>, assignment);
	return value as Record<string, unknown>;
}

async function parseData(given: string): Promise<Record<string, unknown>> {
	const text = given.startsWith("@") ? textOf(await readInput(given.slice(1), "--data")) : given;
	let value: unknown;
	try {
		value = parseExactly(text);
	} catch (error) {
		throw new UsageError([`--data is not JSON: ${(error as Error).message}.`]);
	}
	if (!isContainer(value) || Array.isArray(value)) throw new UsageError(["--data must be a JSON object."]);
	return value as Record<string, unknown>;
}

/** A file's text without a byte order mark. @throws UsageError if it isn't UTF-8: its letters would be replaced */
function textOf(bytes: Buffer): string {
	if (!isUtf8(bytes)) throw new UsageError(["--data is not UTF-8: save the file as UTF-8."]);
	return bytes.toString().replace(/^\ufeff/, "");
}

/** @throws UsageError if it can't be part of header names */
export function checkBrand(brand: string): void {
	if (!isBrand(brand))
		throw new UsageError([`--brand is "${brand}"; it must be the word in the header names, such as Service.`]);
}

/** A file's bytes, or standard input for `-`. */
export async function readInput(path: string, flag: string): Promise<Buffer> {
	// A terminal would cut long lines.
	if (path === "-" && process.stdin.isTTY)
		throw new UsageError([`${flag}: standard input is the terminal. Name a file, or pipe the bytes in.`]);
	try {
		// A pipe that doesn't block may have nothing to read yet.
		return path === "-" ? await buffer(process.stdin) : readFileSync(path);
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") throw new UsageError([`${flag}: there is no such file: ${path}`]);
		if (code === "EISDIR") throw new UsageError([`${flag}: ${path} is a folder; name a file.`]);
		throw new UsageError([`${flag}: ${path} can't be read: ${message}.`]);
	}
}

/** `items.0.name=VIP` sets a field. A value that is JSON is taken as such; anything else is text. */
function assign(data: Record<string, unknown>, assignment: string): void {
	const [, path, text] = /^([^=]+)=([\s\S]*)$/.exec(assignment) ?? [];
	if (path === undefined) throw new UsageError([`--set is "${assignment}"; give FIELD=VALUE, such as order_id=7.`]);
	const names = path.split(".");
	const last = names.pop()!;
	let at: Record<string, unknown> = data;
	for (const name of names) {
		checkIndex(at, name, path);
		if (!Object.hasOwn(at, name)) at[name] = {};
		const next = at[name];
		if (!isContainer(next)) throw new UsageError([`--set ${path}: ${name} is not an object or list.`]);
		at = next as Record<string, unknown>;
	}
	checkIndex(at, last, path);
	Object.defineProperty(at, last, { value: jsonOrText(text!), enumerable: true, writable: true, configurable: true });
}

/**
 * JSON would leave out a list's element with another name, or fill the gap before one beyond its end.
 *
 * @throws UsageError if a list has no such element, and none can be added there
 */
function checkIndex(at: object, name: string, path: string): void {
	if (!Array.isArray(at) || (/^(?:0|[1-9]\d*)$/.test(name) && Number(name) <= at.length)) return;
	throw new UsageError([
		`--set ${path}: "${name}" is not an index of a list with ${at.length} elements (0 to ${at.length}).`,
	]);
}

function jsonOrText(text: string): unknown {
	try {
		return parseExactly(text);
	} catch {
		return text;
	}
}
