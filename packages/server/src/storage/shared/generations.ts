/** Lease generations as the engine sees them: including their epoch, which this node counts from 0. */

/** More than the generations of a project's lease in one epoch. */
const GENERATIONS = 2 ** 36;
const NO_GENERATION = -1;

export const toGeneration = (epoch: number, stored: number): number => epoch * GENERATIONS + stored;

/** As stored in the database; for a lease of another epoch, a value that is never stored. */
export const storedGeneration = (epoch: number, generation: number): number =>
	Math.floor(generation / GENERATIONS) === epoch ? generation % GENERATIONS : NO_GENERATION;
