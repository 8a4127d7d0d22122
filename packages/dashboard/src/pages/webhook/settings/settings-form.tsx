import type { UseFormReturnType } from "@mantine/form";
import { type ReactNode, useEffect } from "react";
import { Section } from "../../../ui/page/page.tsx";
import { SubmitForm } from "../../../ui/submit-form.tsx";
import type { FormProps } from "./settings-props.ts";

interface SettingsFormProps<Values extends object> extends Pick<FormProps, "readOnly" | "onUnsaved"> {
	title: string;
	form: Pick<UseFormReturnType<Values>, "onSubmit" | "setErrors" | "getValues" | "reset">;
	save: (values: Values) => Promise<unknown>;
	/** Whether there are changes that aren't saved. */
	dirty: boolean;
	children: ReactNode;
}

/** A part of the settings that is saved by itself. */
export function SettingsForm<Values extends object>(props: SettingsFormProps<Values>) {
	const { title, form, save, dirty, readOnly, onUnsaved, children } = props;
	useEffect(() => onUnsaved(dirty), [onUnsaved, dirty]);
	return (
		<Section title={title}>
			<SubmitForm
				form={form}
				send={save}
				action="Save"
				ready={dirty}
				onDiscard={() => form.reset()}
				readOnly={readOnly}
				gap="lg"
			>
				{children}
			</SubmitForm>
		</Section>
	);
}
