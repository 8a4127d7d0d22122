import { type Config, flagOf, readConfig, SETTINGS, type SettingKey } from "@posthorn/server/config";
import { UsageError } from "./command-error.ts";

/**
 * The configuration of the environment and of these options, by their flags' names.
 *
 * @throws UsageError with every fault
 */
export function configOf(options: Readonly<Record<string, unknown>>): Config {
	const result = readConfig({ env: process.env, flags: flagsOf(options) });
	if (!result.ok) throw new UsageError(result.faults);
	return result.config;
}

/** Flags by their setting's key; commander names them in camel case. */
export function flagsOf(options: Readonly<Record<string, unknown>>): Partial<Record<SettingKey, string>> {
	const flags: Partial<Record<SettingKey, string>> = {};
	for (const [key, setting] of Object.entries(SETTINGS)) {
		const name = flagOf(setting)
			.slice(2)
			.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
		const value = options[name];
		if (typeof value === "string") flags[key as SettingKey] = value;
	}
	return flags;
}
