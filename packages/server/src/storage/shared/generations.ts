/** Generations of leases as the engine knows them: with the epoch that they were given in, counted by this node from 0. */

/** More than the generations that the lease of a project goes through in an epoch. */
const GENERATIONS = 2 ** 36;
const NO_GENERATION = -1;

export const toGeneration = (epoch: number, stored: number): number => epoch * GENERATIONS + stored;

/** As stored in the database; for a lease of another epoch, a value that is never stored. */
export const storedGeneration = (epoch: number, generation: number): number =>
	Math.floor(generation / GENERATIONS) === epoch ? generation % GENERATIONS : NO_GENERATION;
