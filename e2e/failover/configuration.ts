/** Fills in the configuration files of `deploy/high-availability`, as operators do with `envsubst`. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = new URL("../../deploy/high-availability/", import.meta.url);

export type ConfigurationFile = "etcd.yml" | "patroni.yml" | "haproxy.cfg";

/** @throws Error if a variable has no value, or a value has no variable */
export function configuration(file: ConfigurationFile, values: Readonly<Record<string, string | number>>): string {
	const unused = new Set(Object.keys(values));
	const text = readFileSync(fileURLToPath(new URL(file, FOLDER)), "utf8").replaceAll(/\$\{(\w+)\}/g, (_, name) => {
		const value = values[name];
		if (value === undefined) throw new Error(`${file} uses \${${name}}, which has no value.`);
		unused.delete(name);
		return String(value);
	});
	if (unused.size > 0) throw new Error(`${file} has no variable ${[...unused].join(", ")}.`);
	return text;
}
