/** Priority that rules of an overlay give a packet they let in: no program gives it to one that arrives. */
export const PASSED = '6d65:7368';
