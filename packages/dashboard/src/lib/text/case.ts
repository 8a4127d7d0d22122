export const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What a program says about a value, as a sentence: `must be text` becomes `Must be text.` */
export const sentence = (text: string): string => upperFirst(/[.!?…]$/.test(text) ? text : `${text}.`);

export const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
