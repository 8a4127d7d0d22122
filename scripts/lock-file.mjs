// What package-lock.json says of the packages that the service needs at run time. Plain JavaScript for Node 20 or later.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./setup.mjs";

const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));

/**
 * The places of a package's dependencies and theirs, as in package-lock.json: `node_modules/pg`, sorted.
 * @param {Record<string, string>} dependencies name to version
 */
export function placesOf(dependencies) {
	const places = new Set();
	const add = (names, from) => {
		for (const name of names) {
			const place = lookUp(name, from);
			if (places.has(place)) continue;
			places.add(place);
			const { dependencies = {}, optionalDependencies = {} } = packages[place];
			add(Object.keys({ ...dependencies, ...optionalDependencies }), place);
		}
	};
	add(Object.keys(dependencies), "");
	return [...places].sort();
}

/** Finds a package as Node does: next to the one that needs it, then in the folders above. */
function lookUp(name, from) {
	for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
		const place = `${folder}${folder && "/"}node_modules/${name}`;
		if (place in packages) return place;
		if (folder === "")
			throw new Error(`package-lock.json doesn't contain ${name}, which ${from || "the package"} needs.`);
	}
}

/** The npm-shrinkwrap.json of a command: it installs exactly the dependencies that this repository tests. */
export function shrinkwrapOf({ name, version, license, dependencies, bin, engines }) {
	const pinned = placesOf(dependencies).map((place) => {
		const { dev, devOptional, peer, funding, ...entry } = packages[place];
		return [place, entry];
	});
	const own = { name, version, license, dependencies, bin, engines };
	return { name, version, lockfileVersion: 3, requires: true, packages: { "": own, ...Object.fromEntries(pinned) } };
}
