import { VisuallyHidden } from "@mantine/core";
import { shortOrderId } from "../../lib/text/ids.ts";
import { inertText } from "../../lib/text/inert-text.ts";
import { isolated } from "../../lib/text/names.ts";
import classes from "./order-id.module.css";

/** The order that an event names; nothing if it names none. */
export function OrderId({ id: given }: { id: string | null | undefined }) {
	if (given == null) return null;
	const id = inertText(given);
	return (
		<span className={classes.order} title={`Order ${isolated(id)}`}>
			<VisuallyHidden>Order </VisuallyHidden>
			{isolated(shortOrderId(id))}
		</span>
	);
}
