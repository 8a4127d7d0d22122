interface Draft {
	/** Who typed it. */
	readonly account: string;
	readonly edited: object;
}

/** The edited fields of forms whose session ended, by form. Only in memory. */
const drafts = new Map<string, Draft>();

export const keepDraft = (form: string, draft: Draft) => drafts.set(form, draft);

/** What the account typed into the form, once. */
export function takeDraft(form: string, account: string): object | null {
	const draft = drafts.get(form);
	drafts.delete(form);
	return draft?.account === account ? draft.edited : null;
}

/** Forgets what others have typed, or on signing out everybody. */
export function forgetDrafts(except?: string): void {
	for (const [form, { account }] of drafts) if (account !== except) drafts.delete(form);
}
