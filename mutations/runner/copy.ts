import {
	copyFileSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readlinkSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Mutation } from "../mutation.ts";
import { mutate, PACKAGES } from "./apply.ts";

/** What a test run doesn't need, or would write to in place. */
const LEFT_OUT = new Set([".git", ".cache", "data", "test-results", "playwright-report"]);
/** Caches of Vite and Vitest. */
const isCache = (name: string): boolean => name.startsWith(".vite");

/** A copy of the checkout, made of hard links if the file system allows them: nothing in it may be written in place. */
export class Copy {
	readonly folder: string;
	readonly #root: string;

	constructor(root: string, folder: string) {
		this.#root = root;
		this.folder = folder;
		copyFolder(root, folder);
	}

	/** Inserts the fault into the copy's file. @returns removes it again */
	apply(mutation: Mutation): () => void {
		const text = mutate(this.#root, mutation);
		const path = join(this.folder, PACKAGES, mutation.file);
		rmSync(path);
		writeFileSync(path, text);
		return () => {
			rmSync(path);
			copyFile(join(this.#root, PACKAGES, mutation.file), path);
		};
	}
}

function copyFolder(from: string, to: string): void {
	mkdirSync(to, { recursive: true });
	for (const entry of readdirSync(from, { withFileTypes: true })) {
		if (LEFT_OUT.has(entry.name) || isCache(entry.name)) continue;
		const [source, target] = [join(from, entry.name), join(to, entry.name)];
		if (entry.isDirectory()) copyFolder(source, target);
		else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
		else if (entry.isFile()) copyFile(source, target);
	}
}

function copyFile(from: string, to: string): void {
	try {
		linkSync(from, to);
	} catch {
		// Another file system.
		mkdirSync(dirname(to), { recursive: true });
		copyFileSync(from, to);
	}
}
