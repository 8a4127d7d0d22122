import { CloseButton, TextInput, type TextInputProps } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";

interface FindFieldProps extends Omit<TextInputProps, "value" | "onChange"> {
	value: string;
	onChange: (text: string) => void;
}

/** Narrows a long list down to what has a text. Name it with `aria-label`. */
export const FindField = ({ value, onChange, ...props }: FindFieldProps) => (
	<TextInput
		leftSection={<IconSearch size={16} aria-hidden />}
		rightSection={value === "" ? null : <CloseButton aria-label="Clear" size="sm" onClick={() => onChange("")} />}
		value={value}
		onChange={(event) => onChange(event.currentTarget.value)}
		autoComplete="off"
		spellCheck={false}
		{...props}
	/>
);
