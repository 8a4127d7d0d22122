import { createContext, type MouseEvent, use } from "react";
import { Breakable } from "../../../ui/breakable.tsx";
import classes from "./attempts.module.css";

/** How rows open their attempts, made once for all of them: a link of the router per row would make long lists slow. */
export interface AttemptPlaces {
	readonly hrefOf: (attemptId: string) => string;
	readonly open: (attemptId: string) => void;
	/** Loads an attempt before it is opened. */
	readonly preload: (attemptId: string) => void;
}

export const AttemptPlaces = createContext<AttemptPlaces>({ hrefOf: () => "#", open: () => {}, preload: () => {} });

/** A row's event type, linked to the attempt. */
export function AttemptLink({ id, type }: { id: string; type: string }) {
	const { hrefOf, open, preload } = use(AttemptPlaces);
	const click = (event: MouseEvent) => {
		if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return;
		event.preventDefault();
		open(id);
	};
	return (
		<a
			className={classes.event}
			href={hrefOf(id)}
			title={type}
			tabIndex={-1}
			onClick={click}
			onPointerEnter={() => preload(id)}
		>
			<Breakable name={type} />
		</a>
	);
}
