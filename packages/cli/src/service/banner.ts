import { stripVTControlCharacters } from "node:util";
import type { Service } from "@posthorn/server";
import type { Config } from "@posthorn/server/config";
import { VERSION } from "@posthorn/server/version";
import { errorColors as colors } from "../colors.ts";

export interface BannerFacts {
	readonly config: Config;
	readonly service: Omit<Service, "close">;
	readonly sealKeyMade: boolean;
	/** Print one line of JSON. */
	readonly json: boolean;
}

type Row = [name: string, value: string, note?: string | undefined];

/** Prints the addresses and keys to stderr, so that stdout contains only log lines. */
export function banner({ json, ...facts }: BannerFacts): void {
	const rows = rowsOf(facts);
	if (json) {
		const values = rows.map(([name, value]) => [
			name.toLowerCase().replaceAll(" ", "_"),
			stripVTControlCharacters(value),
		]);
		console.error(JSON.stringify({ ready: true, version: VERSION, ...Object.fromEntries(values) }));
		return;
	}
	const width = Math.max(...rows.map(([name]) => name.length));
	console.error(`\n${colors.bold(`Posthorn ${VERSION} is ready.`)}\n`);
	for (const [name, value, note] of rows)
		console.error(`  ${colors.dim(name.padEnd(width))}  ${value}${note === undefined ? "" : `  (${note})`}`);
	console.error("");
}

function rowsOf({ config, service, sealKeyMade }: Omit<BannerFacts, "json">): readonly Row[] {
	const { url, newOperatorKey, hasOperatorKey, setup } = service;
	const rows: Row[] = [
		["Dashboard", config.publicUrl ?? url],
		["API", `${url}/v1`],
		["Reference", `${url}/docs`],
		["Database", service.database],
	];
	if (!config.sealKeys)
		rows.push(["Seal key", config.sealKeyFile!, sealKeyMade ? "just created: store a copy separately" : undefined]);
	if (service.quarantine)
		rows.push([
			"Quarantine",
			colors.yellow("nothing is sent: posthorn quarantine lists pending deliveries, posthorn release sends them"),
		]);
	const { allow } = config.egress;
	if (allow.length > 0) rows.push(["Egress", `also allowed to ${allow.join(", ")}`]);
	if (newOperatorKey && "key" in newOperatorKey)
		rows.push(["Operator key", colors.bold(newOperatorKey.key), "only shown now: save it"]);
	// Without a terminal the output may be a log, which others read.
	if (newOperatorKey && "file" in newOperatorKey)
		rows.push(["Operator key", `in ${newOperatorKey.file}`, "just created: store it safely, then delete the file"]);
	if (!hasOperatorKey)
		rows.push(["Operator key", "none: set POSTHORN_OPERATOR_KEY, or create one with posthorn operator-key --new"]);
	if (setup === "on request")
		rows.push([
			"Set up",
			"posthorn setup-link",
			"run it with this node's settings to print the link that creates your account",
		]);
	else if (setup && "file" in setup)
		rows.push(["Set up", `in ${setup.file}`, "the link that creates your account: posthorn setup-link prints it"]);
	else if (setup) rows.push(["Set up", colors.bold(setup.url), "create your account here; works once"]);
	return rows;
}
