import { Skeleton, Stack, Tabs, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { brandQuery } from "../../api/event-types.ts";
import { SECRET_VARIABLE, SNIPPETS, snippet } from "../../lib/snippets/snippets.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Code } from "../../ui/ident.tsx";
import { ErrorState } from "../../ui/page/states.tsx";

/** A receiver that checks the signature, ready to run, in several languages. */
export function ReceiverCode() {
	const { data: brand, error, refetch } = useQuery(brandQuery);
	if (brand === undefined)
		return error === null ? <Skeleton height={480} radius="md" /> : <ErrorState error={error} onRetry={refetch} />;
	return (
		<Tabs defaultValue={SNIPPETS[0]?.language ?? null} keepMounted={false} variant="pills" radius="sm">
			<Tabs.List aria-label="Language" mb="sm">
				{SNIPPETS.map(({ language, label }) => (
					<Tabs.Tab key={language} value={language}>
						{label}
					</Tabs.Tab>
				))}
			</Tabs.List>
			{SNIPPETS.map(({ language, label, file, start, needs }) => (
				<Tabs.Panel key={language} value={language}>
					<Stack gap="xs">
						<Text size="sm" c="dimmed">
							Save it as <Code>{file}</Code> and start it with the secret in its environment. It rejects requests that
							were altered, are older than 5 minutes, or came from anyone else.
							{needs === undefined ? null : ` It needs ${needs}.`}
						</Text>
						<CodeBlock code={`${SECRET_VARIABLE}="<the signing secret>" ${start}`} label="command" wrap />
						<CodeBlock code={snippet(language, brand)} label={`${label} receiver`} wrap />
					</Stack>
				</Tabs.Panel>
			))}
		</Tabs>
	);
}
