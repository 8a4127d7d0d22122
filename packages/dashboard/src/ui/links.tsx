import { Anchor, type AnchorProps, Button, type ButtonProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentProps } from "react";

/** A link to a page of the dashboard. */
export const AnchorLink = createLink((props: AnchorProps & Omit<ComponentProps<"a">, keyof AnchorProps>) => (
	<Anchor {...props} />
));

/** The same with the look of a button. */
export const ButtonLink = createLink((props: ButtonProps & Omit<ComponentProps<"a">, keyof ButtonProps>) => (
	<Button component="a" {...props} />
));
