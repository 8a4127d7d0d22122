import { Alert, Text } from "@mantine/core";
import { IconPlayerPause } from "@tabler/icons-react";
import { useSession } from "../api/session.ts";
import { InlineCode } from "../ui/inline-code.tsx";

const WHAT =
	"This service was restored from a backup. Events are accepted and logged, and will be sent once its operator releases it.";
const HOW = "`posthorn quarantine` lists pending deliveries, and `posthorn release` sends them.";

/** Says why nothing is delivered, above every page: the service was restored from a backup. */
export function QuarantineNotice() {
	const { quarantine, account } = useSession();
	if (!quarantine) return null;
	return (
		<Alert
			role="status"
			mb="lg"
			color="yellow"
			variant="light"
			icon={<IconPlayerPause size={18} aria-hidden />}
			title="Nothing is being delivered"
			styles={{ title: { color: "var(--ph-text)" } }}
		>
			<Text size="sm">
				<InlineCode text={account.operator ? `${WHAT} ${HOW}` : WHAT} />
			</Text>
		</Alert>
	);
}
