import { FileInput, List, Select, SimpleGrid, Text, Textarea, TextInput, ThemeIcon } from "@mantine/core";
import { useForm } from "@mantine/form";
import { isInMilliseconds } from "@posthorn/protocol";
import { IconAlertTriangle, IconCheck, IconQuestionMark } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import {
	type AttemptSummary,
	checkSignature,
	type Diagnosis,
	newestAttemptsQuery,
	type SignatureSeen,
} from "../../../api/attempts.ts";
import { responseWords, wasSent } from "../../../lib/attempts/attempt-words.ts";
import { shortTime } from "../../../lib/text/time.ts";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { Section } from "../../../ui/page/page.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import { SubmitForm } from "../../../ui/submit-form.tsx";

interface SignatureCheckProps {
	projectId: string;
	webhookId: string;
}

const EMPTY = { signature: "", timestamp: "", clock: "", body: "", file: null as File | null };
type Entered = typeof EMPTY;

const isEmpty = ({ file, ...texts }: Entered) =>
	file === null && Object.values(texts).every((text) => text.trim() === "");

/** What the receiver saw, without fields that were left empty. */
async function seenBy({ signature, timestamp, clock, body, file }: Entered): Promise<SignatureSeen> {
	const bytes = file !== null ? new Uint8Array(await file.arrayBuffer()) : new TextEncoder().encode(body);
	return {
		...(signature.trim() === "" ? {} : { signature: signature.trim() }),
		...(file === null && body === "" ? {} : { body: base64(bytes) }),
		...(timestamp === "" ? {} : { timestamp }),
		...(clock.trim() === "" ? {} : { clock: Number(clock) }),
	};
}

/** Finds out why a receiver refuses a signature, from what it saw and computed for one of the last requests. */
export function SignatureCheck({ projectId, webhookId }: SignatureCheckProps) {
	const { data: attempts, error, refetch } = useQuery(newestAttemptsQuery(projectId, { webhook_id: [webhookId] }));
	const now = useNow(0);
	const [chosen, setChosen] = useState<AttemptSummary | null>(null);
	const [findings, setFindings] = useState<Diagnosis["findings"] | null>(null);
	/** Counts the changes of what is checked: a late response is about what was entered before. */
	const changes = useRef(0);
	const change = () => {
		setFindings(null);
		changes.current++;
	};
	const form = useForm({
		initialValues: EMPTY,
		onValuesChange() {
			change();
			// The error says that every field is empty, so input in any of them clears it.
			form.clearFieldError("signature");
		},
		validate: {
			signature: (_, entered) =>
				isEmpty(entered) ? "Enter this, or anything else that the receiver saw or computed." : null,
			clock: (clock) => {
				if (isInMilliseconds(Number(clock))) return "It looks like milliseconds: enter seconds, such as 1795514470.";
				return /^\d{0,12}$/.test(clock.trim()) ? null : "Seconds since 1970, such as 1795514470.";
			},
		},
	});
	const newest = (attempts ?? []).filter((attempt) => attempt.status_code !== null && wasSent(attempt));
	// It stays, although newer ones arrive while someone enters what its receiver saw.
	if (chosen === null && newest[0] !== undefined) setChosen(newest[0]);
	const sent = chosen === null || newest.some(({ id }) => id === chosen.id) ? newest : [chosen, ...newest];
	const check = async (entered: Entered) => {
		if (chosen === null) return;
		const begun = changes.current;
		const { findings: found } = await checkSignature(projectId, chosen.id, await seenBy(entered));
		if (changes.current === begun) setFindings(found);
	};
	return (
		<Section
			title="Why is a signature refused?"
			description="Enter what the receiver saw and computed for a request. The secret isn't needed: don't paste it here."
		>
			{sent.length === 0 && error !== null ? (
				<ErrorState error={error} onRetry={refetch} />
			) : sent.length === 0 ? (
				<Text size="sm" c="dimmed">
					{attempts === undefined
						? "Loading the last requests …"
						: "The receiver hasn't responded to any of the last requests. Send a test event first."}
				</Text>
			) : (
				<SubmitForm form={form} send={check} action="Find out">
					<Select
						label="Request"
						allowDeselect={false}
						value={chosen?.id ?? null}
						onChange={(id) => {
							setChosen(sent.find((one) => one.id === id) ?? chosen);
							change();
						}}
						data={sent.map((attempt) => ({
							value: attempt.id,
							label: `${shortTime(Date.parse(attempt.started_at), now)}, ${attempt.event_type}, ${responseWords(attempt).short}, …${attempt.event_id.slice(-6)}`,
						}))}
					/>
					<SimpleGrid cols={{ base: 1, sm: 3 }}>
						<TextInput
							label="Signature that the receiver computed"
							{...form.getInputProps("signature")}
							autoComplete="off"
							spellCheck={false}
						/>
						<TextInput
							label="Timestamp that the receiver used"
							{...form.getInputProps("timestamp")}
							autoComplete="off"
						/>
						<TextInput
							label="The receiver's clock then (Unix time)"
							{...form.getInputProps("clock")}
							autoComplete="off"
							inputMode="numeric"
						/>
					</SimpleGrid>
					<Textarea
						label="Body that the receiver saw"
						{...form.getInputProps("body")}
						disabled={form.values.file !== null}
						autosize
						minRows={3}
						maxRows={10}
						spellCheck={false}
					/>
					<FileInput
						label="Or a file with the body's bytes"
						description="More exact: pasting converts line breaks and drops byte order marks."
						{...form.getInputProps("file")}
						clearable
						placeholder="Choose a file"
					/>
					<div aria-live="polite">{findings === null ? null : <Findings findings={findings} />}</div>
				</SubmitForm>
			)}
		</Section>
	);
}

const ICONS = {
	right: { Icon: IconCheck, color: "teal", word: "Right" },
	wrong: { Icon: IconAlertTriangle, color: "red", word: "Wrong" },
	unknown: { Icon: IconQuestionMark, color: "gray", word: "Unknown" },
} as const;

/** What is wrong first. */
const ORDER = ["wrong", "unknown", "right"] as const;

function Findings({ findings }: Diagnosis) {
	const sorted = findings.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
	return (
		<List spacing="xs" size="sm" center listStyleType="none" aria-label="Findings">
			{sorted.map(({ part, state, code, detail }) => {
				const { Icon, color, word } = ICONS[state];
				return (
					<List.Item
						key={`${part} ${code}`}
						icon={
							<ThemeIcon size={22} radius="xl" variant="light" color={color}>
								<Icon size={14} aria-hidden />
							</ThemeIcon>
						}
					>
						<Text component="span" size="sm" display="block">
							<strong>
								{word}: {part}.
							</strong>{" "}
							{detail}
						</Text>
					</List.Item>
				);
			})}
		</List>
	);
}

function base64(bytes: Uint8Array): string {
	let text = "";
	for (const byte of bytes) text += String.fromCharCode(byte);
	return btoa(text);
}
