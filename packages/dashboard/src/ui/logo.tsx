/** The mark: a post horn. The tube runs from the mouthpiece over its coil to the bell. */
export function Mark({ size = 28 }: { size?: number }) {
	return (
		<svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
			<rect width="32" height="32" rx="8" fill="#4a3bb5" />
			<g fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round">
				<path d="M5.5 11H21" />
				<circle cx="13.5" cy="17.5" r="6.5" />
			</g>
			<path
				d="M19.5 9.7C22.5 9.4 24.7 8 25.9 6C26.2 5.5 27 5.7 27 6.3V15.7C27 16.3 26.2 16.5 25.9 16C24.7 14 22.5 12.6 19.5 12.3Z"
				fill="#fff"
			/>
		</svg>
	);
}
