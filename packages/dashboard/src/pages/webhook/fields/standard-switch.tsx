import { Switch } from "@mantine/core";

interface StandardSwitchProps {
	value: boolean;
	onChange: (value: boolean) => void;
	disabled?: boolean;
}

/** Whether requests also carry the headers of the Standard Webhooks specification. */
export function StandardSwitch({ value, onChange, disabled = false }: StandardSwitchProps) {
	return (
		<Switch
			label="Standard Webhooks headers"
			description="Also sends webhook-id, webhook-timestamp and webhook-signature, so that libraries of the Standard Webhooks specification verify requests with the same secret."
			checked={value}
			disabled={disabled}
			onChange={(event) => onChange(event.currentTarget.checked)}
		/>
	);
}
