import { CURRENCIES, EVENT_TYPES, type EventType } from "@posthorn/protocol";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { CURRENCY_DETAIL, createAjv, dataFaultsOf } from "../base/schemas.ts";
import { isPrintable } from "../base/text.ts";
import type { FactFault } from "./recorder.ts";

/** Characters that an identifier may have as part of a URL: no router accepts longer ones. */
export const ID_LENGTH = 100;
/** Items nested deeper than this are refused without being walked. */
const MAX_DEPTH = 32;

const ajv = createAjv({ strict: false, verbose: true });
const checks = new Map<EventType, ValidateFunction>(EVENT_TYPES.map(({ type, schema }) => [type, ajv.compile(schema)]));

/** Why `data` is not valid data for an event of this type; the catalogue has the rules. */
export function payloadFaults(type: EventType, data: object): FactFault[] {
	const check = checks.get(type)!;
	return check(data) ? [] : dataFaultsOf(check.errors ?? []);
}

/** What is wrong with one of the store platform's identifiers. */
export function idFaults(pointer: string, id: string): FactFault[] {
	if (id.length === 0) return [{ pointer, detail: "must not be empty" }];
	if (id === "." || id === "..")
		return [{ pointer, detail: "must not be . or .., which have a special meaning in URLs" }];
	const faults = textFaults(pointer, id);
	if (faults.length > 0) return faults;
	if (id.length <= ID_LENGTH && encodeURIComponent(id).length <= ID_LENGTH) return [];
	return [{ pointer, detail: `must have at most ${ID_LENGTH} characters, percent-encoded as in a URL` }];
}

export function textFaults(pointer: string, text: string | undefined): FactFault[] {
	if (text === undefined || (isPrintable(text) && text.isWellFormed())) return [];
	return [{ pointer, detail: "must be text without control characters" }];
}

/** An amount within the range of exact integers. */
export function amountFaults(amount: number, least: number): FactFault[] {
	if (Number.isSafeInteger(amount) && amount >= least) return [];
	return [{ pointer: "/amount_cents", detail: `must be a whole number from ${least} to ${Number.MAX_SAFE_INTEGER}` }];
}

export function currencyFaults(currency: string): FactFault[] {
	if (CURRENCIES.has(currency)) return [];
	return [{ pointer: "/currency", detail: CURRENCY_DETAIL }];
}

/** Numbers that have already lost digits, and so would be another product's id; and excessive nesting. */
export function itemFaults(items: readonly unknown[]): FactFault[] {
	for (const [index, item] of items.entries()) {
		const detail = inexact(item, 0);
		if (detail !== null) return [{ pointer: `/items/${index}`, detail }];
	}
	return [];
}

function inexact(value: unknown, depth: number): string | null {
	if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
		return "holds a number beyond 2^53, which JSON readers do not keep exactly: send it as a string";
	if (typeof value === "number" && !Number.isFinite(value)) return "holds a number that is too large";
	if (typeof value !== "object" || value === null) return null;
	if (depth === MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
	for (const member of Object.values(value)) {
		const fault = inexact(member, depth + 1);
		if (fault !== null) return fault;
	}
	return null;
}
