import { TextInput, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconCircleDashed, IconHelpCircle, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useProjectId } from "../../../api/session.ts";
import {
	type UrlCheck,
	type UrlCheckName,
	type UrlCheckState,
	urlCheckQuery,
	webhooksQuery,
} from "../../../api/webhooks.ts";
import { sentence } from "../../../lib/text/case.ts";
import { sameUrlWords } from "./same-url.ts";
import classes from "./url-field.module.css";

interface UrlFieldProps {
	/** The webhook that is being changed; undefined for a new one. */
	webhookId: string | undefined;
	value: string;
	onChange: (url: string) => void;
	error?: ReactNode;
	/** For users who may only look: it can be read and copied, and isn't checked. */
	readOnly?: boolean;
}

/** How long typing must pause before a URL is checked, in milliseconds. */
const REST_MS = 400;

const LABELS: readonly (readonly [UrlCheckName, string])[] = [
	["https", "Uses https"],
	["reachable_name", "Host name resolves"],
	["public_address", "Address is allowed"],
];

const ICONS = { ok: IconCheck, failed: IconX, unknown: IconHelpCircle, open: IconCircleDashed } as const;
const SPOKEN = { ok: "yes", failed: "no", unknown: "could not be checked", open: "not checked yet" } as const;

/** A webhook's URL, which the service checks as it is typed; nothing is sent to it. */
export function UrlField({ webhookId, value, onChange, error, readOnly = false }: UrlFieldProps) {
	const projectId = useProjectId();
	const [rested] = useDebouncedValue(value.trim(), REST_MS);
	const worthIt = URL.canParse(rested) && !readOnly;
	const { data, isError } = useQuery({
		...urlCheckQuery(projectId, rested),
		enabled: worthIt,
		retry: false,
	});
	const { data: webhooks = [] } = useQuery({ ...webhooksQuery(projectId), enabled: worthIt });
	const same = worthIt ? sameUrlWords(webhooks, rested, webhookId) : null;
	const check = worthIt && rested === value.trim() ? data : undefined;
	const made = check === undefined ? [] : madeOf(check);
	return (
		<div>
			<TextInput
				label="URL"
				description={
					<>
						Where events are sent: a public https URL. To test on your own machine, run <code>posthorn listen</code>{" "}
						there, or use a tunnel.
					</>
				}
				placeholder="https://example.com/webhooks"
				type="url"
				inputMode="url"
				autoComplete="off"
				spellCheck={false}
				required
				readOnly={readOnly}
				value={value}
				onChange={(event) => onChange(event.currentTarget.value)}
				error={error}
			/>
			{readOnly ? null : (
				<ul className={classes.checks}>
					{LABELS.map(([name, label]) => {
						const found = made.find((one) => one.name === name);
						// The field's own error says it already.
						return error && found?.state === "failed" ? null : <CheckLine key={name} label={label} found={found} />;
					})}
				</ul>
			)}
			<div className={classes.same} aria-live="polite">
				{same}
			</div>
			<VisuallyHidden aria-live="polite">
				{isError ? "The URL couldn't be checked." : check === undefined ? "" : summary(made)}
			</VisuallyHidden>
		</div>
	);
}

/** Those up to the first that failed: it says what is wrong, and the others aren't made before it's right. */
function madeOf({ checks }: UrlCheck): UrlCheck["checks"] {
	const failed = checks.findIndex(({ state }) => state === "failed");
	return failed === -1 ? checks : checks.slice(0, failed + 1);
}

/** @param found undefined if it hasn't been made */
function CheckLine({ label, found }: { label: string; found: UrlCheck["checks"][number] | undefined }) {
	const state: UrlCheckState | "open" = found?.state ?? "open";
	const Icon = ICONS[state];
	const said = found === undefined || found.state === "ok" ? label : sentence(found.detail);
	return (
		<li className={classes.check} data-state={state}>
			<Icon size={16} stroke={2.2} aria-hidden />
			<span>
				{said}
				<VisuallyHidden>: {SPOKEN[state]}</VisuallyHidden>
			</span>
		</li>
	);
}

/** Says what isn't right or isn't known, for those who don't see it. */
function summary(made: UrlCheck["checks"]): string {
	const others = made.filter(({ state }) => state !== "ok");
	if (others.length === 0) return "The URL passes the checks. Nothing was sent to it.";
	return others.map(({ detail }) => sentence(detail)).join(" ");
}
