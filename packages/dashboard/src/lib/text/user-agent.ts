const BROWSERS: readonly (readonly [RegExp, string])[] = [
	[/\bEdg(?:e|A|iOS)?\//, "Edge"],
	[/\bOPR\//, "Opera"],
	[/\bFirefox\/|\bFxiOS\//, "Firefox"],
	[/\b(?:Headless)?Chrome\/|\bCriOS\//, "Chrome"],
	[/\bSafari\//, "Safari"],
	[/^curl\//, "curl"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
	[/\biPhone\b/, "iPhone"],
	[/\biPad\b/, "iPad"],
	[/\bAndroid\b/, "Android"],
	[/\bMac OS X\b|\bMacintosh\b/, "macOS"],
	[/\bWindows\b/, "Windows"],
	[/\bCrOS\b/, "ChromeOS"],
	[/\bLinux\b/, "Linux"],
];

/** What a User-Agent header reveals, in words: `Firefox on Linux`. A guess that helps users tell sessions apart. */
export function describeUserAgent(header: string | null): string {
	if (header === null || header.trim() === "") return "Unknown program";
	const browser = BROWSERS.find(([pattern]) => pattern.test(header))?.[1];
	const system = SYSTEMS.find(([pattern]) => pattern.test(header))?.[1];
	if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
	return browser ?? system ?? header.slice(0, 40);
}
