/** Runs before each test file. */
import fc from "fast-check";

fc.configureGlobal({
	// Otherwise lists have ten elements at most, whatever `maxLength` says, and no property meets a full window or a long text.
	defaultSizeToMaxWhenMaxSpecified: true,
	// `npm run mutate` only asks whether a property fails; a smaller counterexample can take minutes to find.
	endOnFailure: process.env.POSTHORN_TEST_SHRINK === "off",
});
