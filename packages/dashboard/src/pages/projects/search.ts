import { typedName } from "../../lib/text/names.ts";

/** From this many projects on, they can be searched. */
export const MANY_PROJECTS = 8;

/** What the address bar says about the list of projects. */
export interface ProjectsSearch {
	/** In the name or the id. */
	readonly text?: string;
	/** Only projects with failing or unstable webhooks, or failed deliveries to decide on. */
	readonly attention?: boolean;
}

export function validateProjectsSearch({ text, attention }: Record<string, unknown>): ProjectsSearch {
	// The router reads a number as such.
	const sought = typeof text === "string" || typeof text === "number" ? String(text) : "";
	return { ...(sought !== "" && { text: sought }), ...(attention === true && { attention }) };
}

/** Whether only some of the projects are shown. */
export const isFiltered = ({ text = "", attention = false }: ProjectsSearch): boolean =>
	text.trim() !== "" || attention;

/** The projects whose name or id has the text, in the order given. */
export function findProjects<Row extends { readonly id: string; readonly name: string }>(
	rows: readonly Row[],
	text: string,
): readonly Row[] {
	const sought = typedName(text).toLowerCase();
	return rows.filter(({ id, name }) => name.toLowerCase().includes(sought) || id.includes(sought));
}
