import { lowerFirst } from "../../lib/text/case.ts";
import { inertText } from "../../lib/text/inert-text.ts";
import { Copy } from "../../ui/copy.tsx";
import classes from "./delivery.module.css";

interface HeadersTableProps {
	headers: Readonly<Record<string, string>>;
	/** What they are: "Request headers". */
	label: string;
}

/** Header fields, or other names and values. Values are only ever text. */
export function HeadersTable({ headers, label }: HeadersTableProps) {
	const fields = Object.entries(headers);
	const text = fields.map(([name, value]) => `${name}: ${value}`).join("\n");
	return (
		<div className={classes.headers}>
			<table aria-label={label}>
				<tbody>
					{fields.map(([name, value]) => (
						<tr key={name}>
							<th scope="row">{name}</th>
							<td>{inertText(value)}</td>
						</tr>
					))}
				</tbody>
			</table>
			<Copy text={text} label={`Copy ${lowerFirst(label)}`} />
		</div>
	);
}
