import {
	ActionIcon,
	Badge,
	Button,
	type CSSVariablesResolver,
	createTheme,
	Drawer,
	type MantineColorsTuple,
	Menu,
	Modal,
	Notification,
	Paper,
	Tooltip,
} from "@mantine/core";
import { plainHeader } from "../ui/drawer.tsx";

/** The only accent: an inky violet, far from every color of an outcome. */
const horn: MantineColorsTuple = [
	"#f4f2fe",
	"#e6e3fb",
	"#ccc6f5",
	"#b3aaf5",
	"#9a8ef0",
	"#8375ea",
	"#7161e2",
	"#5e4cd0",
	"#4a3bb5",
	"#4436a8",
];

const gray: MantineColorsTuple = [
	"#f8f8fb",
	"#f1f0f6",
	"#e4e2ec",
	"#d8d5e2",
	"#cfccdb",
	"#a6a3b4",
	"#716e80",
	"#5d5a6b",
	"#3d3a4b",
	"#1b1926",
];

const dark: MantineColorsTuple = [
	"#eceaf4",
	"#cbc8d9",
	"#a7a4b8",
	"#86839a",
	"#434055",
	"#2d2b39",
	"#211f2b",
	"#191821",
	"#121118",
	"#0c0b11",
];

/** One red and one green: those of failed and delivered (`ui/vars.css`). */
const red: MantineColorsTuple = [
	"#fdebec",
	"#fad7d9",
	"#f3aeb3",
	"#ff969d",
	"#e9707a",
	"#dc5462",
	"#d94452",
	"#c4303e",
	"#b3202e",
	"#b3202e",
];

const teal: MantineColorsTuple = [
	"#e2f5ec",
	"#c9ecdc",
	"#9fdcc0",
	"#6fd6a6",
	"#4fc08f",
	"#35a878",
	"#2a9d6b",
	"#17804f",
	"#0e6b45",
	"#0e6b45",
];

export const theme = createTheme({
	primaryColor: "horn",
	primaryShade: { light: 8, dark: 9 },
	colors: { horn, gray, dark, red, teal },
	black: "#1b1926",
	fontFamily: '"Inter Variable", ui-sans-serif, system-ui, sans-serif',
	fontFamilyMonospace: "var(--ph-mono)",
	fontSizes: { xs: "0.75rem", sm: "0.84375rem", md: "0.9375rem", lg: "1.0625rem", xl: "1.25rem" },
	headings: {
		fontWeight: "650",
		sizes: {
			h1: { fontSize: "1.75rem", lineHeight: "1.25" },
			h2: { fontSize: "1.4375rem", lineHeight: "1.3" },
			h3: { fontSize: "1.1875rem", lineHeight: "1.35" },
			h4: { fontSize: "1.0625rem", lineHeight: "1.4" },
			h5: { fontSize: "0.9375rem", lineHeight: "1.4" },
		},
	},
	defaultRadius: "md",
	radius: { xs: "3px", sm: "5px", md: "8px", lg: "12px", xl: "20px" },
	cursorType: "pointer",
	respectReducedMotion: true,
	components: {
		ActionIcon: ActionIcon.extend({ defaultProps: { radius: "sm" } }),
		Badge: Badge.extend({ defaultProps: { radius: "sm", variant: "light", tt: "none", fw: 550 } }),
		Button: Button.extend({ styles: { label: { fontWeight: 550 } } }),
		Drawer: Drawer.extend({
			defaultProps: {
				attributes: plainHeader,
				position: "right",
				overlayProps: { backgroundOpacity: 0.35 },
				closeButtonProps: { "aria-label": "Close" },
			},
		}),
		// The placeholder that gets the focus first isn't allowed among a menu's items (ARIA 1.2).
		Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
		Modal: Modal.extend({
			defaultProps: {
				attributes: plainHeader,
				padding: "lg",
				centered: true,
				overlayProps: { backgroundOpacity: 0.4 },
				closeButtonProps: { "aria-label": "Close" },
				styles: { title: { fontWeight: 650, fontSize: "1.0625rem" } },
			},
		}),
		Notification: Notification.extend({ defaultProps: { closeButtonProps: { "aria-label": "Close" } } }),
		Paper: Paper.extend({ defaultProps: { radius: "lg" } }),
		Tooltip: Tooltip.extend({
			defaultProps: {
				withArrow: true,
				openDelay: 250,
				multiline: true,
				maw: 320,
				events: { hover: true, focus: true, touch: true },
			},
		}),
	},
});

/** Mantine's own colors follow the few that the dashboard defines (`ui/vars.css`). */
const named = {
	"--mantine-color-body": "var(--ph-page)",
	"--mantine-color-text": "var(--ph-text)",
	"--mantine-color-dimmed": "var(--ph-dimmed)",
	"--mantine-color-placeholder": "var(--ph-dimmed)",
	"--mantine-color-anchor": "var(--ph-accent)",
	"--mantine-color-error": "var(--ph-failed)",
	"--mantine-color-default-border": "var(--ph-border-strong)",
	"--mantine-color-default": "var(--ph-surface)",
	"--mantine-color-default-hover": "var(--ph-hover)",
	"--mantine-color-default-color": "var(--ph-text)",
};

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: named, dark: named });
