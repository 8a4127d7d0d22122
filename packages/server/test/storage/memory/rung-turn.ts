/** Where a call for due projects continues if more were due than the previous call took. */
export interface RungTurn {
	/** After the project with this number. */
	readonly behind: number;
	readonly overdueFirst: boolean;
}

export const FIRST_TURN: RungTurn = { behind: 0, overdueFirst: false };
