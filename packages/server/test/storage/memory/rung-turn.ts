/** Where a call for projects that have rung continues, if more had rung than were asked for the last time. */
export interface RungTurn {
	/** Behind the project with this number. */
	readonly behind: number;
	readonly overdueFirst: boolean;
}

export const FIRST_TURN: RungTurn = { behind: 0, overdueFirst: false };
