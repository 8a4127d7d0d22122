import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from "@mantine/core";
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

const SCHEMES = [
	{ scheme: "light", label: "Light", Icon: IconSun },
	{ scheme: "dark", label: "Dark", Icon: IconMoon },
	{ scheme: "auto", label: "Same as system", Icon: IconDeviceDesktop },
] as const satisfies readonly { scheme: MantineColorScheme; label: string; Icon: unknown }[];

export function ThemeMenu() {
	const { colorScheme, setColorScheme } = useMantineColorScheme();
	const { Icon: Current } = SCHEMES.find(({ scheme }) => scheme === colorScheme) ?? SCHEMES[2];
	return (
		<Menu position="bottom-end" shadow="md">
			<Menu.Target>
				<ActionIcon variant="subtle" color="gray" size="lg" aria-label="Theme">
					<Current size={18} stroke={1.7} aria-hidden />
				</ActionIcon>
			</Menu.Target>
			<Menu.Dropdown>
				{SCHEMES.map(({ scheme, label, Icon }) => (
					<Menu.Item
						key={scheme}
						onClick={() => setColorScheme(scheme)}
						leftSection={<Icon size={16} aria-hidden />}
						rightSection={scheme === colorScheme ? <IconCheck size={14} aria-label="Chosen" /> : null}
					>
						{label}
					</Menu.Item>
				))}
			</Menu.Dropdown>
		</Menu>
	);
}
