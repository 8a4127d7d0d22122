import { flagOf, SETTINGS, type SettingKey } from "@posthorn/server/config";

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
