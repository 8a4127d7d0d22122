import { CloseButton, TextInput, type TextInputProps } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";

interface FindFieldProps extends Omit<TextInputProps, "value" | "onChange"> {
	/** May follow what is typed late, such as the address bar. */
	value: string;
	onChange: (text: string) => void;
}

/** Narrows a long list down to what has a text. Name it with `aria-label`. */
export function FindField({ value, onChange, ...props }: FindFieldProps) {
	const [text, type] = useTyped(value, onChange);
	return (
		<TextInput
			leftSection={<IconSearch size={16} aria-hidden />}
			rightSection={text === "" ? null : <CloseButton aria-label="Clear" size="sm" onClick={() => type("")} />}
			value={text}
			onChange={(event) => type(event.currentTarget.value)}
			autoComplete="off"
			spellCheck={false}
			{...props}
		/>
	);
}

/**
 * A field's text, which changes as it is typed: if it changed later, the cursor would jump to its end. It follows other
 * changes of `value`.
 */
function useTyped(value: string, onChange: (text: string) => void) {
	const [field, setField] = useState<{ text: string; value: string; awaited: readonly string[] }>({
		text: value,
		value,
		awaited: [],
	});
	if (field.value !== value) {
		const at = field.awaited.indexOf(value);
		setField(
			at === -1 ? { text: value, value, awaited: [] } : { ...field, value, awaited: field.awaited.slice(at + 1) },
		);
	}
	const type = (text: string) => {
		setField((before) => ({ ...before, text, awaited: [...before.awaited, text] }));
		onChange(text);
	};
	return [field.text, type] as const;
}
