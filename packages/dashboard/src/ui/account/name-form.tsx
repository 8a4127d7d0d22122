import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { nameFault } from "../../lib/account/account-rules.ts";
import { typedName } from "../../lib/text/names.ts";
import { useSubmit } from "../hooks/use-submit.ts";
import { ErrorState } from "../page/states.tsx";

interface NameFormProps {
	label: string;
	description?: string;
	initial?: string;
	/** The verb on the button. */
	action: string;
	onSend: (name: string) => Promise<unknown>;
	onCancel: () => void;
}

/** A form with a name field. */
export function NameForm({ label, description, initial = "", action, onSend, onCancel }: NameFormProps) {
	const form = useForm({ initialValues: { name: initial }, validate: { name: nameFault } });
	const { busy, problem, submit } = useSubmit(form, ({ name }) => onSend(typedName(name)));
	return (
		<form onSubmit={form.onSubmit(submit)} noValidate>
			<Stack>
				<TextInput
					label={label}
					description={description}
					autoComplete="off"
					data-autofocus
					{...form.getInputProps("name")}
				/>
				{problem === null ? null : <ErrorState error={problem} />}
				<Group justify="flex-end" gap="xs">
					<Button variant="default" onClick={onCancel}>
						Cancel
					</Button>
					<Button type="submit" loading={busy}>
						{action}
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
