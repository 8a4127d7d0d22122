/** Runs before each test file. */
import fc from "fast-check";

// Otherwise lists have ten elements at most, whatever `maxLength` says, and no property meets a full window or a long text.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
