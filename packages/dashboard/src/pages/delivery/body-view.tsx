import { Box, Button, Group, SegmentedControl, Text } from "@mantine/core";
import { Fragment, useMemo, useState } from "react";
import { inertText } from "../../lib/text/inert-text.ts";
import { jsonLines, prettyJson } from "../../lib/text/json-text.ts";
import { formatBytes } from "../../lib/text/numbers.ts";
import { Copy } from "../../ui/copy.tsx";
import classes from "./body-view.module.css";

interface BodyViewProps {
	body: string;
	/** What it is, in lower case: "request body". */
	label: string;
}

/** How many characters are shown at first, and at most: browsers need increasingly long to lay out long lines. */
const SHOWN = 100_000;
const MOST_SHOWN = 250_000;
/** How many lines have colored keys; the others are plain text. */
const COLORED_LINES = 1_500;

type Form = "pretty" | "raw";

/** A body, only ever as text: JSON with line breaks, or exactly as it is. */
export function BodyView({ body, label }: BodyViewProps) {
	const pretty = useMemo(() => prettyJson(body), [body]);
	const [chosen, setChosen] = useState<Form>("pretty");
	const [more, setMore] = useState(false);
	const form: Form = pretty === null ? "raw" : chosen;
	const text = form === "pretty" ? (pretty ?? body) : body;
	const limit = more ? MOST_SHOWN : SHOWN;
	const shown = useMemo(() => inertText(text.slice(0, limit)), [text, limit]);
	const size = useMemo(() => new TextEncoder().encode(body).length, [body]);
	return (
		<div className={classes.body}>
			<div className={classes.head}>
				<span>Body, {formatBytes(size)}</span>
				<Group gap={6} wrap="nowrap">
					{pretty === null ? null : (
						<SegmentedControl
							size="xs"
							aria-label={`How to show the ${label}`}
							value={form}
							onChange={setChosen}
							data={[
								{ value: "pretty", label: "Pretty" },
								{ value: "raw", label: "Raw" },
							]}
						/>
					)}
					<Copy text={body} label={`Copy ${label}`} />
				</Group>
			</div>
			<Box component="pre" className={classes.text} tabIndex={0} role="region" aria-label={label}>
				{form === "pretty" ? <Colored text={shown} /> : shown}
			</Box>
			{text.length <= limit ? null : (
				<Group className={classes.foot} gap="xs">
					<Text size="xs">
						{more ? "Only the beginning is shown. Copying includes everything." : "Only the beginning is shown."}
					</Text>
					{more ? null : (
						<Button size="compact-xs" variant="default" onClick={() => setMore(true)}>
							Show more
						</Button>
					)}
				</Group>
			)}
		</div>
	);
}

function Colored({ text }: { text: string }) {
	const lines = jsonLines(text);
	const plain = lines.slice(COLORED_LINES).map(({ indent, key, rest }) => indent + key + rest);
	return (
		<>
			{lines.slice(0, COLORED_LINES).map(({ number, indent, key, rest }) => (
				<Fragment key={number}>
					{indent}
					<span className={classes.key}>{key}</span>
					{rest}
					{"\n"}
				</Fragment>
			))}
			{plain.join("\n")}
		</>
	);
}
