import { DEFAULT_BRAND, headerNames } from "@posthorn/protocol";
import { goSnippet } from "./go.ts";
import { javaSnippet } from "./java.ts";
import type { SnippetParts } from "./parts.ts";
import { phpSnippet } from "./php.ts";
import { pythonSnippet } from "./python.ts";
import { rubySnippet } from "./ruby.ts";
import { typescriptSnippet } from "./typescript.ts";

export { SECRET_VARIABLE } from "./parts.ts";

export type SnippetLanguage = "typescript" | "python" | "php" | "go" | "ruby" | "java";

interface SnippetForm {
	readonly language: SnippetLanguage;
	readonly label: string;
	/** The name to save it under. */
	readonly file: string;
	/** How to start it, with the secret in the environment. */
	readonly start: string;
	/** What it needs, if its name doesn't say it. */
	readonly needs?: string;
	readonly render: (parts: SnippetParts) => string;
}

/** Receivers that check the signature (the specification's section 5), in the order in which they are offered. */
export const SNIPPETS: readonly SnippetForm[] = [
	{
		language: "typescript",
		label: "TypeScript",
		// Not .ts: in a folder whose package.json says so, Node would read that as CommonJS, and fail.
		file: "receiver.mts",
		start: "node receiver.mts",
		needs: "Node.js 22.18 or later",
		render: typescriptSnippet,
	},
	{ language: "python", label: "Python", file: "receiver.py", start: "python3 receiver.py", render: pythonSnippet },
	{
		language: "php",
		label: "PHP",
		file: "receiver.php",
		start: "php -S 127.0.0.1:3000 receiver.php",
		render: phpSnippet,
	},
	{ language: "go", label: "Go", file: "receiver.go", start: "go run receiver.go", render: goSnippet },
	{
		language: "ruby",
		label: "Ruby",
		file: "config.ru",
		start: "rackup -p 3000",
		needs: "the gems rackup and puma",
		render: rubySnippet,
	},
	{
		language: "java",
		label: "Java",
		file: "Receiver.java",
		start: "java Receiver.java",
		needs: "Java 17 or later",
		render: javaSnippet,
	},
];

const FORMS = new Map(SNIPPETS.map((form) => [form.language, form]));

/** The receiver's code in `language`, for an instance whose headers carry `brand`. */
export function snippet(language: SnippetLanguage, brand: string = DEFAULT_BRAND): string {
	const form = FORMS.get(language);
	if (form === undefined) throw new RangeError(`There is no snippet in ${language}; choose one of SNIPPETS.`);
	return form.render({ headers: headerNames(brand) });
}
