import { Stack, Text } from "@mantine/core";
import { Section } from "../../ui/page.tsx";
import { ReceiverCode } from "./receiver-code.tsx";

/** How a receiver verifies requests, with code in five languages. */
export function VerifyTab() {
	return (
		<Stack gap="lg" maw={780}>
			<Section
				title="Verify requests"
				description="Every request is signed with the webhook's secret. A receiver that checks the signature only accepts events from us."
			>
				<Stack gap="lg">
					<ReceiverCode />
					<Text size="sm" c="dimmed">
						If the receiver says that the signature is invalid: check that it uses this webhook's current secret, that
						it verifies the body exactly as received, before parsing it, and that its clock is right.
					</Text>
				</Stack>
			</Section>
		</Stack>
	);
}
