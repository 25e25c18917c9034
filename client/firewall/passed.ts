/** What rules of an overlay write on a packet that they let in: a priority that no program gives one that arrives. */
export const PASSED = '6d65:7368';
