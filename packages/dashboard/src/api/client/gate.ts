let held: Promise<void> | null = null;

/**
 * Holds requests for a project's data until this settles, so that each datum is only fetched once.
 *
 * @param atMostMs after which requests no longer wait, in milliseconds
 */
export function holdUntil(settled: Promise<unknown>, atMostMs: number): void {
	const patience = Promise.withResolvers<void>();
	const timer = window.setTimeout(patience.resolve, atMostMs);
	const release = () => {
		window.clearTimeout(timer);
		if (held === holding) held = null;
	};
	const holding: Promise<void> = Promise.race([settled, patience.promise]).then(release, release);
	held = holding;
}

/** Resolves once requests needn't wait; null if they needn't. */
export const holding = (): Promise<void> | null => held;
