import { Fragment } from "react";

/** A name from code, such as an event type. Where it doesn't fit, it breaks after a dot rather than within a word. */
export const Breakable = ({ name }: { name: string }) =>
	name.split(/(?<=\.)/).map((part, index) => {
		const key = `${index} ${part}`;
		return (
			<Fragment key={key}>
				{index === 0 ? null : <wbr />}
				{part}
			</Fragment>
		);
	});
