import { Autocomplete, Kbd } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { focusPage } from "../../../ui/focus-page.ts";
import { useShortcuts } from "../../../ui/hooks/use-shortcuts.ts";
import { useSingleKeys } from "../../../ui/hooks/use-single-keys.ts";
import type { LogsSearch } from "../search.ts";
import classes from "./log-filters.module.css";
import { type Choice, choicesOf, searchFor } from "./search-choices.ts";

interface SearchFieldProps {
	search: LogsSearch;
	onChange: (search: LogsSearch) => void;
	onOpenAttempt: (attemptId: string) => void;
}

/** Finds deliveries by an id, an order or a customer, and text in events and responses. `/` focuses it. */
export function SearchField({ search, onChange, onOpenAttempt }: SearchFieldProps) {
	const field = useRef<HTMLInputElement>(null);
	const [typed, setTyped] = useState("");
	const hasKeys = useSingleKeys();
	useShortcuts({ "/": () => field.current?.focus() }, { first: true });
	const choices = choicesOf(typed).filter(({ kind }) => kind !== "project");
	const choose = (choice: Choice) => {
		if (choice.kind === "attempt") onOpenAttempt(choice.value);
		else onChange(searchFor(choice, search));
		setTyped("");
		focusPage();
	};
	return (
		<Autocomplete
			ref={field}
			className={classes.find}
			aria-label="Search"
			placeholder="Order, customer, text"
			data={choices.map(({ label }) => label)}
			filter={({ options }) => options}
			selectFirstOptionOnChange
			leftSection={<IconSearch size={16} aria-hidden />}
			rightSection={
				typed === "" && !hasKeys ? null : (
					<Kbd size="xs" visibleFrom="sm">
						{typed === "" ? "/" : "↵"}
					</Kbd>
				)
			}
			rightSectionPointerEvents="none"
			value={typed}
			// A chosen option becomes the field's text, but it has been applied.
			onChange={(text) => setTyped(choices.some(({ label }) => label === text) ? "" : text)}
			onOptionSubmit={(label) => {
				const choice = choices.find((one) => one.label === label);
				if (choice !== undefined) choose(choice);
			}}
			onKeyDown={(event) => {
				if (event.key === "Escape") focusPage();
			}}
			autoComplete="off"
			spellCheck={false}
		/>
	);
}
