/** A file or folder that a document names. */
export interface NamedPath {
	readonly name: string;
	/** The folder relative to the document, if a tree shows it. */
	readonly folder: string | null;
}

/** A whole code span: `engine/publish`, `main.ts`; not `/v1/events`, `npm start` or `application/json`. */
const IN_SPAN = /`((?!application\/|text\/)[\w@][\w.@-]*(?:\/[\w.@-]+)*\/?)`/g;
/** In a tree: a file by its ending, or a folder by its slash. */
const IN_TREE = /(?<![\w./@-])[\w-]+(?:\/[\w-]+)*(?:\/(?!\w)|\.(?:ts|mjs|md|json|sql)\b)/g;
/** The folder in a line of a tree: its description follows after a gap. */
const OPENS = /^ *[\w/-]+\/(?: {2}|$)/;
const FILE = /\.(?:ts|tsx|mjs|md|json|sql|yaml|yml)$/;
const TREE = /^```\n([\w-]+\/\n[\s\S]*?)^```/gm;

/**
 * The files and folders that a document names: in code spans, and in trees, which are fenced blocks that begin with a
 * folder, and whose lines are indented below the folder of what they name.
 *
 * @param text Markdown
 */
export function namedPaths(text: string): NamedPath[] {
	const trees = [...text.matchAll(TREE)].flatMap(([, tree]) => [...inTree(tree!)]);
	const spans = [...text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(IN_SPAN)].map(([, name]) => name!);
	const paths = spans.filter((name) => name.includes("/") || FILE.test(name));
	return [...trees, ...paths.map((name) => ({ name, folder: null }))];
}

function* inTree(tree: string): Generator<NamedPath> {
	/** The folders that the current line may be in, outermost first. */
	let open: { readonly indent: number; readonly name: string }[] = [];
	for (const line of tree.split("\n")) {
		const indent = line.search(/\S/);
		if (indent < 0) continue;
		open = open.filter((folder) => folder.indent < indent);
		for (const { 0: name, index } of line.matchAll(IN_TREE)) {
			const folder = open.map((one) => one.name).join("");
			yield { name, folder };
			if (index === indent && OPENS.test(line)) open.push({ indent, name });
		}
	}
}
