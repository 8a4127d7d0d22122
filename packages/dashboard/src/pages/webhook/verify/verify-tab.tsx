import { Stack, Text } from "@mantine/core";
import { ForRole, RoleNote } from "../../../ui/account/for-role.tsx";
import { Code } from "../../../ui/ident.tsx";
import { Section } from "../../../ui/page/page.tsx";
import { ReceiverCode } from "../receiver-code.tsx";
import { SignatureCheck } from "./signature-check.tsx";

interface VerifyTabProps {
	projectId: string;
	webhookId: string;
}

/** How a receiver verifies requests, with code for it, and why it refuses one. */
export function VerifyTab({ projectId, webhookId }: VerifyTabProps) {
	return (
		<Stack gap="lg">
			<Section
				title="Verify requests"
				description="Every request is signed with the webhook's secret. A receiver that checks the signature only accepts events from this service."
			>
				<Stack gap="lg">
					<ReceiverCode />
					<Text size="sm" c="dimmed">
						If the receiver says that the signature is invalid: check that it uses this webhook's current secret, that
						it verifies the body exactly as received, before parsing it, and that its clock is right.
					</Text>
					<Text size="sm" c="dimmed">
						For JavaScript and TypeScript, the package <Code>@posthorn/webhooks</Code> verifies requests and skips
						duplicates.
					</Text>
					<Text size="sm" c="dimmed">
						On the command line, <Code>posthorn verify</Code> finds out why a request's signature doesn't match.
					</Text>
				</Stack>
			</Section>
			<RoleNote needs="developer">find out here why a receiver refuses a signature</RoleNote>
			<ForRole needs="developer">
				<SignatureCheck projectId={projectId} webhookId={webhookId} />
			</ForRole>
		</Stack>
	);
}
