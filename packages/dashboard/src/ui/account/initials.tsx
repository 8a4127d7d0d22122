import { initials } from "../../lib/text/names.ts";
import classes from "./initials.module.css";

/** A user's initials in a circle. The name must be next to it or in a label. */
export function Initials({ name, size = 28 }: { name: string; size?: number }) {
	return (
		<span
			className={classes.initials}
			style={{ width: size, height: size, fontSize: Math.round(size * 0.4) }}
			data-initials={initials(name)}
			aria-hidden
		/>
	);
}
