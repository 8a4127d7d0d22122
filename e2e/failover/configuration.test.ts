import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { configuration } from "./configuration.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const variablesOf = (file: string): string[] =>
	[...read(`deploy/high-availability/${file}`).matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);

test.each(["etcd.yml", "patroni.yml", "haproxy.cfg"] as const)(
	"%s is filled in completely, and the guide lists its variables",
	(file) => {
		const names = new Set(variablesOf(file));
		const values = Object.fromEntries([...names].map((name) => [name, `<${name}>`]));
		const text = configuration(file, values);
		expect(text).not.toContain("${");
		for (const name of names) expect(text).toContain(`<${name}>`);
		expect(() => configuration(file, { ...values, OTHER: "" })).toThrow(`${file} has no variable OTHER.`);
		expect(() => configuration(file, {})).toThrow("which has no value");

		const guide = read("docs/operations/high-availability.md");
		const row = guide.split("\n").find((line) => line.startsWith(`| [\`${file}\`]`))!;
		for (const name of names)
			expect(row).toMatch(
				new RegExp(`\`${name.replace(/_\d$/, "_1")}\`|\`${name}\`|\`${name.replace(/\d$/, "1")}\` to`),
			);
	},
);
