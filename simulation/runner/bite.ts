/** Runs worlds with deliberate faults: the oracle must catch each of them, by a promise that it breaks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Bite } from "../bites/bite.ts";
import { HOUR_MS, isFailure, Worker } from "./run.ts";
import type { Result } from "./task.ts";

const ROOT = join(import.meta.dirname, "../..");

/** What became of a fault. */
export interface Bitten {
	readonly bite: Bite;
	/** The promise that caught it; null if none did. */
	readonly promise: string | null;
	readonly message: string;
	/** The seed of the world that caught it, or failed otherwise. */
	readonly seed: number | null;
	readonly worlds: number;
	/** Simulated, all worlds together. */
	readonly hours: number;
}

/** @param workers worlds at a time */
export async function bite(
	bites: readonly Bite[],
	workers: number,
	onBitten: (bitten: Bitten) => void,
): Promise<Bitten[]> {
	const left = [...bites];
	const all: Bitten[] = [];
	await Promise.all(
		Array.from({ length: workers }, async () => {
			using worker = new Worker();
			for (let next = left.shift(); next; next = left.shift()) {
				const bitten = await biteOne(worker, next);
				all.push(bitten);
				onBitten(bitten);
			}
		}),
	);
	return all;
}

async function biteOne(worker: Worker, bite: Bite): Promise<Bitten> {
	const missed = { bite, promise: null, seed: null };
	if (!applies(bite))
		return { ...missed, worlds: 0, hours: 0, message: `does not apply any more: ${bite.file} has changed` };
	let hours = 0;
	for (let worlds = 1; worlds <= bite.worlds; worlds++) {
		const seed = bite.firstSeed + worlds - 1;
		const result = await worker.run({ seed, storage: "memory", style: bite.style }, bite);
		hours += (result.ending?.virtualMs ?? 0) / HOUR_MS;
		if (isFailure(result)) return { bite, seed, worlds, hours, ...causeOf(result) };
	}
	return { ...missed, worlds: bite.worlds, hours, message: "no promise was broken" };
}

/** A world that throws shows nothing about the oracle. */
function causeOf(result: Result): { promise: string | null; message: string } {
	const { error, ending } = result;
	if (error !== null) return { promise: null, message: `the world itself threw: ${error}` };
	const { promise, message } = ending!.breach!;
	return { promise, message };
}

function applies({ file, find }: Bite): boolean {
	return readFileSync(join(ROOT, file), "utf8").split(find).length === 2;
}

export function bittenLine({ bite, promise, message, seed, worlds, hours }: Bitten): string {
	if (promise === null) return `MISSED  ${bite.name} (${bite.file})\n        ${message}, after ${tries(worlds, hours)}`;
	return `caught  ${bite.name.padEnd(40)} ${tries(worlds, hours).padEnd(22)} ${bite.style} ${seed}: ${promise}`;
}

function tries(worlds: number, hours: number): string {
	return `${worlds} ${worlds === 1 ? "world" : "worlds"}, ${hours.toLocaleString("en-US", { maximumFractionDigits: 1 })} h`;
}
