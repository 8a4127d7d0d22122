/** Where a call for due projects continues if more were due than the previous call took. */
export interface DueTurn {
	/** After the project with this number. */
	readonly after: number;
	readonly overdueFirst: boolean;
}

export const FIRST_TURN: DueTurn = { after: 0, overdueFirst: false };
