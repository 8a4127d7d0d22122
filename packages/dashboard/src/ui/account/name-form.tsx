import { TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { nameFault } from "../../lib/account/account-rules.ts";
import { typedName } from "../../lib/text/names.ts";
import { SubmitForm } from "../submit-form.tsx";

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
	return (
		<SubmitForm form={form} send={({ name }) => onSend(typedName(name))} action={action} onCancel={onCancel}>
			<TextInput
				label={label}
				description={description}
				autoComplete="off"
				data-autofocus
				{...form.getInputProps("name")}
			/>
		</SubmitForm>
	);
}
