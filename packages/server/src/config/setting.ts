/** What reading a value came to: the value, or what it must be. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly must: string };

/** One thing that can be set, by an environment variable or by a flag of `posthorn serve`. */
export interface Setting<T> {
	/** The variable's name without `POSTHORN_`, such as `RETRY_DELAYS`; the flag is the same in kebab case. */
	readonly name: string;
	readonly group: "Listening" | "Data" | "Delivery" | "Network" | "Limits";
	/** What stands for the value in help. */
	readonly placeholder: string;
	/** What holds when it is not set; read like a value that was. Null: there is none. */
	readonly default: string | null;
	/** What the default is, in words, where the value does not say it. */
	readonly defaultText?: string;
	readonly meaning: string;
	/** Its value is never shown. */
	readonly secret?: boolean;
	readonly parse: (text: string) => Parsed<T>;
}

export const variableOf = (setting: Pick<Setting<unknown>, "name">): string => `POSTHORN_${setting.name}`;
export const flagOf = (setting: Pick<Setting<unknown>, "name">): string =>
	`--${setting.name.toLowerCase().replaceAll("_", "-")}`;

export const valid = <T>(value: T): Parsed<T> => ({ ok: true, value });
export const mustBe = (must: string): Parsed<never> => ({ ok: false, must });

/** Of a longer value the beginning is shown, characters. */
const MAX_SHOWN = 80;

/** A value as people are shown it: quoted, in one line, and no longer than they can take in. */
export function shown(text: string): string {
	return text.length > MAX_SHOWN
		? `${JSON.stringify(text.slice(0, MAX_SHOWN))}… (${text.length} characters)`
		: JSON.stringify(text);
}
