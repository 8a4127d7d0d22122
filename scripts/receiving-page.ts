import { SECRET_VARIABLE, SNIPPETS, snippet } from "../packages/dashboard/src/lib/snippets/snippets.ts";

const BEGIN = "<!-- receivers: npm run docs writes this -->\n";
const END = "<!-- end of receivers -->\n";

/** The page docs/guides/receiving.md with the current code of the receivers. */
export function receivingPage(page: string): string {
	const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
	if (begin < 0 || end < begin)
		throw new Error("docs/guides/receiving.md lacks the markers for the receivers: restore them around the section.");
	const sections = SNIPPETS.map(({ language, label, file, start, needs }) => {
		const needed = needs === undefined ? "" : ` It needs ${needs}.`;
		return `### ${label}\n\n\`${file}\`, started with \`${SECRET_VARIABLE}=whsec_… ${start}\`.${needed}\n\n\`\`\`${language}\n${snippet(language)}\`\`\`\n\n`;
	});
	return `${page.slice(0, begin)}${BEGIN}\n${sections.join("")}${page.slice(end)}`;
}
